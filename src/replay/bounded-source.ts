import {
  type AssignedPartition,
  type Commit,
  type LogRange,
  type Source,
  type SourceEvents,
  type SourceRecord,
  type TopicPartition,
} from '../engine/ports.ts';

/** Offsets of one partition: from the first one to before the last one. */
export interface Span {
  readonly from: bigint;
  /** The first offset that is not read. */
  readonly end: bigint;
}

/** What is read of one topic, by partition. A partition that is not named is not read. */
export type Spans = ReadonlyMap<number, Span>;

export interface BoundedOptions {
  readonly source: Source;
  readonly spans: Spans;
  /** False: commits stay in this process, and the group keeps nothing. */
  readonly keepsCommits: boolean;
}

/**
 * A source of a bounded part of one topic: begins where a span does (or at what the group has committed), hands over
 * nothing from its end on, and stops reading a partition that has come there. Where the log begins beyond the end, all
 * that is left of the span counts as gone.
 */
export class BoundedSource implements Source {
  readonly #options: BoundedOptions;
  readonly #next = new Map<number, bigint>();
  /** Commits that stay here, as the group would keep them. */
  readonly #kept = new Map<number, Commit>();
  /** Partitions of which the group, or this process in its place, has a commit. */
  readonly #committed = new Set<number>();
  #whenCommitted: () => void = () => undefined;
  #handedOver = 0;

  constructor(options: BoundedOptions) {
    this.#options = options;
  }

  /** Whether every partition of the spans has a commit. */
  get isCommitted(): boolean {
    return [...this.#options.spans.keys()].every((partition) => this.#committed.has(partition));
  }

  /** How many records were handed over; what was read twice counts twice. */
  get handedOver(): number {
    return this.#handedOver;
  }

  /** Calls back when `isCommitted` may have become true; one listener. */
  onCommitted(listener: () => void): void {
    this.#whenCommitted = listener;
  }

  async start(events: SourceEvents): Promise<void> {
    await this.#options.source.start({
      barrier: async () => {
        await events.barrier();
      },
      assigned: (partitions) => {
        events.assigned(partitions.map((found) => this.#bound(found)));
        this.#whenCommitted();
      },
      records: (at, from, next, records) => {
        this.#records(events, at, { from, next, records });
      },
      position: (at, highWatermark) => {
        events.position(at, least(highWatermark, this.#endOf(at)));
      },
      outOfRange: (at, log) => {
        const found = within(log, this.#endOf(at));
        // All that is left of the span is gone.
        if (found.low >= this.#endOf(at)) this.#options.source.pause([at]);
        events.outOfRange(at, found);
      },
      lost: (error) => {
        events.lost(error);
      },
    });
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.#options.source.pause(partitions);
  }

  resume(partitions: readonly TopicPartition[]): void {
    const open = partitions.filter((at) => (this.#next.get(at.partition) ?? 0n) < this.#endOf(at));
    if (open.length > 0) this.#options.source.resume(open);
  }

  seek(at: TopicPartition, next: bigint): void {
    this.#next.set(at.partition, next);
    this.#options.source.seek(at, next);
  }

  async commit(commits: readonly Commit[]): Promise<void> {
    if (this.#options.keepsCommits) await this.#options.source.commit(commits);
    else for (const commit of commits) this.#kept.set(commit.partition, commit);
    for (const { partition } of commits) this.#committed.add(partition);
    this.#whenCommitted();
  }

  async stop(): Promise<void> {
    await this.#options.source.stop();
  }

  #records(
    events: SourceEvents,
    at: TopicPartition,
    fetched: { readonly from: bigint; readonly next: bigint; readonly records: readonly SourceRecord[] },
  ): void {
    const end = this.#endOf(at);
    const next = least(fetched.next, end);
    this.#next.set(at.partition, next);
    // Before they are handed over: the engine may seek elsewhere, which opens the partition again.
    if (next >= end) this.#options.source.pause([at]);
    const records = fetched.next <= end ? fetched.records : fetched.records.filter(({ offset }) => offset < end);
    this.#handedOver += records.length;
    events.records(at, fetched.from, next, records);
  }

  #bound(found: AssignedPartition): AssignedPartition {
    const kept = this.#options.keepsCommits
      ? found
      : { ...found, committed: null, metadata: '', ...this.#ofKept(found) };
    if (kept.committed !== null) this.#committed.add(found.partition);
    const span = this.#options.spans.get(found.partition) ?? { from: 0n, end: 0n };
    return { ...kept, committed: kept.committed ?? span.from, ...within(found, span.end) };
  }

  #ofKept({ partition }: TopicPartition): Pick<AssignedPartition, 'committed' | 'metadata'> | undefined {
    const kept = this.#kept.get(partition);
    return kept === undefined ? undefined : { committed: kept.offset, metadata: kept.metadata };
  }

  #endOf({ partition }: TopicPartition): bigint {
    return this.#options.spans.get(partition)?.end ?? 0n;
  }
}

/** What a log holds of what lies before `end`. An end beyond the log (it was cut off) is no place to begin at. */
function within(log: LogRange, end: bigint): LogRange {
  const low = least(log.low, end);
  return { low, high: most(low, least(log.high, end)) };
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function most(one: bigint, other: bigint): bigint {
  return one > other ? one : other;
}
