import { type HoldCause } from '../kernel/outcome.ts';
import { type CallEnd } from './breaker.ts';

/** What the judgement of the service asks of the client that speaks HTTP, and how it reports on itself. */

/** How a request ended without an answer that can be used. */
export type NoAnswer = 'timeout' | 'connect' | 'reset' | 'oversized' | 'protocol';

/** One exchange with the service, session included: a 401 has already led to one new login and one repeat. */
export type Exchange =
  | {
      readonly do: 'answer';
      readonly status: number;
      /** From `Retry-After` (seconds or a date), at most 5 minutes; null: none. */
      readonly retryAfterMs: number | null;
      /** The whole body, at most 1 MiB. */
      readonly body: Buffer;
      /** From the write of the request to the end of the answer. */
      readonly latencyMs: number;
    }
  | {
      readonly do: 'failed';
      readonly why: NoAnswer;
      /** The service may have carried it out. */
      readonly ambiguous: boolean;
    }
  /** No session to be had: not this record's fault. */
  | {
      readonly do: 'no_session';
      readonly why: 'credentials_refused' | 'sessions_displace_each_other' | 'service_down' | 'service_refuses';
      readonly retryMs: number;
    }
  /** The fence was closed: nothing was written. */
  | { readonly do: 'fenced' };

/** The screening service (spec: POST and PATCH /api/v2/transaction). Never rejects. */
export interface ScreeningApi {
  /**
   * `headers`: those of this transaction's own, name and value by turns; they must be fit to be written as they are.
   * `isRepeat`: the same was sent before, so a 401 may be meant for it alone.
   */
  score(body: Buffer, headers?: readonly string[], isRepeat?: boolean): Promise<Exchange>;
  /** `headers`: those of this batch alone, as above. `isRepeat`: some of it was sent before. */
  sync(body: Buffer, headers?: readonly string[], isRepeat?: boolean): Promise<Exchange>;
}

/** The session with the service; times are monotonic. */
export interface SessionReport {
  /** When the token in use was got; null: there is none. */
  readonly sinceMs: number | null;
  /** When it expires, by its own word; null: there is none. */
  readonly expiresAtMs: number | null;
  /** Tokens that were refused within ten minutes of their login, in the last ten minutes; no more than 3 are counted. */
  readonly youngRefused: number;
}

export type BreakerState = 'closed' | 'open' | 'half_open';

export interface BreakerReport {
  readonly state: BreakerState;
  /** Null while closed. */
  readonly why: HoldCause | null;
  /** Monotonic. */
  readonly sinceMs: number;
  /** When the next probe may go out, monotonic; null while closed. */
  readonly probeAtMs: number | null;
}

export interface GuardReport {
  /** `blocking`: nothing becomes a dead letter. */
  readonly state: 'permitting' | 'blocking';
  /** Monotonic. */
  readonly sinceMs: number;
  /** When it permits dead letters again, monotonic; null while it does. */
  readonly untilMs: number | null;
  /** Dead letters that may still follow one another. */
  readonly budget: number;
}

/** What a call said of the service's health, by name. */
export type CallEndName = CallEnd['do'];

/** How a person reads what keeps calls of one operation from going out. */
export interface GateReport {
  /** The flow that calls. */
  readonly scope: string;
  readonly breaker: BreakerReport;
  /** How often the breaker's state has changed. */
  readonly breakerChanges: number;
  readonly guard: GuardReport;
  /** Until when the service has asked for a pause (429 with `Retry-After`), monotonic; null: it has not. */
  readonly pausedUntilMs: number | null;
  /** Calls at once, as found out from the answers; null: not looked for. */
  readonly limit: number | null;
  /** How many calls have ended how. */
  readonly calls: Readonly<Record<CallEndName, number>>;
}
