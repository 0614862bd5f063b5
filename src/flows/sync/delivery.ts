import { type Clock, earliest } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { type Letter } from '../../kernel/outcome.ts';
import { withTraceparent } from '../../kernel/trace-context.ts';
import { type CallEnd, NO_TRACING, type Tracing } from '../../kernel/tracing.ts';
import { type Gate } from '../../resilience/gate.ts';
import { type Exchange, type ScreeningApi } from '../../resilience/ports.ts';
import { isAtFault, type SuspicionLimits } from '../../resilience/suspicion.ts';
import { type BatchAnswer, type Later, readAnswer } from './answer.ts';
import { type BatchLimits, type ClosedBatch, type Member, type UpdateEnd } from './batch.ts';
import { partAccepted, partRefused, wholeBatch, type Bisection } from './bisect.ts';
import { toBody } from './body.ts';
import { troubleAfter } from './trouble.ts';

export interface DeliveryOptions {
  readonly api: Pick<ScreeningApi, 'sync'>;
  /** Whether calls may go out now; asked before a batch, not between its parts. */
  readonly gate: Pick<Gate, 'room' | 'roomMs' | 'begin' | 'end' | 'delivered' | 'refused' | 'letter' | 'why'>;
  /** When an update that is always answered with 500 or `error_msg` is refused. */
  readonly suspicion: SuspicionLimits;
  /**
   * True: a refusal is the update's own fault also where nothing else was accepted, for updates that were refused before.
   * Default false.
   */
  readonly believesRefusals?: boolean;
  /** What a full batch is. */
  readonly limits: Pick<BatchLimits, 'maxRecords' | 'maxBytes'>;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
  readonly emit: Emit;
  /** A body of so many bytes was refused as too large. */
  readonly onTooLarge: (bytes: number) => void;
  /** A batch was accepted; `endedHold`: the first after everything was refused alike. */
  readonly onAccepted: (endedHold: boolean) => void;
}

/** How long after an acceptance a refusal is believed to be the record's own fault. */
const TRUST_MS = 60_000;
const REFUSED_WAIT_MS = 30_000;
/** Of a probe: so many culprits before anything is accepted are more likely a service that became well meanwhile. */
const CULPRITS_DOUBTED = 10;
const REFUSED_ALIKE: UpdateEnd = { do: 'later', why: 'service_refuses', afterMs: REFUSED_WAIT_MS, fixed: true };
/** Records behind the floodgate are asked again when it opens; this is for one that is missed. */
const FLOODED: UpdateEnd = { do: 'later', why: 'floodgate', afterMs: 45_000, fixed: true };

const LOST_THREAD: ReadonlySet<number> = new Set([500, 502, 504]);

type Release = Extract<UpdateEnd, { do: 'release' }>;
const RELEASE: Release = { do: 'release' };

type Refused = Extract<BatchAnswer, { do: 'refused' }>;
type Accepted = Extract<BatchAnswer, { do: 'accepted' }>;
/** `restMs`: from the gate. */
type Unanswered = Later & { readonly restMs: number };

/**
 * Delivers a batch: one PATCH, or as many as it takes to find what is refused in it (400, 413, 422). A refusal becomes a
 * letter only while the service accepts others: in the same batch, or in the last minute. Where it refuses everything
 * alike, its own state is the more likely cause, and the updates wait; every 30 s one batch goes out to see, and is
 * searched; the first acceptance ends that.
 */
export class Delivery {
  /** Updates that are sent again although the PATCH they were in may have been carried out. */
  maybeSent = 0;
  readonly #options: DeliveryOptions;
  #acceptedAtMs = -Infinity;
  /** Since everything is refused alike: no batch is sent before this time. */
  #searchAtMs: number | null = null;
  /** When `maySend` was asked last. */
  #askedMs = 0;
  #succeeded = 0;
  #failed = 0;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Whether a batch may be sent now. */
  maySend(): boolean {
    const { clock, gate } = this.#options;
    const nowMs = (this.#askedMs = clock.monotonicMs());
    return (this.#searchAtMs === null || nowMs >= this.#searchAtMs) && gate.room(nowMs) > 0;
  }

  /** When `maySend` has to be asked again that said no, probes of the gate apart; null: not before something changes. */
  dueMs(): number | null {
    const searchAtMs = this.#searchAtMs !== null && this.#askedMs < this.#searchAtMs ? this.#searchAtMs : null;
    return earliest(searchAtMs, this.#options.gate.roomMs(this.#askedMs));
  }

  /** Whether everything was refused alike when something was sent last. */
  get isSearching(): boolean {
    return this.#searchAtMs !== null;
  }

  /** Ends every member of the batch. PATCHes of one batch follow one another. Never rejects while the API does not. */
  async send(batch: ClosedBatch): Promise<void> {
    const { members, mayGoOn } = batch;
    const isProbe = this.#searchAtMs !== null || this.#options.gate.why === 'floodgate';
    if (this.#searchAtMs !== null) this.#searchAtMs = this.#options.clock.monotonicMs() + REFUSED_WAIT_MS;
    const letters = new Map<Member, Letter>();
    let plan = wholeBatch(members);
    for (let calls = 0; ; calls += 1) {
      plan = withoutLost(plan);
      const [part] = plan.parts;
      if (part === undefined) break;
      if (calls > 0 && !mayGoOn()) {
        endAll(plan.parts.flat(), RELEASE);
        break;
      }
      const answer = await this.#patch(part, batch);
      if (answer.do === 'later') {
        // The other parts would meet the same service.
        this.#endLater(answer, part, letters);
        endAll(plan.parts.slice(1).flat(), toEnd(answer));
        break;
      }
      if (answer.do === 'accepted') {
        if (isProbe && plan.accepted === 0 && letters.size >= CULPRITS_DOUBTED) endDoubted(letters);
        this.#accept(part, answer, letters);
        plan = partAccepted(plan);
      } else {
        const [alone, ...others] = part;
        if (alone !== undefined && others.length === 0) letters.set(alone, toLetter(answer));
        else this.#options.emit('batch_split', { records: part.length, status: answer.status });
        plan = partRefused(plan);
      }
    }
    this.#endRefused(letters, plan.accepted > 0);
  }

  async #patch(
    part: readonly Member[],
    { closedBy, openedMs }: ClosedBatch,
  ): Promise<Exclude<BatchAnswer, Later> | Unanswered> {
    const { gate, clock, api, emit, onTooLarge, limits } = this.#options;
    const body = toBody(part.map((member) => member.fragment));
    const nowMs = clock.monotonicMs();
    const pass = gate.begin(nowMs);
    const call = (this.#options.tracing ?? NO_TRACING).batch(part.map(({ trace = null }) => trace));
    const exchange = await api.sync(body, withTraceparent(undefined, call.context));
    const answer = readAnswer(exchange, new Set(part.map((member) => member.transId)));
    call.end(toCallEnd(answer));
    emit('batch_sent', {
      closedBy,
      records: part.length,
      bytes: body.length,
      status: answer.status,
      fill: Math.max(part.length / limits.maxRecords, body.length / limits.maxBytes),
      lingerMs: Math.round(nowMs - openedMs),
    });
    const isUndecided = answer.do === 'later';
    if (isUndecided && mayBeCarriedOut(exchange)) this.maybeSent += part.length;
    if (!isUndecided) this.#succeeded += 1;
    else if (answer.health !== 'void') this.#failed += 1;
    const restMs = gate.end(pass, isUndecided ? answer.health : 'ok', {
      status: answer.status,
      afterMs: isUndecided ? answer.afterMs : null,
      failed: exchange.do === 'failed' ? exchange.why : null,
    });
    if (answer.do === 'accepted') gate.delivered(pass, part.length);
    if (answer.do === 'refused' && answer.reason === 'status_413' && part.length > 1) onTooLarge(body.length);
    return isUndecided ? { ...answer, restMs } : answer;
  }

  #accept(part: readonly Member[], { status, rejected, unknown }: Accepted, letters: Map<Member, Letter>): void {
    const { clock, emit, onAccepted } = this.#options;
    this.#acceptedAtMs = clock.monotonicMs();
    const endedHold = this.#searchAtMs !== null;
    this.#searchAtMs = null;
    for (const field of unknown) emit('answer_unrecognised', { operation: 'sync', field });
    for (const member of part) {
      const text = rejected.get(member.transId);
      if (text === undefined) member.end({ do: 'accepted' });
      else letters.set(member, toLetter({ reason: 'rejected_by_service', status, serviceError: text }));
    }
    onAccepted(endedHold);
  }

  /** Updates whose PATCH was not decided: they travel in smaller batches while others are accepted, and the one at fault is refused. */
  #endLater(answer: Unanswered, part: readonly Member[], letters: Map<Member, Letter>): void {
    const { clock, suspicion } = this.#options;
    const nowMs = clock.monotonicMs();
    const { trouble: kind, status } = answer;
    if (kind === null || !this.#isTrusted(nowMs)) {
      endAll(part, toEnd(answer));
      return;
    }
    const tally = { succeeded: this.#succeeded, failed: this.#failed };
    for (const member of part) {
      const trouble = troubleAfter(member.trouble, { kind, size: part.length, tally, nowMs });
      const isProven = trouble.suspect !== null && isAtFault(trouble.suspect, tally, suspicion, nowMs);
      if (kind !== 'timeout' && isProven)
        letters.set(member, toLetter({ reason: kind, status, serviceError: answer.serviceError }));
      else member.end({ ...toEnd(answer), trouble });
    }
  }

  /** Culprits found while the service accepts others are refused for good; else they wait with the rest. */
  #endRefused(letters: ReadonlyMap<Member, Letter>, someAccepted: boolean): void {
    if (letters.size === 0) return;
    const nowMs = this.#options.clock.monotonicMs();
    const isProven = someAccepted || this.#options.believesRefusals === true;
    const isTrusted = isProven || this.#isTrusted(nowMs);
    if (!isTrusted) this.#searchAtMs = nowMs + REFUSED_WAIT_MS;
    for (const [member, letter] of letters) member.end(isTrusted ? this.#toEndOf(letter, isProven) : REFUSED_ALIKE);
  }

  /** Refusals beside which nothing was accepted count in a row, as those of payments do: a service may refuse everything from one moment on. */
  #toEndOf(letter: Letter, isProven: boolean): UpdateEnd {
    const { gate } = this.#options;
    const may = isProven ? gate.letter() : gate.refused();
    return may === 'letter' ? { do: 'letter', letter } : FLOODED;
  }

  #isTrusted(nowMs: number): boolean {
    return nowMs - this.#acceptedAtMs <= TRUST_MS;
  }
}

/** Whether the service may have taken it: no answer after it was sent, one that nobody can read, or one of a proxy that lost the thread. */
function mayBeCarriedOut(exchange: Exchange): boolean {
  if (exchange.do === 'failed') return exchange.ambiguous;
  return exchange.do === 'answer' && (exchange.status < 300 || LOST_THREAD.has(exchange.status));
}

function toEnd({ why, afterMs, fixed, restMs, error }: Unanswered): Extract<UpdateEnd, { do: 'later' }> {
  return { do: 'later', why, afterMs, fixed, restMs, error };
}

function toCallEnd(answer: BatchAnswer): CallEnd {
  const status = answer.status === 0 ? null : answer.status;
  if (answer.do === 'later') return { status, error: answer.trouble ?? answer.why };
  return { status, error: answer.do === 'refused' ? answer.reason : null };
}

function withoutLost(plan: Bisection<Member>): Bisection<Member> {
  const parts = plan.parts.map((part) => part.filter((member) => member.tenure.phase !== 'lost'));
  for (const member of plan.parts.flat()) if (member.tenure.phase === 'lost') member.end(RELEASE);
  return { ...plan, parts: parts.filter((part) => part.length > 0) };
}

/** They are sent again, and refused for good if that is repeated. */
function endDoubted(letters: Map<Member, Letter>): void {
  for (const member of letters.keys()) member.end(REFUSED_ALIKE);
  letters.clear();
}

function endAll(members: readonly Member[], end: UpdateEnd): void {
  for (const member of members) member.end(end);
}

function toLetter({ reason, status, serviceError }: Pick<Refused, 'reason' | 'status' | 'serviceError'>): Letter {
  const letter = { reason, stage: 'sync', httpStatus: status };
  return serviceError === null ? letter : { ...letter, serviceError };
}
