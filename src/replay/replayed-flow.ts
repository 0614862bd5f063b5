import { type Clock, earliest } from '../kernel/clock.ts';
import {
  type EngineSignals,
  type Flow,
  type Job,
  type Reading,
  type SourceRecord,
  type Step,
} from '../engine/ports.ts';
import { type HoldCause, type SkipRule } from '../kernel/outcome.ts';
import { type TokenBucket } from '../resilience/token-bucket.ts';

export interface ReplayedOptions<Item, Carry> {
  /** Its lanes are trans_ids. */
  readonly flow: Flow<Item, Carry>;
  /** Null: the update of this id at this position is to be sent; else why not. Must not throw. */
  readonly refuses: (transId: string, record: SourceRecord, item: Item) => SkipRule | null;
  /** How a record ends that cannot be read: as its letter, or passed over by this rule. */
  readonly unread: 'letter' | SkipRule;
  /** An update of this id goes to the service now. */
  readonly onSend: (transId: string) => void;
  /** Updates per second, repeats included; null: no limit. */
  readonly bucket: TokenBucket | null;
  readonly clock: Clock;
}

/**
 * A flow of which only some records are sent, at their own rate, and none before `open`. What is read but not asked for
 * ends as a skip.
 */
export class ReplayedFlow<Item, Carry> implements Flow<Item, Carry> {
  readonly name: string;
  readonly #options: ReplayedOptions<Item, Carry>;
  #signals: EngineSignals | null = null;
  #isOpen = false;

  constructor(options: ReplayedOptions<Item, Carry>) {
    this.#options = options;
    this.name = options.flow.name;
  }

  /** From now on records may be sent. */
  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#signals?.changed();
  }

  attach(signals: EngineSignals): void {
    this.#signals = signals;
    this.#options.flow.attach(signals);
  }

  read(record: SourceRecord): Reading<Item> {
    const { flow, refuses, unread } = this.#options;
    const reading = flow.read(record);
    if (reading.do === 'dead_letter' && unread !== 'letter') return { do: 'skip', rule: unread };
    if (reading.do !== 'item') return reading;
    const rule = refuses(flow.lane(reading.item, record), record, reading.item);
    return rule === null ? reading : { do: 'skip', rule };
  }

  lane(item: Item, record: SourceRecord): string {
    return this.#options.flow.lane(item, record);
  }

  mayStart(job: Job<Item, Carry>, nowMs: number): HoldCause | null {
    return this.#options.flow.mayStart(job, nowMs);
  }

  room(nowMs: number): number {
    if (!this.#isOpen) return 0;
    const { flow, bucket } = this.#options;
    return Math.min(flow.room(nowMs), bucket?.room(nowMs) ?? Infinity);
  }

  async run(job: Job<Item, Carry>): Promise<Step<Carry>> {
    const { flow, bucket, onSend, clock } = this.#options;
    bucket?.take(clock.monotonicMs());
    onSend(flow.lane(job.item, job.record));
    return await flow.run(job);
  }

  due(askedMs: number): number | null {
    const { flow, bucket } = this.#options;
    return earliest(flow.due(askedMs), bucket?.dueMs(askedMs) ?? null);
  }

  tick(nowMs: number): void {
    this.#options.flow.tick(nowMs);
  }

  barrier(before: 'stop' | 'join'): void {
    this.#options.flow.barrier(before);
  }

  lettered(record: SourceRecord): void {
    this.#options.flow.lettered?.(record);
  }
}
