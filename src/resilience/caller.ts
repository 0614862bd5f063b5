import { isUtf8 } from 'node:buffer';
import pLimit, { type LimitFunction } from 'p-limit';
import { Fault } from '../kernel/fault.ts';
import { judgeScoring, type Verdict } from '../screening/verdict.ts';
import { type Exchange, type ScreeningApi } from './ports.ts';

/** What one scoring attempt came to, judged. */
export type Judged =
  | {
      readonly do: 'done';
      readonly status: number;
      readonly latencyMs: number;
      readonly answer: Readonly<Record<string, unknown>>;
    }
  | (Exclude<Verdict, { readonly do: 'done' }> & {
      /** The service may have carried it out. */
      readonly ambiguous: boolean;
      /** Null: there was no answer. */
      readonly status: number | null;
      readonly latencyMs: number | null;
      /** The beginning of the answer's `error_msg`; null: none. May hold data of the record. */
      readonly errorMessage: string | null;
    })
  | Extract<Exchange, { readonly do: 'no_session' | 'fenced' }>;

export interface CallerOptions {
  readonly api: Pick<ScreeningApi, 'score'>;
  /** Requests at once. */
  readonly concurrency: number;
}

/** Answers after which the transaction may be scored all the same: the service, or a proxy, lost the thread while it worked. */
const MAYBE_CARRIED_OUT: ReadonlySet<number> = new Set([500, 502, 504]);
const ERROR_MESSAGE_CHARACTERS = 512;

/** Makes scoring attempts, no more than `concurrency` at once, and judges each. */
export class Caller {
  readonly #gate: LimitFunction;
  /** Made once, not for each record. */
  readonly #send: (body: Buffer) => Promise<Exchange>;

  constructor({ api, concurrency }: CallerOptions) {
    this.#send = (body) => api.score(body);
    this.#gate = pLimit(concurrency);
  }

  /** How many attempts may start now. */
  free(): number {
    return this.#gate.concurrency - this.#gate.activeCount - this.#gate.pendingCount;
  }

  /**
   * One attempt, judged; rejects only when there was no room. The gate would queue without bound and out of order, so
   * whoever starts records asks `free` first. `afterAmbiguous`: an earlier attempt of this record may have been carried out.
   */
  async score(body: Buffer, afterAmbiguous: boolean): Promise<Judged> {
    if (this.free() <= 0) throw new Fault('INTERNAL', 'A scoring attempt was started although the gate was full.');
    return judge(await this.#gate(this.#send, body), afterAmbiguous);
  }
}

function judge(exchange: Exchange, afterAmbiguous: boolean): Judged {
  if (exchange.do === 'failed') return judgeSilence(exchange);
  if (exchange.do !== 'answer') return exchange;
  const { status, retryAfterMs, latencyMs } = exchange;
  const answer = readObject(exchange.body);
  const errorMessage = answer === null ? null : readErrorMessage(answer);
  const verdict = judgeScoring({ status, retryAfterMs, errorMessage, isObject: answer !== null, afterAmbiguous });
  if (verdict.do === 'done') return { do: 'done', status, latencyMs, answer: answer ?? {} };
  // A 2xx that we cannot read was a success to the service.
  const ambiguous = MAYBE_CARRIED_OUT.has(status) || (status < 300 && errorMessage === null);
  return { ...verdict, ambiguous, status, latencyMs, errorMessage };
}

function judgeSilence({ why, ambiguous }: Extract<Exchange, { readonly do: 'failed' }>): Judged {
  const rest = { why, ambiguous, status: null, latencyMs: null, errorMessage: null };
  // An answer beyond every bound is no answer of this service: like a body that is no object, it says nothing of the record.
  if (why === 'oversized') return { do: 'hold', ...rest };
  return { do: 'retry', afterMs: null, counts: false, ...rest };
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
