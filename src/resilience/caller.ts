import { isUtf8 } from 'node:buffer';
import pLimit, { type LimitFunction } from 'p-limit';
import { type Clock } from '../kernel/clock.ts';
import { Fault } from '../kernel/fault.ts';
import { type RecordPosition } from '../kernel/position.ts';
import { type AnswerCode, isAccessFailure, judgeScoring } from '../screening/verdict.ts';
import { type CallEnd, type CallOf, type FailureCause, toSessionEnd } from './breaker.ts';
import { type Gate } from './gate.ts';
import { type Exchange, type ScreeningApi } from './ports.ts';

/** What one scoring attempt came to, judged. */
export type Attempted =
  | {
      readonly do: 'done';
      readonly status: number;
      readonly latencyMs: number;
      readonly answer: Readonly<Record<string, unknown>>;
      /** The JSON text that it was parsed from. */
      readonly body: Buffer;
    }
  | NotScored
  | Extract<Exchange, { readonly do: 'no_session' | 'fenced' }>;

/** An attempt that gave no score. */
export interface NotScored {
  /** `already_scored`: 409 where a repeat is to be expected. */
  readonly do: 'refused' | 'already_scored' | 'rate_limited' | 'failed';
  readonly why: AttemptFailure;
  /** What went wrong, by name: `status_503`, `error_msg`; of a silence how it came, `timeout` or `reset`. */
  readonly error: string;
  /** The service may have carried it out. */
  readonly ambiguous: boolean;
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly latencyMs: number | null;
  /** From `Retry-After`; null: the service did not say. */
  readonly afterMs: number | null;
  /** What is to blame if it is not the record. */
  readonly cause: FailureCause;
  /** The beginning of the answer's `error_msg`; null: none. May hold data of the record. */
  readonly errorMessage: string | null;
}

/** Why an attempt failed; also why its record becomes a dead letter, if the record is at fault. */
export type AttemptFailure = AnswerCode | 'timed_out' | 'connection_failed';

/** Whose attempt it is. */
export interface ScoringAttempt extends CallOf {
  readonly record: RecordPosition;
  /** Whether a 409 is to be expected: this, or an earlier owner, may have had the payment scored. */
  readonly mayBeScored: boolean;
}

export interface CallerOptions {
  readonly api: Pick<ScreeningApi, 'score'>;
  /** Requests at once. */
  readonly concurrency: number;
  /** Whether calls may go out now. */
  readonly gate: Pick<Gate, 'room' | 'begin' | 'end'>;
  readonly clock: Clock;
}

/** Answers after which the transaction may be scored all the same: the service, or a proxy, lost the thread while it worked. */
const MAYBE_CARRIED_OUT: ReadonlySet<number> = new Set([500, 502, 504]);
/** Far more than a letter keeps, which masks before it cuts: a cut through a card number would hide it from the mask. */
const ERROR_MESSAGE_CHARACTERS = 4096;

/** Makes scoring attempts, no more than `concurrency` at once and only while the gate lets them out, and judges each. */
export class Caller {
  readonly #options: CallerOptions;
  readonly #limit: LimitFunction;
  /** Made once, not for each record. */
  readonly #send: (body: Buffer, headers: readonly string[] | undefined, isRepeat: boolean) => Promise<Exchange>;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#send = (body, headers, isRepeat) => options.api.score(body, headers, isRepeat);
    this.#limit = pLimit(options.concurrency);
  }

  /** How many attempts may start now. */
  free(nowMs: number): number {
    const { concurrency, activeCount, pendingCount } = this.#limit;
    return Math.min(concurrency - activeCount - pendingCount, this.#options.gate.room(nowMs));
  }

  /**
   * One attempt, judged; rejects only when there was no room. The limit would queue without bound and out of order, so
   * whoever starts records asks `free` first. `headers`: those of the record's own, name and value by turns.
   */
  async score(body: Buffer, attempt: ScoringAttempt, headers?: readonly string[]): Promise<Attempted> {
    const { gate, clock } = this.#options;
    const nowMs = clock.monotonicMs();
    if (this.free(nowMs) <= 0)
      throw new Fault('INTERNAL', 'A scoring attempt was started although there was no room for it.');
    const pass = gate.begin(nowMs);
    const exchange = await this.#limit(this.#send, body, headers, !attempt.isFirst);
    const judged = judge(exchange, attempt.mayBeScored);
    const { key, isFirst, record } = attempt;
    gate.end(pass, {
      key,
      isFirst,
      record,
      end: toCallEnd(judged),
      answer: {
        status: exchange.do === 'answer' ? exchange.status : null,
        afterMs: exchange.do === 'answer' ? exchange.retryAfterMs : null,
        failed: exchange.do === 'failed' ? exchange.why : null,
      },
      delivered: judged.do === 'done' ? 1 : 0,
    });
    return judged;
  }
}

const OK: CallEnd = { do: 'ok' };
const VOID: CallEnd = { do: 'void' };

/** What an attempt says of the service's health. */
function toCallEnd(judged: Attempted): CallEnd {
  switch (judged.do) {
    case 'done':
    case 'already_scored':
      return OK;
    case 'refused':
      return { do: 'refused', cause: judged.cause };
    case 'rate_limited':
    case 'failed':
      return { do: 'failed', cause: judged.cause };
    case 'fenced':
      return VOID;
    case 'no_session':
      return toSessionEnd(judged.why);
  }
}

function judge(exchange: Exchange, mayBeScored: boolean): Attempted {
  if (exchange.do === 'failed') return judgeSilence(exchange);
  if (exchange.do !== 'answer') return exchange;
  const { status, latencyMs } = exchange;
  const answer = readObject(exchange.body);
  const errorMessage = answer === null ? null : readErrorMessage(answer);
  const verdict = judgeScoring({ status, errorMessage, isObject: answer !== null });
  if (verdict.do === 'done') return { do: 'done', status, latencyMs, answer: answer ?? {}, body: exchange.body };
  const isKnown = status === 409 && mayBeScored;
  return {
    do: isKnown ? 'already_scored' : verdict.do === 'open' ? 'failed' : verdict.do,
    why: verdict.why,
    error: verdict.why,
    // A 2xx that we cannot read was a success to the service.
    ambiguous: MAYBE_CARRIED_OUT.has(status) || (status < 300 && errorMessage === null),
    status,
    latencyMs,
    afterMs: exchange.retryAfterMs,
    cause: isAccessFailure(status) || verdict.why === 'unusable_answer' ? 'service_refuses' : 'service_down',
    errorMessage,
  };
}

function judgeSilence({ why, ambiguous }: Extract<Exchange, { readonly do: 'failed' }>): NotScored {
  const none = { error: why, ambiguous, status: null, latencyMs: null, afterMs: null, errorMessage: null };
  // An answer beyond every bound is no answer of this service.
  if (why === 'oversized') return { do: 'failed', why: 'unusable_answer', cause: 'service_refuses', ...none };
  return { do: 'failed', why: why === 'timeout' ? 'timed_out' : 'connection_failed', cause: 'service_down', ...none };
}

/** The JSON object of a body, or null where it is none. RFC 8259 section 8.1 lets a reader pass over a byte order mark. */
function readObject(body: Buffer): Readonly<Record<string, unknown>> | null {
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  const text = hasMark ? body.subarray(3) : body;
  if (!isUtf8(text)) return null;
  try {
    const value: unknown = JSON.parse(text.toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Readonly<Record<string, unknown>>)
      : null;
  } catch {
    return null;
  }
}

/** `error_msg` that says something, of whatever type; absent, null, false and empty say that there was no error. */
function readErrorMessage({ error_msg: message }: Readonly<Record<string, unknown>>): string | null {
  if (message === undefined || message === null || message === false || message === '') return null;
  return typeof message === 'string' ? message.slice(0, ERROR_MESSAGE_CHARACTERS) : '(not a text)';
}
