import { type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { type HoldCause } from '../kernel/outcome.ts';
import { type RecordPosition } from '../kernel/position.ts';
import { type Dispatcher } from './dispatcher.ts';
import { type Partition } from './partition.ts';
import { type PauseReason, type Source } from './ports.ts';
import { isFull, type PressureLimits } from './pressure.ts';

/** Shares that dead letters which wait to be written may take: of a partition's room, and of a flow's. */
const PARTITION_SHARE = 1 / 2;
const FLOW_SHARE = 1 / 4;

/** Why records wait that a pause keeps from being read. Where there is none, the records that are held name their own. */
const BLOCKED_BY: { readonly [R in PauseReason]: HoldCause | null } = {
  partition_full: null,
  flow_full: null,
  dead_letters: null,
  map_full: 'map_full',
  span_full: 'span_full',
  schema: null,
  gap: 'offset_gap',
};

export interface PausesParts {
  readonly source: Pick<Source, 'pause' | 'resume'>;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly limits: PressureLimits;
  /** Owned partitions, and the flows that read them, by topic. */
  readonly partitions: () => Iterable<Partition>;
  readonly dispatchers: ReadonlyMap<string, Dispatcher>;
}

/**
 * When reading of a partition pauses, and goes on. Dead letters that wait to be written have room of their own: they
 * pause the partitions that they come from, and never fill a flow for the others.
 */
export class Pauses {
  readonly #parts: PausesParts;

  constructor(parts: PausesParts) {
    this.#parts = parts;
  }

  set(partition: Partition, reason: PauseReason, on: boolean): void {
    if (on === partition.pauses.has(reason)) return;
    const wasPaused = partition.pauses.size > 0;
    if (on) partition.pauses.add(reason);
    else partition.pauses.delete(reason);
    this.#name(partition, reason, on);
    const isPaused = partition.pauses.size > 0;
    if (isPaused === wasPaused) return;
    if (isPaused) this.#parts.source.pause([partition]);
    else this.#parts.source.resume([partition]);
  }

  /** Forgets the pauses of a partition that is lost. */
  drop(partition: Partition): void {
    for (const reason of partition.pauses) this.#name(partition, reason, false);
  }

  /** Pauses and resumes a partition, and with it the others of its flow, by how much is held. */
  press(partition: Partition): void {
    const { dispatchers, limits } = this.#parts;
    const dispatcher = dispatchers.get(partition.topic);
    if (dispatcher === undefined) return;
    const full = isFull(partition.pauses.has('partition_full'), partition.buffered, limits.partitionRecords);
    this.set(partition, 'partition_full', full);
    this.#pressSpan(partition, limits.partitionSpan);
    this.pressFlow(partition.topic, dispatcher);
    this.set(partition, 'flow_full', dispatcher.full);
    this.#pressDeadLetters(partition, dispatcher);
  }

  pressFlow(topic: string, dispatcher: Dispatcher): void {
    const { flowRecords, flowBytes } = this.#parts.limits;
    const { full: wasFull, writes } = dispatcher;
    const { full: wereFull, deadLetters, deadLetterBytes } = writes;
    dispatcher.full =
      isFull(wasFull, dispatcher.buffered - deadLetters, flowRecords) ||
      isFull(wasFull, dispatcher.bufferedBytes - deadLetterBytes, flowBytes);
    writes.full =
      isFull(wereFull, deadLetters, flowRecords * FLOW_SHARE) ||
      isFull(wereFull, deadLetterBytes, flowBytes * FLOW_SHARE);
    if (dispatcher.full === wasFull && writes.full === wereFull) return;
    for (const partition of this.#parts.partitions()) {
      if (partition.topic !== topic) continue;
      this.set(partition, 'flow_full', dispatcher.full);
      this.#pressDeadLetters(partition, dispatcher);
    }
  }

  /** Says which record it is that has not ended: an operator may have to end it. */
  #pressSpan(partition: Partition, limit: number): void {
    const wasFull = partition.pauses.has('span_full');
    const full = isFull(wasFull, partition.tracker.span, limit);
    if (full === wasFull) return;
    this.set(partition, 'span_full', full);
    const { topic, partition: number, tracker } = partition;
    if (full) this.#parts.emit('span_full', { topic, partition: number, offset: String(tracker.committable) });
  }

  #pressDeadLetters(partition: Partition, dispatcher: Dispatcher): void {
    const limit = this.#parts.limits.partitionRecords * PARTITION_SHARE;
    const full =
      isFull(partition.pauses.has('dead_letters'), partition.deadLetters, limit) ||
      (dispatcher.writes.full && partition.deadLetters > 0);
    this.set(partition, 'dead_letters', full);
  }

  #name(partition: Partition, reason: PauseReason, on: boolean): void {
    const cause = BLOCKED_BY[reason];
    const holds = this.#parts.dispatchers.get(partition.topic)?.holds;
    if (cause === null || holds === undefined) return;
    const nowMs = this.#parts.clock.monotonicMs();
    if (on) holds.enter(cause, nowMs, '', reason === 'gap' ? null : positionOfFirst(partition));
    else holds.leave(cause, nowMs);
  }
}

/** Of the first record that has not ended. */
function positionOfFirst({ topic, partition, tracker }: Partition): RecordPosition {
  return { topic, partition, offset: tracker.committable };
}
