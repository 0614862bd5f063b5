/** What an exchange means for the updates that were sent in it (spec: Sync status update; Errors). */
import { isUtf8 } from 'node:buffer';
import { type HoldCause, type LetterCode } from '../../kernel/outcome.ts';
import { type CallEnd, type FailureCause, toSessionEnd } from '../../resilience/breaker.ts';
import { type Exchange } from '../../resilience/ports.ts';
import { isAccessFailure, judgeSync, type Verdict } from '../../screening/verdict.ts';

/** Where an answer has a shape that nobody has described. */
export type UnknownPart = 'body' | 'top_level' | 'update';

export type BatchAnswer =
  | {
      readonly do: 'accepted';
      readonly status: number;
      /** Ids that the answer refused under their own key, with the service's text; all others are accepted. */
      readonly rejected: ReadonlyMap<string, string | null>;
      readonly unknown: ReadonlySet<UnknownPart>;
    }
  | Failure
  | {
      /** There was no session, or the right to write was gone: it says nothing of the updates. */
      readonly do: 'unsent';
      readonly why: HoldCause;
      readonly forMs: number;
      readonly end: CallEnd;
    };

/** No acceptance. Whether it is one update's doing or the service's, this answer alone does not tell. */
export interface Failure {
  readonly do: 'failed';
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly verdict: Exclude<Verdict['do'], 'done'>;
  /** Of the dead letter, if an update turns out to be at fault. */
  readonly reason: LetterCode;
  /** What is to blame if it is none of the updates. */
  readonly cause: FailureCause;
  /** False: no connection was made, so no update can have to do with it. */
  readonly wasSent: boolean;
  /** From `Retry-After`; null: the service did not say. */
  readonly afterMs: number | null;
  /** The service's text; null: none. */
  readonly serviceError: string | null;
}

/** How long an update waits after the fence was found closed: heartbeats come more often than that. */
const FENCED_MS = 500;
/** And without a session: the breaker, or the session itself, keeps it from being asked for a login too soon. */
const NO_SESSION_MAX_MS = 2_000;
/** Far more than a letter keeps, which masks before it cuts. */
const SERVICE_ERROR_CHARACTERS = 4096;

/** Judges an exchange. `ids`: what was sent in it. Total. */
export function readAnswer(exchange: Exchange, ids: ReadonlySet<string>): BatchAnswer {
  switch (exchange.do) {
    case 'fenced':
      return { do: 'unsent', why: 'kafka', forMs: FENCED_MS, end: { do: 'void' } };
    case 'no_session':
      return {
        do: 'unsent',
        why: exchange.why,
        forMs: Math.min(exchange.retryMs, NO_SESSION_MAX_MS),
        end: toSessionEnd(exchange.why),
      };
    case 'failed':
      return judgeSilence(exchange);
    case 'answer':
      return judge(exchange, ids);
  }
}

/** An update that the service refused under its id. */
export function toRejection(status: number, serviceError: string | null): Failure {
  const reason = 'rejected_by_service';
  const base = { status, verdict: 'refused', reason, cause: 'service_refuses' } as const;
  return { do: 'failed', ...base, wasSent: true, afterMs: null, serviceError };
}

function judge(
  { status, retryAfterMs, body }: Extract<Exchange, { do: 'answer' }>,
  ids: ReadonlySet<string>,
): BatchAnswer {
  const parsed = parseBody(body);
  const answer = isObject(parsed) ? parsed : {};
  // Where an update has the id `error_msg`, the key speaks of that update.
  const errorMessage = ids.has('error_msg') ? null : errorText(answer);
  const verdict = judgeSync({ status, errorMessage });
  if (verdict.do === 'done') return { do: 'accepted', status, ...readUpdates(parsed, ids) };
  return {
    do: 'failed',
    status,
    verdict: verdict.do,
    reason: verdict.why,
    cause: isAccessFailure(status) ? 'service_refuses' : 'service_down',
    wasSent: true,
    afterMs: retryAfterMs,
    serviceError: errorMessage,
  };
}

function judgeSilence({ why, ambiguous }: Extract<Exchange, { do: 'failed' }>): Failure {
  const base = { do: 'failed', status: null, verdict: 'open', afterMs: null, serviceError: null } as const;
  // An answer beyond every bound is no answer of this service.
  if (why === 'oversized') return { ...base, reason: 'unusable_answer', cause: 'service_refuses', wasSent: true };
  const reason = why === 'timeout' ? 'timed_out' : 'connection_failed';
  return { ...base, reason, cause: 'service_down', wasSent: ambiguous };
}

function readUpdates(
  parsed: unknown,
  ids: ReadonlySet<string>,
): Pick<Extract<BatchAnswer, { do: 'accepted' }>, 'rejected' | 'unknown'> {
  const rejected = new Map<string, string | null>();
  const unknown = new Set<UnknownPart>();
  if (!isObject(parsed)) return { rejected, unknown: parsed === NOTHING ? unknown : unknown.add('body') };
  for (const [key, value] of Object.entries(parsed)) {
    if (!ids.has(key)) {
      if (key !== 'error_msg') unknown.add('top_level');
    } else if (!isObject(value)) unknown.add('update');
    else if (isRejection(value)) rejected.set(key, errorText(value));
  }
  return { rejected, unknown };
}

/** `status` under an id is never read: it may be the status that was sent. */
function isRejection(update: Readonly<Record<string, unknown>>): boolean {
  if (errorText(update) !== null || update['ok'] === false) return true;
  const errors = update['errors'];
  if (Array.isArray(errors)) return errors.length > 0;
  return isObject(errors) ? Object.keys(errors).length > 0 : isGiven(errors);
}

/** A non-empty `error_msg`, of whatever type. */
function errorText(answer: Readonly<Record<string, unknown>>): string | null {
  const message = Object.hasOwn(answer, 'error_msg') ? answer['error_msg'] : null;
  if (!isGiven(message)) return null;
  return typeof message === 'string' ? message.slice(0, SERVICE_ERROR_CHARACTERS) : '(not a text)';
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '';
}

/** An answer without a body. */
const NOTHING = Symbol('no body');

/** A byte order mark is passed over, as RFC 8259 section 8.1 lets a reader do: behind it, too, an update may be refused. */
function parseBody(body: Buffer): unknown {
  if (body.length === 0) return NOTHING;
  const hasMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  const text = hasMark ? body.subarray(3) : body;
  if (!isUtf8(text)) return null;
  try {
    return JSON.parse(text.toString('utf8'));
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
