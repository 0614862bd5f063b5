import { type Clock } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { type RecordPosition } from '../../kernel/position.ts';
import { withTraceparent } from '../../kernel/trace-context.ts';
import { NO_TRACING, type Tracing } from '../../kernel/tracing.ts';
import { type CallAnswer } from '../../resilience/limit.ts';
import { type EndedCall, type Gate } from '../../resilience/gate.ts';
import { type Exchange, type NoAnswer, type ScreeningApi } from '../../resilience/ports.ts';
import { type BatchAnswer, type Failure, readAnswer, toRejection } from './answer.ts';
import { type BatchLimits, type ClosedBatch, type Member, type UpdateEnd } from './batch.ts';
import { toBody } from './body.ts';
import { toAttempt, toCallEnd, toEnd, toLetter } from './outcome.ts';
import {
  type Calls,
  type Culprit,
  givenUp,
  isRefused,
  isServiceAtFault,
  partAccepted,
  partFailed,
  type Search,
  toCulprit,
  UNTRIED,
  wholeBatch,
} from './search.ts';

export interface DeliveryOptions {
  readonly api: Pick<ScreeningApi, 'sync'>;
  /** Whether calls may go out now; asked before a batch. */
  readonly gate: Pick<Gate, 'room' | 'dueMs' | 'begin' | 'end' | 'open' | 'decide' | 'permitsDeadLetter' | 'why'>;
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
  /** From 0 to 1: how much of what may be kept in memory is in use. */
  readonly failingFill: (at: RecordPosition) => number;
  /** A body of so many bytes was refused as too large. */
  readonly onTooLarge: (bytes: number) => void;
  /** A batch, or a part of one, was accepted. */
  readonly onAccepted: () => void;
}

/** A service that accepted an update this lately works. */
const WORKING_MS = 3_000;
const LOST_THREAD: ReadonlySet<number> = new Set([500, 502, 504]);
const RELEASE: UpdateEnd = { do: 'release' };

type Accepted = Extract<BatchAnswer, { do: 'accepted' }>;

/** One PATCH that was answered, or not. */
interface Patched {
  readonly answer: BatchAnswer;
  readonly call: EndedCall;
  /** Its place in the order of all calls. */
  readonly order: number;
}

/**
 * Delivers a batch: one PATCH, or as many as it takes to find what fails in it. What a search is and whom it finds is
 * decided in `search.ts`, what becomes of an update that fails by the attribution behind the gate: a refused one is at
 * fault once another was accepted between its first refusal and its last; any other goes on alone, and is at fault when it has
 * failed often and long enough while others are accepted.
 */
export class Delivery {
  /** Updates that are sent again although the PATCH they were in may have been carried out. */
  maybeSent = 0;
  readonly #options: DeliveryOptions;
  /** Calls, in the order of their beginnings. */
  #begun = 0;
  #newestAccepted = 0;
  /** Ids of updates that have failed alone since one was accepted. */
  readonly #failedAlone = new Set<string>();
  /** Monotonic. */
  #acceptedAtMs = -Infinity;
  /** When `maySend` was asked last. */
  #askedMs = 0;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Whether a batch may be sent now. */
  maySend(): boolean {
    const { clock, gate } = this.#options;
    this.#askedMs = clock.monotonicMs();
    return gate.room(this.#askedMs) > 0;
  }

  /** When `maySend` has to be asked again that said no; null: not before something changes. */
  dueMs(): number | null {
    return this.#options.gate.dueMs(this.#askedMs);
  }

  /** Ends every member of the batch. PATCHes of one batch follow one another. Never rejects while the API does not. */
  async send(batch: ClosedBatch): Promise<void> {
    const { gate } = this.#options;
    let search = wholeBatch(batch.members);
    let failure: Failure | null = null;
    for (;;) {
      search = withoutLost(search);
      const [part] = search.parts;
      if (part === undefined) break;
      if (failure !== null && !batch.mayGoOn()) {
        for (const { members } of search.parts) endAll(members, RELEASE);
        break;
      }
      // The breaker has opened meanwhile: probes find out when the service works again.
      if (failure !== null && gate.why !== null) {
        search = givenUp(search, failure);
        break;
      }
      const patched = await this.#patch(part.members, batch, failure === null);
      const { answer } = patched;
      if (answer.do === 'unsent') {
        const { why, forMs } = answer;
        for (const { members } of search.parts) endAll(members, { do: 'later', why, forMs });
        break;
      }
      if (answer.do === 'accepted') {
        search = partAccepted(search, this.#accept(part.members, answer, patched, search), this.#calls);
      } else {
        failure = answer;
        search = this.#split(search, failure);
      }
      // Once the breaker is open, nobody is at fault.
      if (isServiceAtFault(search)) gate.open(patched.call);
    }
    this.#endUndecided(search);
  }

  #split(search: Search<Member>, failure: Failure): Search<Member> {
    const [part] = search.parts;
    const after = partFailed(search, failure, this.#calls);
    for (const { member } of after.culprits) this.#failedAlone.add(member.transId);
    if (part !== undefined && after.parts.length > search.parts.length)
      this.#options.emit('batch_split', { records: part.members.length, status: failure.status ?? 0 });
    return after;
  }

  get #calls(): Calls {
    return { begun: this.#begun, newestAccepted: this.#newestAccepted, failedSince: this.#failedAlone.size };
  }

  async #patch(part: readonly Member[], batch: ClosedBatch, isWhole: boolean): Promise<Patched> {
    const { gate, clock, api, onTooLarge } = this.#options;
    const body = toBody(part.map((member) => member.fragment));
    const beganMs = clock.monotonicMs();
    const order = (this.#begun += 1);
    const pass = gate.begin(beganMs);
    const untried = isWhole ? part.find(({ state }) => state.retry === null) : undefined;
    const trace = (this.#options.tracing ?? NO_TRACING).batch(part.map((member) => member.trace ?? null));
    const headers = withTraceparent(undefined, trace.context);
    const isRepeat = !isWhole || part.some(({ state }) => state.retry !== null);
    const exchange = await api.sync(body, headers, isRepeat);
    const answer = readAnswer(exchange, new Set(part.map(({ transId }) => transId)));
    const { status, ...failed } = toCallAnswer(exchange);
    trace.end({ status, error: nameOf(answer) });
    this.#emitSent(batch, { records: part.length, bytes: body.length, status: status ?? 0 }, beganMs);
    if (answer.do === 'failed' && mayBeCarriedOut(exchange)) this.maybeSent += part.length;
    const delivered = answer.do === 'accepted' ? part.length - answer.rejected.size : 0;
    const end = toCallEnd(answer, delivered, this.#options.believesRefusals ?? false);
    const call = { ...toCallOf(part, untried, delivered), end, answer: { status, ...failed }, delivered };
    gate.end(pass, call);
    if (status === 413 && part.length > 1) onTooLarge(body.length);
    return { answer, call, order };
  }

  #emitSent(
    { closedBy, openedMs }: ClosedBatch,
    sent: { readonly records: number; readonly bytes: number; readonly status: number },
    beganMs: number,
  ): void {
    const { emit, limits } = this.#options;
    const fill = Math.max(sent.records / limits.maxRecords, sent.bytes / limits.maxBytes);
    emit('batch_sent', { closedBy, ...sent, fill, lingerMs: Math.round(beganMs - openedMs) });
  }

  /** Ends what was accepted; answers what was refused under its id. */
  #accept(
    part: readonly Member[],
    { status, rejected, unknown }: Accepted,
    { call, order }: Patched,
    search: Search<Member>,
  ): readonly Culprit<Member>[] {
    const { clock, emit, onAccepted } = this.#options;
    const culprits = part
      .filter(({ transId }) => rejected.has(transId))
      .map((member) => {
        const failure = toRejection(status, rejected.get(member.transId) ?? null);
        const culprit = toCulprit(member, failure, search.failedAt ?? this.#begun, this.#calls);
        return call.delivered > 0 ? Object.assign(culprit, { othersAccepted: true, isProven: true }) : culprit;
      });
    for (const field of unknown) emit('answer_unrecognised', { operation: 'sync', field });
    for (const member of part) if (!rejected.has(member.transId)) member.end({ do: 'accepted' });
    if (call.delivered > 0) {
      this.#newestAccepted = Math.max(this.#newestAccepted, order);
      this.#failedAlone.clear();
      this.#acceptedAtMs = clock.monotonicMs();
      onAccepted();
    }
    return culprits;
  }

  #endUndecided(search: Search<Member>): void {
    const { believesRefusals = false, gate } = this.#options;
    for (const { members, failure } of search.undecided)
      for (const member of members) member.end(this.#toEnd(member, failure, null, search));
    for (const culprit of search.culprits) {
      const { member, failure } = culprit;
      if (isLost(member)) member.end(RELEASE);
      else if (gate.why !== null) member.end(this.#toEnd(member, failure, null, search));
      else if (believesRefusals && isRefused(failure) && gate.permitsDeadLetter())
        member.end({ do: 'letter', letter: toLetter(failure) });
      else member.end(this.#toEnd(member, failure, culprit, search));
    }
  }

  #toEnd(
    { transId: key, record, state }: Member,
    failure: Failure,
    culprit: Culprit<Member> | null,
    { failedAt }: Search<Member>,
  ): UpdateEnd {
    const { gate, failingFill, clock } = this.#options;
    const isWorking = clock.monotonicMs() - this.#acceptedAtMs <= WORKING_MS;
    const failed = { state, failure, culprit, failedAt, isWorking };
    const decision = gate.decide({ ...toAttempt(failed), key, failingFill: failingFill(record) });
    return toEnd(failed, decision);
  }
}

const NOWHERE: RecordPosition = { topic: '', partition: 0, offset: 0n };

/** Whether the service may have taken it: no answer after it was sent, one that nobody can read, or one of a proxy that lost the thread. */
function mayBeCarriedOut(exchange: Exchange): boolean {
  if (exchange.do === 'failed') return exchange.ambiguous;
  return exchange.do === 'answer' && (exchange.status < 300 || LOST_THREAD.has(exchange.status));
}

/** Whose attempt a PATCH was: of its first untried update, if it was the first of its batch. */
function toCallOf(
  part: readonly Member[],
  untried: Member | undefined,
  delivered: number,
): Pick<EndedCall, 'key' | 'isFirst' | 'record'> {
  const { transId: key = '', record = NOWHERE, state = UNTRIED } = untried ?? part[0] ?? {};
  // What is accepted speaks for the service whenever it was tried first, but for one that was found to fail.
  return { key, record, isFirst: untried !== undefined || (delivered > 0 && state.aloneAt === null) };
}

function toCallAnswer(exchange: Exchange): CallAnswer & { readonly failed: NoAnswer | null } {
  if (exchange.do === 'answer') return { status: exchange.status, afterMs: exchange.retryAfterMs, failed: null };
  return { status: null, afterMs: null, failed: exchange.do === 'failed' ? exchange.why : null };
}

function nameOf(answer: BatchAnswer): string | null {
  return answer.do === 'accepted' ? null : answer.do === 'failed' ? answer.reason : answer.why;
}

function isLost({ tenure }: Member): boolean {
  return tenure.phase === 'lost';
}

function withoutLost(search: Search<Member>): Search<Member> {
  const parts = search.parts.map(({ members, depth }) => ({ members: members.filter((one) => !isLost(one)), depth }));
  for (const { members } of search.parts) endAll(members.filter(isLost), RELEASE);
  return { ...search, parts: parts.filter(({ members }) => members.length > 0) };
}

function endAll(members: readonly Member[], end: UpdateEnd): void {
  for (const member of members) member.end(end);
}
