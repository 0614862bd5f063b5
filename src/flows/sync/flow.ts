import {
  type EngineSignals,
  type Flow,
  type Job,
  type Reading,
  type SourceRecord,
  type Step,
  type ValueDecoder,
} from '../../engine/ports.ts';
import { type Clock, type Draw } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { DELIVERED, type HoldCause, type Letter } from '../../kernel/outcome.ts';
import { retryWait } from '../../resilience/backoff.ts';
import { type ScreeningApi } from '../../resilience/ports.ts';
import { completeUpdate, type UpdateRules, type WireUpdate } from '../../screening/status-update.ts';
import { type Alignment } from './alignment.ts';
import { Batches, type BatchLimits, type UpdateEnd } from './batch.ts';
import { toFragment } from './body.ts';
import { Delivery } from './delivery.ts';
import { readUpdate, type Update } from './read.ts';

export interface SyncOptions {
  readonly api: Pick<ScreeningApi, 'sync'>;
  /** Of `PaymentAuthorized`. */
  readonly decoder: ValueDecoder;
  /** Attached to the engine by this flow. */
  readonly alignment: Alignment;
  readonly rules: UpdateRules;
  readonly limits: BatchLimits;
  readonly recordMaxBytes: number;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
}

/** An update's bytes, made once: a repeat sends the same. */
export interface UpdateCarry {
  readonly fragment: Buffer;
}

/** How long an update waits when another of its id, from another partition, is under way. */
const SAME_ID_WAIT_MS = 50;

/**
 * Sends status updates to the service: rules, then the wait for the transaction's score, then a batch, then a PATCH
 * (spec: Sync status update). In order per trans_id; one step is one update's stay in a batch.
 */
export class SyncFlow implements Flow<Update, UpdateCarry> {
  readonly name = 'sync';
  readonly #options: SyncOptions;
  readonly #batches: Batches;
  /** Lanes that were told to wait because their id is under way elsewhere. */
  readonly #blocked = new Set<string>();
  #signals: EngineSignals | null = null;

  constructor(options: SyncOptions) {
    this.#options = options;
    const delivery = new Delivery(options);
    this.#batches = new Batches({
      limits: options.limits,
      send: async (batch) => {
        await delivery.send(batch);
      },
      onFreed: (transId) => {
        if (this.#blocked.delete(transId)) this.#signals?.wake(transId);
      },
      onChanged: () => {
        this.#signals?.changed();
      },
    });
  }

  attach(signals: EngineSignals): void {
    this.#signals = signals;
    this.#options.alignment.attach(signals);
  }

  read(record: SourceRecord): Reading<Update> {
    return readUpdate(record, this.#options, this.#options.clock.monotonicMs());
  }

  lane(item: Update): string {
    return item.transId;
  }

  mayStart({ item, record }: Job<Update, UpdateCarry>, nowMs: number): HoldCause | null {
    if (!this.#options.alignment.mayStart(item, record, nowMs)) return 'not_scored_yet';
    if (!this.#batches.holds(item.transId)) return null;
    this.#blocked.add(item.transId);
    return 'batch_open';
  }

  room(): number {
    return this.#batches.room();
  }

  async run(job: Job<Update, UpdateCarry>): Promise<Step<UpdateCarry>> {
    const { item, tenure, attempt } = job;
    const ready = job.carry ?? this.#prepare(job);
    if ('letter' in ready) return { do: 'dead_letter', letter: ready.letter };
    if (this.#batches.holds(item.transId))
      return { do: 'wait', forMs: SAME_ID_WAIT_MS, why: 'batch_open', carry: ready };
    const { fragment } = ready;
    const end = await this.#batches.add({ transId: item.transId, fragment, tenure }, this.#options.clock.monotonicMs());
    return toStep(end, ready, this.#waitMs(end, attempt));
  }

  due(): number | null {
    return this.#batches.due();
  }

  tick(nowMs: number): void {
    this.#batches.tick(nowMs);
  }

  barrier(before: 'stop' | 'join'): void {
    if (before === 'stop') this.#batches.flush();
    else this.#batches.release();
  }

  /** The bytes of an update, with what is known of its scoring call; or its end. */
  #prepare({ item, record }: Job<Update, UpdateCarry>): UpdateCarry | { readonly letter: Letter } {
    const { alignment, rules, clock, emit } = this.#options;
    const fact = alignment.fact(item.transId);
    if (fact?.do === 'refused') return { letter: { reason: 'transaction_not_scored', stage: 'sync' } };
    const update = completeUpdate(item.draft, rules, fact);
    if (update.do === 'refuse') return update;
    if (alignment.isBlind(item, record))
      emit('update_before_score', { waitedMs: clock.monotonicMs() - item.arrivedMs });
    this.#tell(update);
    return { fragment: toFragment(item.transId, update.fields) };
  }

  #tell({ dropped, notes }: Extract<WireUpdate, { do: 'send' }>): void {
    for (const field of dropped) this.#options.emit('update_field_dropped', { field });
    for (const note of notes) this.#options.emit('update_noted', { note });
  }

  #waitMs(end: UpdateEnd, attempt: number): number {
    if (end.do !== 'later') return 0;
    if (end.fixed && end.afterMs !== null) return end.afterMs;
    return retryWait(end.afterMs, attempt, this.#options.draw);
  }
}

function toStep(end: UpdateEnd, carry: UpdateCarry, forMs: number): Step<UpdateCarry> {
  switch (end.do) {
    case 'accepted':
      return DELIVERED;
    case 'letter':
      return { do: 'dead_letter', letter: end.letter };
    case 'later':
      return { do: 'wait', forMs, why: end.why, carry };
    case 'release':
      return { do: 'release' };
  }
}
