import {
  type EngineSignals,
  type Flow,
  type Job,
  type Reading,
  type SourceRecord,
  type Step,
  type ValueDecoder,
} from '../../engine/ports.ts';
import { type Clock, type Draw, earliest } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { DELIVERED, type HoldCause, type Letter } from '../../kernel/outcome.ts';
import { type Tracing } from '../../kernel/tracing.ts';
import { type RecordMapper } from '../../mapping/mapper.ts';
import { retryWait } from '../../resilience/backoff.ts';
import { type Gate } from '../../resilience/gate.ts';
import { type ScreeningApi } from '../../resilience/ports.ts';
import { type SuspicionLimits } from '../../resilience/suspicion.ts';
import { type CardGuard } from '../../screening/card-guard.ts';
import { completeUpdate, type UpdateRules, type WireUpdate } from '../../screening/status-update.ts';
import { type Alignment } from './alignment.ts';
import { Batches, type BatchLimits, type UpdateEnd } from './batch.ts';
import { toFragment } from './body.ts';
import { Delivery } from './delivery.ts';
import { readUpdate, type Update } from './read.ts';
import { NO_TROUBLE, type Trouble } from './trouble.ts';

export interface SyncOptions {
  readonly api: Pick<ScreeningApi, 'sync'>;
  /** Attached to the engine by this flow. */
  readonly gate: Gate;
  /** When an update that is always answered with 500 or `error_msg` is refused. */
  readonly suspicion: SuspicionLimits;
  /** True: a refusal is the update's own fault also where nothing else was accepted. Default false. */
  readonly believesRefusals?: boolean;
  /** Of `PaymentAuthorized`. */
  readonly decoder: ValueDecoder;
  /** Attached to the engine by this flow. */
  readonly alignment: Alignment;
  readonly rules: UpdateRules;
  readonly limits: BatchLimits;
  readonly recordMaxBytes: number;
  /** Null or absent: records have the service's names and values already. */
  readonly mapper?: RecordMapper | null;
  /** Null or absent: nothing is looked for. */
  readonly guard?: CardGuard | null;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
}

/** An update's bytes, made once: a repeat sends the same. */
export interface UpdateCarry {
  readonly fragment: Buffer;
  readonly trouble: Trouble;
}

/** How long an update waits when another of its id, from another partition, is under way. */
const SAME_ID_WAIT_MS = 50;
const SPREAD_MS = 1_000;

/**
 * Sends status updates to the service: rules, then the wait for the transaction's score, then a batch, then a PATCH
 * (spec: Sync status update). In order per trans_id; one step is one update's stay in a batch.
 */
export class SyncFlow implements Flow<Update, UpdateCarry> {
  readonly name = 'sync';
  readonly #options: SyncOptions;
  readonly #batches: Batches;
  readonly #delivery: Delivery;
  /** Lanes that were told to wait because their id is under way elsewhere. */
  readonly #blocked = new Set<string>();
  #signals: EngineSignals | null = null;

  constructor(options: SyncOptions) {
    this.#options = options;
    this.#delivery = new Delivery({
      ...options,
      onTooLarge: (bytes) => {
        this.#batches.tooLarge(bytes);
      },
      onAccepted: (endedHold) => {
        this.#batches.fits();
        if (endedHold) this.#hurry(['service_refuses']);
      },
    });
    this.#batches = new Batches({
      limits: options.limits,
      maySend: () => this.#delivery.maySend(),
      send: async (batch) => {
        await this.#delivery.send(batch);
      },
      onFreed: (transId) => {
        if (this.#blocked.delete(transId)) this.#signals?.wake(transId);
      },
      onChanged: () => {
        this.#signals?.changed();
      },
    });
  }

  /** Updates that were sent again although they may have been taken the first time. */
  get maybeSent(): number {
    return this.#delivery.maybeSent;
  }

  attach(signals: EngineSignals): void {
    this.#signals = signals;
    this.#options.alignment.attach(signals);
    this.#options.gate.attach({
      recovered: (causes) => {
        this.#hurry(causes);
        this.#batches.pump();
      },
      probe: (causes) => {
        signals.hurry(causes, { all: false });
        this.#batches.pump();
      },
    });
  }

  read(record: SourceRecord): Reading<Update> {
    const nowMs = this.#options.clock.monotonicMs();
    return readUpdate(record, this.#options, { nowMs, heldMs: this.#options.alignment.heldMs(nowMs) });
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

  /** A batch that is under way is not held; one that may not be sent holds all its updates. */
  heldBack(): number | null {
    const isHeld = this.#options.gate.why !== null || (this.#batches.isHeldBack && this.#delivery.isSearching);
    return isHeld ? this.#batches.unsent : null;
  }

  async run(job: Job<Update, UpdateCarry>): Promise<Step<UpdateCarry>> {
    const { item, tenure, attempt } = job;
    const ready = job.carry ?? this.#prepare(job);
    if ('letter' in ready) return { do: 'dead_letter', letter: ready.letter };
    if (this.#batches.holds(item.transId))
      return { do: 'wait', forMs: SAME_ID_WAIT_MS, why: 'batch_open', carry: ready };
    const trace = job.span?.context ?? null;
    const sendable = { transId: item.transId, ...ready, tenure, trace };
    const end = await this.#batches.add(sendable, this.#options.clock.monotonicMs());
    return toStep(end, ready, this.#waitMs(end, attempt));
  }

  due(): number | null {
    const sendMs = this.#batches.isHeldBack ? this.#delivery.dueMs() : null;
    return earliest(sendMs, earliest(this.#batches.due(), this.#options.gate.probeMs()));
  }

  tick(nowMs: number): void {
    this.#options.gate.tick(nowMs);
    this.#batches.tick(nowMs);
  }

  barrier(before: 'stop' | 'join'): void {
    if (before === 'stop') this.#batches.flush();
    else this.#batches.release();
  }

  #hurry(causes: readonly HoldCause[]): void {
    this.#signals?.hurry(causes, { all: true, withinMs: SPREAD_MS });
    this.#signals?.changed();
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
    return { fragment: toFragment(item.transId, update.fields), trouble: NO_TROUBLE };
  }

  #tell({ dropped, notes }: Extract<WireUpdate, { do: 'send' }>): void {
    for (const field of dropped) this.#options.emit('update_field_dropped', { field });
    for (const note of notes) this.#options.emit('update_noted', { note });
  }

  #waitMs(end: UpdateEnd, attempt: number): number {
    if (end.do !== 'later') return 0;
    const forMs = end.fixed && end.afterMs !== null ? end.afterMs : retryWait(end.afterMs, attempt, this.#options.draw);
    return Math.max(forMs, end.restMs ?? 0);
  }
}

function toStep(end: UpdateEnd, carry: UpdateCarry, forMs: number): Step<UpdateCarry> {
  switch (end.do) {
    case 'accepted':
      return DELIVERED;
    case 'letter':
      return { do: 'dead_letter', letter: end.letter };
    case 'later':
      return {
        do: 'wait',
        forMs,
        why: end.why,
        carry: { ...carry, trouble: end.trouble ?? carry.trouble },
        error: end.error ?? '',
      };
    case 'release':
      return { do: 'release' };
  }
}
