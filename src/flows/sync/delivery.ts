import { type Clock } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { type Letter } from '../../kernel/outcome.ts';
import { type ScreeningApi } from '../../resilience/ports.ts';
import { readAnswer, type BatchAnswer } from './answer.ts';
import { type ClosedBatch, type Member, type UpdateEnd } from './batch.ts';
import { partAccepted, partRefused, wholeBatch, type Bisection } from './bisect.ts';
import { toBody } from './body.ts';

export interface DeliveryOptions {
  readonly api: Pick<ScreeningApi, 'sync'>;
  readonly clock: Clock;
  readonly emit: Emit;
}

/** How long after an acceptance a refusal is believed to be the record's own fault. */
const TRUST_MS = 60_000;
const REFUSED_WAIT_MS = 30_000;
const REFUSED_ALIKE: UpdateEnd = { do: 'later', why: 'service_refuses', afterMs: REFUSED_WAIT_MS, fixed: true };

type Release = Extract<UpdateEnd, { do: 'release' }>;
const RELEASE: Release = { do: 'release' };

type Refused = Extract<BatchAnswer, { do: 'refused' }>;
type Accepted = Extract<BatchAnswer, { do: 'accepted' }>;

/**
 * Delivers a batch: one PATCH, or as many as it takes to find what is refused in it (400, 413, 422). A refusal becomes a
 * letter only while the service accepts others: in the same batch, or in the last minute. Where it refuses everything
 * alike, its own state is the more likely cause, and the updates wait; every 30 s one refused batch is searched again.
 */
export class Delivery {
  readonly #options: DeliveryOptions;
  #acceptedAtMs = -Infinity;
  /** Since everything is refused alike: no batch is halved before this time. */
  #searchAtMs: number | null = null;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Ends every member of the batch. PATCHes of one batch follow one another. Never rejects while the API does not. */
  async send({ members, closedBy, mayGoOn }: ClosedBatch): Promise<void> {
    const letters = new Map<Member, Letter>();
    let plan = wholeBatch(members);
    for (let calls = 0; ; calls += 1) {
      plan = withoutLost(plan);
      const [part] = plan.parts;
      if (part === undefined) break;
      const answer = calls > 0 && !mayGoOn() ? RELEASE : await this.#patch(part, closedBy);
      const rest = this.#endOfRest(answer, plan, calls);
      if (rest !== null) {
        endAll(plan.parts.flat(), rest);
        break;
      }
      if (answer.do === 'accepted') {
        this.#accept(part, answer);
        plan = partAccepted(plan);
      } else if (answer.do === 'refused') {
        const [alone, ...others] = part;
        if (alone !== undefined && others.length === 0) letters.set(alone, toLetter(answer));
        else this.#options.emit('batch_split', { records: part.length, status: answer.status });
        plan = partRefused(plan);
      }
    }
    this.#endRefused(letters, plan.accepted > 0);
  }

  /** Null, or what all parts that are not decided end with, without further calls. */
  #endOfRest(answer: BatchAnswer | Release, plan: Bisection<Member>, calls: number): UpdateEnd | null {
    // The other parts would meet the same service.
    if (answer.do === 'later' || answer.do === 'release') return answer;
    const isWhole = calls === 0 && (plan.parts[0]?.length ?? 0) > 1;
    return answer.do === 'refused' && isWhole && !this.#maySearch() ? REFUSED_ALIKE : null;
  }

  async #patch(part: readonly Member[], closedBy: ClosedBatch['closedBy']): Promise<BatchAnswer> {
    const body = toBody(part.map((member) => member.fragment));
    const exchange = await this.#options.api.sync(body);
    const answer = readAnswer(exchange, new Set(part.map((member) => member.transId)));
    this.#options.emit('batch_sent', { closedBy, records: part.length, bytes: body.length, status: answer.status });
    return answer;
  }

  #accept(part: readonly Member[], { status, rejected, unknown }: Accepted): void {
    this.#acceptedAtMs = this.#options.clock.monotonicMs();
    this.#searchAtMs = null;
    for (const field of unknown) this.#options.emit('answer_unrecognised', { operation: 'sync', field });
    for (const member of part) {
      const text = rejected.get(member.transId);
      member.end(
        text === undefined
          ? { do: 'accepted' }
          : { do: 'letter', letter: toLetter({ reason: 'rejected_by_service', status, serviceError: text }) },
      );
    }
  }

  /** Culprits found while the service accepts others are refused for good; else they wait with the rest. */
  #endRefused(letters: ReadonlyMap<Member, Letter>, someAccepted: boolean): void {
    if (letters.size === 0) return;
    const nowMs = this.#options.clock.monotonicMs();
    const isTrusted = someAccepted || this.#isTrusted(nowMs);
    if (!isTrusted) this.#searchAtMs = nowMs + REFUSED_WAIT_MS;
    for (const [member, letter] of letters) member.end(isTrusted ? { do: 'letter', letter } : REFUSED_ALIKE);
  }

  /** Whether a refused batch may be halved: always, but once in 30 s while everything is refused alike. */
  #maySearch(): boolean {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#searchAtMs === null || this.#isTrusted(nowMs)) return true;
    if (nowMs < this.#searchAtMs) return false;
    this.#searchAtMs = nowMs + REFUSED_WAIT_MS;
    return true;
  }

  #isTrusted(nowMs: number): boolean {
    return nowMs - this.#acceptedAtMs <= TRUST_MS;
  }
}

function withoutLost(plan: Bisection<Member>): Bisection<Member> {
  const parts = plan.parts.map((part) => part.filter((member) => member.tenure.phase !== 'lost'));
  for (const member of plan.parts.flat()) if (member.tenure.phase === 'lost') member.end(RELEASE);
  return { ...plan, parts: parts.filter((part) => part.length > 0) };
}

function endAll(members: readonly Member[], end: UpdateEnd): void {
  for (const member of members) member.end(end);
}

function toLetter({ reason, status, serviceError }: Pick<Refused, 'reason' | 'status' | 'serviceError'>): Letter {
  const letter = { reason, stage: 'sync', httpStatus: status };
  return serviceError === null ? letter : { ...letter, serviceError };
}
