import {
  type EngineSignals,
  type Flow,
  type Job,
  type Reading,
  type SourceRecord,
  type Step,
  type ValueDecoder,
} from '../../engine/ports.ts';
import { type Clock, earliest } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { DELIVERED, type HoldCause, type Letter } from '../../kernel/outcome.ts';
import { type Tracing } from '../../kernel/tracing.ts';
import { type RecordMapper } from '../../mapping/mapper.ts';
import { type Gate, SERVICE_CAUSES } from '../../resilience/gate.ts';
import { type ScreeningApi } from '../../resilience/ports.ts';
import { type CardGuard } from '../../screening/card-guard.ts';
import { completeUpdate, type UpdateRules, type WireUpdate } from '../../screening/status-update.ts';
import { type Alignment } from './alignment.ts';
import { Batches, type BatchLimits, type UpdateEnd } from './batch.ts';
import { toFragment } from './body.ts';
import { Delivery } from './delivery.ts';
import { readUpdate, type Update } from './read.ts';
import { UNTRIED, type UpdateState } from './search.ts';

export interface SyncOptions {
  readonly api: Pick<ScreeningApi, 'sync'>;
  /** Attached to the engine by this flow. */
  readonly gate: Gate;
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
  readonly emit: Emit;
}

/** An update's bytes, made once: a repeat sends the same. */
export interface UpdateCarry {
  readonly fragment: Buffer;
  readonly state: UpdateState;
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
      onAccepted: () => {
        this.#batches.fits();
      },
      failingFill: ({ topic, partition }) => this.#signals?.failingFill(topic, partition) ?? 0,
    });
    this.#batches = new Batches({
      limits: options.limits,
      maySend: () => this.#delivery.maySend(),
      isProbing: () => options.gate.why !== null,
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
    this.#options.gate.attach((causes) => {
      signals.hurry([...causes, 'batch_open'], SPREAD_MS);
      signals.changed();
      this.#batches.pump();
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

  /** What was found to fail goes alone, in places of its own; all others keep the order of the log. */
  isRepeat({ state }: UpdateCarry): boolean {
    return state.aloneAt !== null;
  }

  repeatRoom(): number {
    return Math.min(this.#batches.room(), this.#batches.loneRoom);
  }

  /** While calls do not go out all updates are held but those under way. */
  heldBack(): number | null {
    return this.#options.gate.why === null ? null : this.#batches.unsent;
  }

  async run(job: Job<Update, UpdateCarry>): Promise<Step<UpdateCarry>> {
    const { item, tenure } = job;
    const ready = job.carry ?? this.#prepare(job);
    if ('letter' in ready) return { do: 'dead_letter', letter: ready.letter };
    if (this.#batches.holds(item.transId))
      return { do: 'wait', forMs: SAME_ID_WAIT_MS, why: 'batch_open', carry: ready };
    const trace = job.span?.context ?? null;
    const sendable = { transId: item.transId, ...ready, tenure, record: job.record, trace };
    const end = await this.#batches.add(sendable, this.#options.clock.monotonicMs());
    return toStep(end, ready);
  }

  due(): number | null {
    const { gate } = this.#options;
    const sendMs = this.#batches.isHeldBack || gate.why !== null ? this.#delivery.dueMs() : null;
    return earliest(sendMs, this.#batches.due());
  }

  tick(nowMs: number): void {
    const { gate } = this.#options;
    gate.tick(nowMs);
    this.#batches.tick(nowMs);
    // A probe is due, and all that could be one waits for its time.
    if (gate.why !== null && this.#batches.unsent === 0 && this.#delivery.maySend())
      this.#signals?.hurry(SERVICE_CAUSES, 0);
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
    return { fragment: toFragment(item.transId, update.fields), state: UNTRIED };
  }

  #tell({ dropped, notes }: Extract<WireUpdate, { do: 'send' }>): void {
    for (const field of dropped) this.#options.emit('update_field_dropped', { field });
    for (const note of notes) this.#options.emit('update_noted', { note });
  }
}

function toStep(end: UpdateEnd, carry: UpdateCarry): Step<UpdateCarry> {
  switch (end.do) {
    case 'accepted':
      return DELIVERED;
    case 'letter':
      return { do: 'dead_letter', letter: end.letter };
    case 'later':
      return {
        do: 'wait',
        forMs: end.forMs,
        why: end.why,
        carry: { ...carry, state: end.state ?? carry.state },
        error: end.error ?? '',
      };
    case 'release':
      return { do: 'release' };
  }
}
