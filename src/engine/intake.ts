import { type Cancel, type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { nameOf } from '../kernel/fault.ts';
import { type HoldCause, type Letter, type Settlement } from '../kernel/outcome.ts';
import { type Dispatcher } from './dispatcher.ts';
import { type Partition } from './partition.ts';
import { type Reading, type SchemaId, type Schemas, type SourceRecord } from './ports.ts';

const FETCH_AGAIN_MS = 1000;

export interface IntakeParts {
  readonly schemas: Schemas;
  readonly clock: Clock;
  readonly emit: Emit;
  /** `topic:partition:offset` of records that become dead letters unread. */
  readonly parked: ReadonlySet<string>;
  /** Stops reading of a partition and puts it back to this offset. */
  readonly suspend: (partition: Partition, at: bigint) => void;
  readonly resume: (partition: Partition) => void;
}

interface Pending {
  why: HoldCause | null;
  cancel: Cancel;
}

/**
 * Turns fetched records into entries of lanes. A record that names an unknown schema stops the reading of its partition
 * there; it is fetched again once the schema has come, so nothing unread is kept.
 */
export class Intake {
  readonly #parts: IntakeParts;
  readonly #pending = new Map<Partition, Pending>();

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /** False: reading stopped before the end of the records. */
  take(partition: Partition, dispatcher: Dispatcher, records: readonly SourceRecord[]): boolean {
    if (partition.pauses.has('schema')) return false;
    let next = partition.tracker.next;
    dispatcher.consumed += records.length;
    for (const record of records) {
      if (record.offset < next) continue;
      next = record.offset + 1n;
      if (this.#wasFinished(partition, record)) continue;
      const reading = this.#read(dispatcher, record);
      if (reading.do === 'needs') {
        this.#await(partition, dispatcher, record.offset, reading.schema);
        return false;
      }
      this.#track(partition, dispatcher, record, reading);
    }
    return true;
  }

  /** Forgets what a lost partition waits for. */
  drop(partition: Partition, dispatcher: Dispatcher): void {
    const pending = this.#pending.get(partition);
    if (pending === undefined) return;
    this.#pending.delete(partition);
    pending.cancel();
    if (pending.why !== null) dispatcher.holds.leave(pending.why, this.#parts.clock.monotonicMs());
  }

  /** Whether an earlier owner had finished the record, as its map says; then it is tracked, and nothing else happens to it. */
  #wasFinished(partition: Partition, { offset, timestampMs }: SourceRecord): boolean {
    const { tracker } = partition;
    if (partition.mapTimestampMs !== null) {
      // Another record at the same offset: the topic was made anew, and the map speaks of the old one.
      if (offset === partition.start && timestampMs !== partition.mapTimestampMs) {
        tracker.restore([]);
        this.#parts.emit('offset_map_ignored', { why: 'mirrored' });
      }
      partition.mapTimestampMs = null;
    }
    if (!tracker.isRestored(offset)) return false;
    tracker.track(offset, timestampMs);
    partition.timestampMs = timestampMs;
    partition.version += 1;
    return true;
  }

  #read(dispatcher: Dispatcher, record: SourceRecord): Reading<unknown> {
    if (this.#parts.parked.size > 0 && this.#parts.parked.has(positionOf(record)))
      return { do: 'dead_letter', letter: { reason: 'parked_by_operator', stage: 'read' } };
    try {
      return dispatcher.flow.read(record);
    } catch (error) {
      const detail = nameOf(error);
      this.#parts.emit('flow_broken', { flow: dispatcher.flow.name, error: detail });
      return { do: 'dead_letter', letter: { reason: 'connector_fault', stage: 'read', detail } };
    }
  }

  #track(
    partition: Partition,
    dispatcher: Dispatcher,
    record: SourceRecord,
    reading: Settlement | { readonly do: 'item'; readonly item: unknown },
  ): void {
    const tracked = partition.tracker.track(record.offset, record.timestampMs);
    if (tracked === null) return;
    partition.timestampMs = record.timestampMs;
    if (reading.do === 'delivered' || reading.do === 'skip') {
      partition.tracker.settle(tracked);
      partition.version += 1;
      dispatcher.count(reading, record.timestampMs);
      return;
    }
    const letter: Letter | null = reading.do === 'dead_letter' ? reading.letter : null;
    const item = reading.do === 'item' ? reading.item : undefined;
    const lane = reading.do === 'item' ? dispatcher.flow.lane(item, record) : (record.key?.toString('latin1') ?? '');
    dispatcher.added(partition.add({ record, item, lane, tracked, letter }));
  }

  #await(partition: Partition, dispatcher: Dispatcher, at: bigint, schema: SchemaId): void {
    const pending: Pending = { why: null, cancel: () => undefined };
    this.#pending.set(partition, pending);
    this.#parts.suspend(partition, at);
    void this.#fetch(partition, dispatcher, schema, pending);
  }

  async #fetch(partition: Partition, dispatcher: Dispatcher, schema: SchemaId, pending: Pending): Promise<void> {
    const { clock, emit, schemas, resume } = this.#parts;
    let forMs = FETCH_AGAIN_MS;
    let why: HoldCause = 'registry';
    try {
      const answer = await schemas.fetch(schema);
      if (this.#pending.get(partition) !== pending) return;
      if (answer.do === 'ready') {
        this.drop(partition, dispatcher);
        resume(partition);
        return;
      }
      ({ forMs, why } = answer);
    } catch (error) {
      emit('flow_broken', { flow: dispatcher.flow.name, error: nameOf(error) });
      if (this.#pending.get(partition) !== pending) return;
    }
    if (pending.why !== why) {
      const nowMs = clock.monotonicMs();
      if (pending.why !== null) dispatcher.holds.leave(pending.why, nowMs);
      dispatcher.holds.enter(why, nowMs);
      pending.why = why;
    }
    pending.cancel = clock.after(forMs, () => {
      void this.#fetch(partition, dispatcher, schema, pending);
    });
  }
}

function positionOf({ topic, partition, offset }: SourceRecord): string {
  return `${topic}:${String(partition)}:${String(offset)}`;
}
