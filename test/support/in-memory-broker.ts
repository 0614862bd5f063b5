import { assignUnits } from '../../src/engine/assignment.ts';
import {
  type AssignedPartition,
  type Commit,
  type OutgoingRecord,
  type RecordHeaders,
  type RecordWriter,
  type SourceRecord,
  type WriteOutcome,
} from '../../src/engine/ports.ts';
import { InMemorySource, nameOfPartition, type Pace } from './in-memory-source.ts';

export interface Appended {
  readonly key?: Buffer | string | null;
  readonly value?: Buffer | string | null;
  readonly timestampMs?: number;
  readonly headers?: RecordHeaders;
}

const atOnce: Pace = async () => {
  await Promise.resolve();
};

export interface Committed {
  readonly offset: bigint;
  readonly metadata: string;
}

interface Log {
  low: bigint;
  next: bigint;
  readonly records: SourceRecord[];
}

interface Group {
  readonly members: Set<InMemorySource>;
  readonly committed: Map<string, Committed>;
  generation: number;
  /** Somebody came or went since the last rebalance. */
  unsettled: boolean;
}

/**
 * A log and its consumer groups, without time: nothing moves but by `step`, `rebalance` and `deliver`.
 *
 * Faithful where an engine may trip: the eager protocol (every member passes its barrier before any joins), commits that
 * know no owner, offsets with gaps, a log start that moves, an answer to a commit that gets lost.
 */
export class InMemoryBroker {
  readonly #topics = new Map<string, Log[]>();
  readonly #groups = new Map<string, Group>();
  #made = 0;
  /** The writer answers `unavailable` while this is false. */
  writable = true;
  /** Called with each commit that is stored. */
  onCommit: (commit: Commit) => void = () => undefined;

  createTopic(name: string, partitions: number): void {
    this.#topics.set(
      name,
      Array.from({ length: partitions }, () => ({ low: 0n, next: 0n, records: [] })),
    );
  }

  /** Appends one record and returns its offset. */
  append(topic: string, partition: number, record: Appended = {}): bigint {
    const log = this.#log(topic, partition);
    const offset = log.next;
    log.records.push({
      topic,
      partition,
      offset,
      timestampMs: record.timestampMs ?? 0,
      key: toBuffer(record.key),
      value: toBuffer(record.value),
      headers: record.headers ?? {},
    });
    log.next += 1n;
    return offset;
  }

  /** Offsets that hold no record: a transaction marker, or what compaction took away. */
  skipOffsets(topic: string, partition: number, count = 1): void {
    this.#log(topic, partition).next += BigInt(count);
  }

  /** Retention: what is below `low` is gone. */
  expire(topic: string, partition: number, low: bigint): void {
    const log = this.#log(topic, partition);
    log.low = low;
    log.records.splice(0, log.records.filter(({ offset }) => offset < low).length);
  }

  /** An unclean election: what lies from `high` on is gone, and its offsets are given again. */
  truncate(topic: string, partition: number, high: bigint): void {
    const log = this.#log(topic, partition);
    log.next = high;
    log.records.splice(log.records.filter(({ offset }) => offset < high).length);
  }

  /** What a partition holds now. */
  records(topic: string, partition?: number): readonly SourceRecord[] {
    if (partition !== undefined) return this.#log(topic, partition).records;
    return (this.#topics.get(topic) ?? []).flatMap((log) => log.records);
  }

  watermarks(topic: string, partition: number): { readonly low: bigint; readonly high: bigint } {
    const log = this.#log(topic, partition);
    return { low: log.low, high: log.next };
  }

  partitions(topic: string): number {
    return this.#topics.get(topic)?.length ?? 0;
  }

  /** A member to be. It joins at the next `rebalance` after its `start`. */
  source(groupId: string, topics: readonly string[], pace: Pace = atOnce): InMemorySource {
    const id = `member-${(this.#made += 1)}`;
    return new InMemorySource({ broker: this, id, groupId, topics, pace });
  }

  writer(): RecordWriter {
    return {
      write: async ({ topic, key, value, headers }: OutgoingRecord): Promise<WriteOutcome> => {
        await Promise.resolve();
        const count = this.partitions(topic);
        if (!this.writable || count === 0) return { do: 'unavailable', error: 'unwritable' };
        const partition = (key ?? Buffer.alloc(0)).reduce((sum, byte) => sum + byte, 0) % count;
        return { do: 'written', partition, offset: this.append(topic, partition, { key, value, headers }) };
      },
    };
  }

  committed(groupId: string, topic: string, partition: number): Committed | null {
    return this.#group(groupId).committed.get(nameOfPartition({ topic, partition })) ?? null;
  }

  /** What anybody with the right to may do; also what another process has committed meanwhile. */
  commitAs(groupId: string, commit: Commit): void {
    const { offset, metadata } = commit;
    this.#group(groupId).committed.set(nameOfPartition(commit), { offset, metadata });
    this.onCommit(commit);
  }

  /** How many times the group has come together. */
  generation(groupId: string): number {
    return this.#group(groupId).generation;
  }

  /** Whether somebody came or went since the last rebalance. */
  isUnsettled(groupId: string): boolean {
    return this.#group(groupId).unsettled;
  }

  /** Every member passes its barrier, then the partitions are assigned anew. */
  async rebalance(groupId: string): Promise<void> {
    const group = this.#group(groupId);
    group.unsettled = false;
    await Promise.all(
      [...group.members].map(async (member) => {
        await member.barrier();
      }),
    );
    group.generation += 1;
    const members = [...group.members];
    const topics = [...new Set(members.flatMap((member) => member.topics))];
    const unitCount = Math.max(0, ...topics.map((topic) => this.partitions(topic)));
    const units = assignUnits(
      unitCount,
      members.map(({ id, claim }) => ({ id, claim })),
    );
    await Promise.all(
      members.map(async (member) => {
        const own = units.get(member.id) ?? [];
        await member.readBack();
        const found = topics.flatMap((topic) =>
          own
            .filter((partition) => partition < this.partitions(topic))
            .map((partition) => this.#found(groupId, topic, partition)),
        );
        member.join({ generation: group.generation, units: own }, found);
      }),
    );
  }

  /** Hands every member what its fetches would bring, at most `max` records a partition. Returns how many records. */
  deliver(max = 500): number {
    let count = 0;
    for (const group of this.#groups.values()) for (const member of group.members) count += member.fetch(max);
    return count;
  }

  /** Rebalances the groups that need it, then delivers. Returns how many records were delivered. */
  async step(max = 500): Promise<number> {
    for (const [groupId, group] of this.#groups) if (group.unsettled) await this.rebalance(groupId);
    return this.deliver(max);
  }

  enter(groupId: string, member: InMemorySource): void {
    const group = this.#group(groupId);
    group.members.add(member);
    group.unsettled = true;
  }

  leave(groupId: string, member: InMemorySource): void {
    const group = this.#group(groupId);
    if (group.members.delete(member)) group.unsettled = true;
  }

  #found(groupId: string, topic: string, partition: number): AssignedPartition {
    const committed = this.committed(groupId, topic, partition);
    return {
      topic,
      partition,
      committed: committed === null || committed.offset < 0n ? null : committed.offset,
      metadata: committed?.metadata ?? '',
      ...this.watermarks(topic, partition),
    };
  }

  #log(topic: string, partition: number): Log {
    const log = this.#topics.get(topic)?.[partition];
    if (log === undefined) throw new Error(`no partition ${partition} of topic ${topic}`);
    return log;
  }

  #group(groupId: string): Group {
    const known = this.#groups.get(groupId);
    if (known !== undefined) return known;
    const made: Group = { members: new Set(), committed: new Map(), generation: 0, unsettled: false };
    this.#groups.set(groupId, made);
    return made;
  }
}

function toBuffer(text: Buffer | string | null | undefined): Buffer | null {
  if (text === null || text === undefined) return null;
  return Buffer.from(text);
}
