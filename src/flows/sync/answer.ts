/** What an exchange means for the updates that were sent in it (spec: Sync status update; Errors). */
import { isUtf8 } from 'node:buffer';
import { type HoldCause, type LetterCode } from '../../kernel/outcome.ts';
import { type CallEnd, toSessionEnd } from '../../resilience/breaker.ts';
import { type Exchange } from '../../resilience/ports.ts';
import { judgeSync } from '../../screening/verdict.ts';
import { type TroubleKind } from './trouble.ts';

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
  | {
      readonly do: 'refused';
      readonly status: number;
      readonly reason: LetterCode;
      readonly serviceError: string | null;
    }
  | Later;

/** Nothing of it is decided; it is sent again. */
export interface Later {
  readonly do: 'later';
  /** 0: there was no answer. */
  readonly status: number;
  readonly why: HoldCause;
  /** Null: by backoff. */
  readonly afterMs: number | null;
  /** True: not before `afterMs`, whatever the attempt. */
  readonly fixed: boolean;
  /** What may be one update's doing; null: it speaks of the service, or of us. */
  readonly trouble: TroubleKind | null;
  /** The service's text; null: none. */
  readonly serviceError: string | null;
  /** What it says of the service's health. */
  readonly health: CallEnd;
  /** What went wrong, by name: `timeout`, `status_503`; empty: nothing was sent. */
  readonly error: string;
}

/** How long an update waits after the fence was found closed: heartbeats come more often than that. */
const FENCED_MS = 500;
/** Far more than a letter keeps, which masks before it cuts. */
const SERVICE_ERROR_CHARACTERS = 4096;

/** Judges an exchange. `ids`: what was sent in it. Total. */
export function readAnswer(exchange: Exchange, ids: ReadonlySet<string>): BatchAnswer {
  switch (exchange.do) {
    case 'fenced':
      return { ...later(0, 'kafka', FENCED_MS), fixed: true, health: 'void' };
    case 'no_session':
      return { ...later(0, exchange.why, exchange.retryMs), fixed: true, health: toSessionEnd(exchange.why) };
    case 'failed':
      // An answer beyond every bound is not one of this service.
      return exchange.why === 'oversized'
        ? { ...later(0, 'service_refuses', null), error: exchange.why }
        : { ...later(0, 'service_down', null, exchange.why === 'timeout' ? 'timeout' : null), error: exchange.why };
    case 'answer':
      return judge(exchange, ids);
  }
}

function judge(
  { status, retryAfterMs, body }: Extract<Exchange, { do: 'answer' }>,
  ids: ReadonlySet<string>,
): BatchAnswer {
  const parsed = parseBody(body);
  const answer = isObject(parsed) ? parsed : {};
  // Where an update has the id `error_msg`, the key speaks of that update.
  const errorMessage = ids.has('error_msg') ? null : errorText(answer);
  const verdict = judgeSync({ status, retryAfterMs, errorMessage });
  switch (verdict.do) {
    case 'done':
      return { do: 'accepted', status, ...readUpdates(parsed, ids) };
    case 'refuse':
      return { do: 'refused', status, reason: verdict.why, serviceError: errorMessage };
    case 'retry':
      return { ...later(status, 'service_down', verdict.afterMs, verdict.counts), serviceError: errorMessage };
    case 'hold':
      return later(status, 'service_refuses', null);
  }
}

function later(status: number, why: HoldCause, afterMs: number | null, trouble: TroubleKind | null = null): Later {
  return {
    do: 'later',
    status,
    why,
    afterMs,
    fixed: false,
    trouble,
    serviceError: null,
    health: why === 'service_refuses' ? 'hold' : 'failed',
    error: status === 0 ? '' : `status_${String(status)}`,
  };
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
