import { type Clock } from '../../kernel/clock.ts';
import { type Answer, errorAnswer } from './answer.ts';
import { type BrokenAnswerName } from './broken-answers.ts';
import { type FaultPlan, type Strike, type Subjects } from './fault-plan.ts';
import { type PerIdForm } from './faults.ts';
import { idOf, type JsonObject, parseObject } from './json.ts';
import { type Ledger } from './ledger.ts';
import { type Operation } from './operation.ts';
import { type Reviews } from './reviews.ts';
import { judge } from './rules.ts';
import { scoredBody } from './scored-answer.ts';
import { type Sessions, type TokenOddity } from './sessions.ts';
import { type SettingsStore } from './settings.ts';
import { struckAnswer } from './struck.ts';
import { checkUpdate, type StatusUpdate } from './update-rules.ts';
import { validate } from './validation.ts';

export interface ApiParts {
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly faults: FaultPlan;
  readonly ledger: Ledger;
  readonly reviews: Reviews;
  readonly settings: SettingsStore;
}

/** One request as the operations need it. */
export interface ApiRequest {
  readonly authorization: string | undefined;
  readonly body: Buffer;
  readonly strike: Strike;
}

const ODDITIES: Readonly<Partial<Record<BrokenAnswerName, TokenOddity>>> = {
  token_past: 'past',
  token_opaque: 'opaque',
  token_dead: 'dead',
};

/** The three operations of the spec's Endpoints. Pure of HTTP: a request's parts in, an answer out. */
export class ServiceApi {
  readonly #parts: ApiParts;

  constructor(parts: ApiParts) {
    this.#parts = parts;
  }

  login({ authorization, strike }: ApiRequest): Answer {
    const { faults, sessions, ledger, clock } = this.#parts;
    const forced = faults.get().loginStatus;
    if (!strike.carriedOut || forced !== null) {
      ledger.count('refusedLogins');
      return strike.carriedOut
        ? errorAnswer(forced ?? 500, 'the sandbox was told to refuse logins')
        : struckAnswer(strike, clock.nowMs());
    }
    const sessionToken = sessions.login(authorization, ODDITIES[strike.answer ?? 'hang'] ?? null);
    ledger.count(sessionToken === null ? 'refusedLogins' : 'logins');
    if (sessionToken === null) {
      return errorAnswer(401, 'wrong user or password', {
        'www-authenticate': 'Basic realm="sandbox", charset="UTF-8"',
      });
    }
    return { status: 200, body: JSON.stringify({ sessionToken }) };
  }

  score({ authorization, body, strike }: ApiRequest): Answer {
    const { sessions, ledger, reviews, faults, settings, clock } = this.#parts;
    if (!sessions.holds(authorization)) return this.#unauthorised();
    const transaction = parseObject(body);
    if (transaction === null) return this.#refused('the body must be a JSON object');
    const transId = idOf(transaction['trans_id']);
    if (transId === null) return this.#refused('trans_id must be a string that is not empty, or a whole number');
    const open = ledger.scoreStarted(transId, idOf(transaction['cust_id']), orderSequenceOf(transaction));
    if (!strike.carriedOut) return { ...this.#struck(strike, authorization, clock.nowMs()), open };
    if (faults.get().conflictOnRepeat && (ledger.transaction(transId)?.scored ?? 0) > 0) {
      return { ...errorAnswer(409, 'this trans_id was scored before'), open };
    }
    const judgement = judge(transaction, transId);
    const entry = ledger.scored(open, judgement.decision, isByCard(transaction));
    reviews.scored(entry);
    const errors = validate(transaction, settings.datapoints);
    const { frgTransId } = entry;
    return { status: 200, body: scoredBody({ frgTransId, transaction, judgement, errors }, settings.get()), open };
  }

  sync({ authorization, body, strike }: ApiRequest): Answer {
    const { sessions, ledger, clock, faults } = this.#parts;
    if (!sessions.holds(authorization)) return this.#unauthorised();
    const updates = parseObject(body);
    if (updates === null) return this.#refused('the body must be a JSON object');
    const transIds = Object.keys(updates);
    const open = ledger.syncStarted(transIds);
    const close = (answer: Answer): Answer => {
      const isSilent = !strike.carriedOut && answer.status < 300;
      ledger.batch(clock.nowMs(), transIds.length, body.length, isSilent ? 0 : answer.status);
      return { ...answer, open };
    };
    if (!strike.carriedOut) return close(this.#struck(strike, authorization, clock.nowMs()));
    if (faults.rejects(transIds)) return close(errorAnswer(400, 'the sandbox was told to reject one of these updates'));
    const checked = this.#check(transIds, updates);
    if (typeof checked === 'string') return close(errorAnswer(400, checked));
    ledger.updated(open, checked);
    return close(this.#accepted(transIds));
  }

  /** Of whom a request speaks, for faults that are for some only. */
  subjectsOf(operation: Operation, body: Buffer): Subjects {
    const content = operation === 'login' ? null : parseObject(body);
    if (content === null) return { transIds: [], customers: [] };
    if (operation === 'score') {
      return { transIds: listOf(idOf(content['trans_id'])), customers: listOf(idOf(content['cust_id'])) };
    }
    const transIds = Object.keys(content);
    const { ledger } = this.#parts;
    return { transIds, customers: transIds.flatMap((transId) => listOf(ledger.transaction(transId)?.custId ?? null)) };
  }

  /** The updates in the order of their ids, null where one is not to be kept; or what is wrong with the first that is wrong. */
  #check(transIds: readonly string[], updates: JsonObject): readonly (StatusUpdate | null)[] | string {
    const { settings, ledger, faults } = this.#parts;
    const { chargebackProtection, declineReasonRequired } = settings.get();
    const accepted: (StatusUpdate | null)[] = [];
    for (const transId of transIds) {
      const byCard = ledger.isByCard(transId);
      const update = checkUpdate(updates[transId], {
        reasonCodes: settings.reasonCodes,
        acqRefId: chargebackProtection && byCard,
        declineReason: declineReasonRequired === 'always' || (declineReasonRequired === 'card' && byCard),
      });
      if (typeof update === 'string') return update;
      accepted.push(faults.rejectsAlone(transId) ? null : update);
    }
    return accepted;
  }

  #accepted(transIds: readonly string[]): Answer {
    const { faults } = this.#parts;
    const { patchPerId } = faults.get();
    if (patchPerId === null) return { status: 200, body: '{}' };
    const { form, code = 200 } = patchPerId;
    const of = (transId: string): object => (faults.rejectsAlone(transId) ? PER_ID[form] : { ok: true });
    // Not an object literal: an id may be `__proto__`.
    const parts = transIds.map((transId) => `${JSON.stringify(transId)}:${JSON.stringify(of(transId))}`);
    return { status: code, body: `{${parts.join(',')}}` };
  }

  #struck(strike: Strike, authorization: string | undefined, nowMs: number): Answer {
    if (strike.answer === 'token_expired') this.#parts.sessions.end(authorization);
    return struckAnswer(strike, nowMs);
  }

  #unauthorised(): Answer {
    this.#parts.ledger.count('unauthorised');
    return errorAnswer(401, 'missing or invalid session token', { 'www-authenticate': 'SessionToken' });
  }

  #refused(message: string): Answer {
    this.#parts.ledger.count('refusedRequests');
    return errorAnswer(400, message);
  }
}

const PER_ID: Readonly<Record<PerIdForm, object>> = {
  error_msg: { error_msg: 'the sandbox was told to reject this update' },
  ok_false: { ok: false },
  errors: { errors: [{ datapoint: 'status', msg: 'the sandbox was told to reject this update' }] },
};

function listOf(id: string | null): readonly string[] {
  return id === null ? [] : [id];
}

function isByCard(transaction: JsonObject): boolean {
  if (transaction['pmt_method'] === 'credit_card') return true;
  return ['cc_num_hash', 'cc_bin', 'cc_last_4_dig'].some((name) => typeof transaction[name] === 'string');
}

/** The number after the last dash of `order_id`, so that the order of a customer's payments can be checked. */
function orderSequenceOf(transaction: JsonObject): number | null {
  const orderId = transaction['order_id'];
  if (typeof orderId !== 'string') return null;
  const digits = orderId.slice(orderId.lastIndexOf('-') + 1);
  return /^\d{1,15}$/u.test(digits) ? Number(digits) : null;
}
