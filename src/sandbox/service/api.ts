import { type Clock } from '../../kernel/clock.ts';
import { shareOf } from './chance.ts';
import { type FaultPlan, type Strike } from './faults.ts';
import { type JsonObject, parseObject } from './json.ts';
import { type Ledger, type OpenRequest } from './ledger.ts';
import { type Reviews } from './reviews.ts';
import { judge } from './rules.ts';
import { type Sessions } from './sessions.ts';
import { checkUpdate, type StatusUpdate } from './update-rules.ts';
import { validate } from './validation.ts';

/** What goes back; always JSON. */
export interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** To be told to the ledger when the answer leaves. */
  readonly open?: OpenRequest;
}

export interface ApiParts {
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly faults: FaultPlan;
  readonly ledger: Ledger;
  readonly reviews: Reviews;
}

/** One request as the operations need it. */
export interface ApiRequest {
  readonly authorization: string | undefined;
  readonly body: Buffer;
  readonly strike: Strike;
}

/** An error in the service's form (spec: Errors): `error_msg` names a rule, never the sender's data. */
export function errorAnswer(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, body: JSON.stringify({ error_msg: message }), headers };
}

/** The three operations of the spec's Endpoints. Pure of HTTP: a request's parts in, an answer out. */
export class ServiceApi {
  readonly #parts: ApiParts;

  constructor(parts: ApiParts) {
    this.#parts = parts;
  }

  login({ authorization, strike }: ApiRequest): Answer {
    const { faults, sessions, ledger } = this.#parts;
    const forced = faults.get().loginStatus;
    if (strike.status !== null || forced !== null) {
      ledger.count('refusedLogins');
      return strike.status === null
        ? errorAnswer(forced ?? 500, 'the sandbox was told to refuse logins')
        : struck(strike);
    }
    const sessionToken = sessions.login(authorization);
    ledger.count(sessionToken === null ? 'refusedLogins' : 'logins');
    if (sessionToken === null) return errorAnswer(401, 'wrong user or password');
    return { status: 200, body: JSON.stringify({ sessionToken }) };
  }

  score({ authorization, body, strike }: ApiRequest): Answer {
    const { sessions, ledger, reviews } = this.#parts;
    if (!sessions.holds(authorization)) return this.#unauthorised();
    const transaction = parseObject(body);
    if (transaction === null) return this.#refused('the body must be a JSON object');
    const transId = idOf(transaction['trans_id']);
    if (transId === null) return this.#refused('trans_id must be a string that is not empty');
    const open = ledger.scoreStarted(transId, idOf(transaction['cust_id']), orderSequenceOf(transaction));
    if (strike.status !== null) return { ...struck(strike), open };
    const { decision, score, isLiable, liabilityReason, signals } = judge(transaction, transId);
    const entry = ledger.scored(open, decision);
    reviews.scored(entry);
    const errors = validate(transaction);
    const answer = {
      frg_trans_id: entry.frgTransId,
      fraugster_approved: decision,
      score,
      is_liable: isLiable,
      liability_reason: liabilityReason,
      validation: errors.length === 0 ? { ok: true } : { ok: false, errors },
      evidence: { signals },
      frg_device_id: deviceOf(transaction),
    };
    return { status: 200, body: JSON.stringify(answer), open };
  }

  sync({ authorization, body, strike }: ApiRequest): Answer {
    const { sessions, ledger, clock, faults } = this.#parts;
    if (!sessions.holds(authorization)) return this.#unauthorised();
    const updates = parseObject(body);
    if (updates === null) return this.#refused('the body must be a JSON object');
    const transIds = Object.keys(updates);
    const open = ledger.syncStarted(transIds);
    const close = (answer: Answer): Answer => {
      ledger.batch(clock.nowMs(), transIds.length, body.length, answer.status);
      return { ...answer, open };
    };
    if (strike.status !== null) return close(struck(strike));
    if (faults.rejects(transIds)) return close(errorAnswer(400, 'the sandbox was told to reject one of these updates'));
    const accepted: StatusUpdate[] = [];
    for (const transId of transIds) {
      const update = checkUpdate(updates[transId]);
      if (typeof update === 'string') return close(errorAnswer(400, update));
      accepted.push(update);
    }
    ledger.updated(open, accepted);
    return close({ status: 200, body: '{}' });
  }

  #unauthorised(): Answer {
    this.#parts.ledger.count('unauthorised');
    return errorAnswer(401, 'missing or invalid session token');
  }

  #refused(message: string): Answer {
    this.#parts.ledger.count('refusedRequests');
    return errorAnswer(400, message);
  }
}

function struck(strike: Strike): Answer {
  const { code = 500, retryAfter } = strike.status ?? {};
  return errorAnswer(code, 'a fault of the sandbox', retryAfter === undefined ? {} : { 'retry-after': retryAfter });
}

/** An id as text; a whole number counts as its digits, since the same id is an object's key in a status update. */
function idOf(value: unknown): string | null {
  if (typeof value === 'string' && value !== '') return value;
  return Number.isSafeInteger(value) ? String(value) : null;
}

/** The number after the last dash of `order_id`, so that the order of a customer's payments can be checked. */
function orderSequenceOf(transaction: JsonObject): number | null {
  const orderId = transaction['order_id'];
  if (typeof orderId !== 'string') return null;
  const digits = orderId.slice(orderId.lastIndexOf('-') + 1);
  return /^\d{1,15}$/u.test(digits) ? Number(digits) : null;
}

/** One device for one `device_id_mapped`, else for one address; empty when there is neither. */
function deviceOf(transaction: JsonObject): string {
  const mark = idOf(transaction['device_id_mapped']) ?? idOf(transaction['ip']);
  return mark === null
    ? ''
    : `dev-${Math.floor(shareOf(mark, 7) * 2 ** 32)
        .toString(16)
        .padStart(8, '0')}`;
}
