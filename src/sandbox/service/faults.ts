import { BROKEN_ANSWERS, type BrokenAnswerName } from './broken-answers.ts';
import {
  type Check,
  either,
  type Fields,
  fieldsDefect,
  isFlag,
  isHeaderText,
  isText,
  listOf,
  numberFrom,
  objectOf,
  oneOf,
  orNull,
  wholeFrom,
} from './checks.ts';
import { isJsonObject } from './json.ts';
import { isLatencyShape, type LatencyShape, LONGEST_MS } from './latency.ts';
import { type Operation, OPERATIONS } from './operation.ts';
import { isWebhookFaults, type WebhookFaults } from './webhook-faults.ts';

/** Some requests are answered with this status. */
export interface StatusFault {
  readonly code: number;
  /** 0 to 1; default 1. */
  readonly share?: number;
  /** The value of `Retry-After`, as it is. */
  readonly retryAfter?: string;
  /** `Retry-After` as an HTTP date so many seconds from now; may be negative. */
  readonly retryAfterDateSeconds?: number;
  /** `Location`: `self` (the same address), `elsewhere` (another origin on loopback, whose visits the ledger counts), or a text. */
  readonly location?: string;
  /** The request was carried out all the same; default false. */
  readonly carriedOut?: boolean;
}

/** Some requests are answered wrongly. Where a `StatusFault` strikes the same request, its status and headers go with this body. */
export interface AnswerFault {
  readonly as: BrokenAnswerName;
  /** 0 to 1; default 1. */
  readonly share?: number;
  /** Default: as docs/sandbox.md says for each kind; never with a status from 300 on. */
  readonly carriedOut?: boolean;
}

/** Whom a rule is for: a request that speaks of any of these, a PATCH among others. */
export interface Only {
  readonly transIds?: readonly string[];
  /** Beginnings of trans_ids. */
  readonly transIdPrefixes?: readonly string[];
  readonly customers?: readonly string[];
}

/** What is done to a request that is struck, and which requests those are. Milliseconds, 600000 at most; shares from 0 to 1. */
export interface FaultRule {
  /** Before the answer; the request is carried out at once. */
  readonly latencyMs: number;
  /** Up to this much more, evenly drawn. */
  readonly latencyJitterMs: number;
  /** More latency, drawn from a distribution. */
  readonly latencyShape: LatencyShape | null;
  readonly status: StatusFault | null;
  readonly answer: AnswerFault | null;
  /** The connection is reset instead of an answer; the request was carried out. */
  readonly resetShare: number;
  /** The connection is reset instead of an answer; the request was not carried out. */
  readonly resetBeforeShare: number;
  /** Between an answer's status line and its headers. */
  readonly slowHeadersMs: number;
  /** Between the first half of an answer's body and the second. */
  readonly slowBodyMs: number;
  /** Between each byte of an answer's body and the next. */
  readonly dripMs: number;
  readonly operations: readonly Operation[];
  /** Only requests that speak of one of these; null: any. */
  readonly only: Only | null;
  /** This share of them. */
  readonly share: number;
  /** Only so many of them, then never again; null: no end. */
  readonly next: number | null;
  /** Only so long from now on; null: no end. */
  readonly forMs: number | null;
}

/** What a request over a limit is answered with. */
export interface Limited {
  /** Default: 503 for capacity, 429 for a rate. */
  readonly code?: number;
  readonly retryAfter?: string;
}

/** How a PATCH tells for each id that it was not accepted. */
export type PerIdForm = 'error_msg' | 'ok_false' | 'errors';

const PER_ID_FORMS: readonly PerIdForm[] = ['error_msg', 'ok_false', 'errors'];

/** What the service does wrong, on demand. docs/sandbox.md has a row for each. */
export interface Faults extends FaultRule {
  /** Tried before the fields beside it; of all, the first that matches a request strikes it. */
  readonly rules: readonly Partial<FaultRule>[];
  /** Every login is answered with this status; null: as the credentials deserve. */
  readonly loginStatus: number | null;
  /** A PATCH that holds one of these trans_ids is refused with 400. */
  readonly patchRejects: readonly string[];
  /** These ids of a PATCH are not kept, and its answer, an object by trans_id, says so. */
  readonly patchPerId: {
    readonly transIds: readonly string[];
    readonly form: PerIdForm;
    /** Default 200. */
    readonly code?: number;
  } | null;
  /** A trans_id that was scored before is answered with 409. */
  readonly conflictOnRepeat: boolean;
  /** A larger request is answered with 413; null: 2 MiB. */
  readonly maxRequestBytes: number | null;
  /** Only so many requests at once; those above are refused, or wait. */
  readonly capacity: (Limited & { readonly atOnce: number; readonly over?: 'refuse' | 'queue' }) | null;
  /** Only so many requests a second. */
  readonly rateLimit: (Limited & { readonly perSecond: number }) | null;
  /** With more than `above` requests at once each takes this much longer. */
  readonly busy: { readonly above: number; readonly latencyMs: number } | null;
  /** The connection ends after each answer; `said`: a header tells so. */
  readonly closeAfterAnswer: 'said' | 'unsaid' | null;
  readonly webhooks: Partial<WebhookFaults>;
}

/** Faults to set: what is not given takes its default. The rest happens now, once. */
export type FaultSettings = Partial<Faults> & {
  /** All tokens end. */
  readonly expireTokens?: boolean;
  /** Nothing listens on the port for so long, the control included. */
  readonly refuseConnectionsMs?: number;
  /** Every new connection is closed at once for so long, the control's included. */
  readonly dropConnectionsMs?: number;
};

const NO_RULE: FaultRule = {
  latencyMs: 0,
  latencyJitterMs: 0,
  latencyShape: null,
  status: null,
  answer: null,
  resetShare: 0,
  resetBeforeShare: 0,
  slowHeadersMs: 0,
  slowBodyMs: 0,
  dripMs: 0,
  operations: ['score', 'sync'],
  only: null,
  share: 1,
  next: null,
  forMs: null,
};

export const NO_FAULTS: Faults = {
  ...NO_RULE,
  rules: [],
  loginStatus: null,
  patchRejects: [],
  patchPerId: null,
  conflictOnRepeat: false,
  maxRequestBytes: null,
  capacity: null,
  rateLimit: null,
  busy: null,
  closeAfterAnswer: null,
  webhooks: {},
};

/** A rule with what it does not say filled in. */
export function wholeRule(rule: Partial<FaultRule>): FaultRule {
  return { ...NO_RULE, ...rule };
}

const ms = numberFrom(0, LONGEST_MS, 'milliseconds');
const share = numberFrom(0, 1);
const code = wholeFrom(200, 599, 'a status');
const texts = listOf(isText);
const retryAfter = either(numberFrom(-1e15, 1e15), isHeaderText);
const limited: Fields = { code: wholeFrom(400, 599, 'a status'), retryAfter };
/** Shorter ones would starve the machine, not the client. */
const byteMs = either(wholeFrom(0, 0), numberFrom(1, 60_000, '0, or milliseconds'));

const isSubjects = objectOf({ transIds: texts, transIdPrefixes: texts, customers: texts });

function isOnly(value: unknown, path: string): string | null {
  const defect = isSubjects(value, path);
  if (defect !== null || Object.keys(value as object).length > 0) return defect;
  return `${path} must have transIds, transIdPrefixes or customers`;
}

const RULE_FIELDS: Fields = {
  latencyMs: ms,
  latencyJitterMs: ms,
  latencyShape: orNull(isLatencyShape),
  status: orNull(
    objectOf(
      {
        code,
        share,
        retryAfter,
        retryAfterDateSeconds: numberFrom(-1e9, 1e9, 'seconds'),
        location: isHeaderText,
        carriedOut: isFlag,
      },
      ['code'],
    ),
  ),
  answer: orNull(objectOf({ as: oneOf(Object.keys(BROKEN_ANSWERS)), share, carriedOut: isFlag }, ['as'])),
  resetShare: share,
  resetBeforeShare: share,
  slowHeadersMs: ms,
  slowBodyMs: ms,
  dripMs: byteMs,
  operations: listOf(oneOf(OPERATIONS)),
  only: orNull(isOnly),
  share,
  next: orNull(wholeFrom(0, Number.MAX_SAFE_INTEGER)),
  forMs: orNull(numberFrom(0, Number.MAX_SAFE_INTEGER, 'milliseconds')),
};

const FIELDS: Fields = {
  ...RULE_FIELDS,
  rules: listOf(objectOf(RULE_FIELDS)),
  loginStatus: orNull(code),
  patchRejects: texts,
  patchPerId: orNull(
    objectOf({ transIds: texts, form: oneOf(PER_ID_FORMS), code: wholeFrom(200, 299, 'a status') }, [
      'transIds',
      'form',
    ]),
  ),
  conflictOnRepeat: isFlag,
  maxRequestBytes: orNull(wholeFrom(0, Number.MAX_SAFE_INTEGER, 'bytes')),
  capacity: orNull(
    objectOf({ ...limited, atOnce: wholeFrom(1, Number.MAX_SAFE_INTEGER), over: oneOf(['refuse', 'queue']) }, [
      'atOnce',
    ]),
  ),
  rateLimit: orNull(objectOf({ ...limited, perSecond: numberFrom(0.001, 1e9) }, ['perSecond'])),
  busy: orNull(objectOf({ above: wholeFrom(0, Number.MAX_SAFE_INTEGER), latencyMs: ms }, ['above', 'latencyMs'])),
  closeAfterAnswer: orNull(oneOf(['said', 'unsaid'])),
  webhooks: isWebhookFaults,
  expireTokens: isFlag,
  refuseConnectionsMs: ms,
  dropConnectionsMs: ms,
};

/** The names of all fields, in the order of the documentation. */
export const FAULT_NAMES: readonly string[] = Object.keys(FIELDS);

const isSettings: Check = (value) => fieldsDefect(value as object, FIELDS, '', 'a fault');

/** The settings if every field is known and right, else one sentence that names the field. */
export function readFaults(input: unknown): FaultSettings | string {
  if (!isJsonObject(input)) return 'the body must be a JSON object';
  return isSettings(input, '') ?? (textually(input) as FaultSettings);
}

/** With each `retryAfter` as the text of a header. */
function textually(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(textually);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, content]) => [
      name,
      name === 'retryAfter' ? String(content) : textually(content),
    ]),
  );
}
