/** A place in a trace, as headers carry it from one process to the next (W3C Trace Context). Read, so it is valid. */
export interface TraceContext {
  /** Version 00: 55 characters. */
  readonly traceparent: string;
  /** What others keep there, in their order, at most 512 characters; null: nothing. */
  readonly tracestate: string | null;
}

type HeaderValue = Buffer | string | null | readonly (Buffer | string | null)[] | undefined;

/** Headers by name, of a record or of a request; a name that occurs twice has an array. */
export type TraceHeaders = Readonly<Record<string, HeaderValue>>;

/** Version 00 and those to come (section 3.2): version, trace id, parent id, flags; ids of zeros and version ff are invalid. */
const TRACEPARENT = /^(?!ff)([0-9a-f]{2})-((?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** More of a header is not looked at: it could not be passed on. */
const LONGEST_HEADER = 1024;
/** Of a version that is not known, only this flag means what it means here. */
const SAMPLED = 1;

const MOST_MEMBERS = 32;
/** Makes the whole invalid. */
const NO_MEMBER = '=';
const MOST_CHARACTERS = 512;
/** Section 3.3.1.3: a key, perhaps with its tenant before an @; a value of printable ASCII without comma and equals sign, which does not end with a space. */
const MEMBER =
  /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/**
 * The place in a trace that headers name; null: none, or it is not valid, and a new trace begins. A tracestate that is
 * not valid is left out alone. Headers of a later version are read as the Recommendation says: as version 00.
 */
export function readTraceContext({ traceparent, tracestate }: TraceHeaders): TraceContext | null {
  if (traceparent === undefined) return null;
  const text = textOf(traceparent);
  const read = text === null ? null : TRACEPARENT.exec(text);
  if (read === null) return null;
  const [whole, version = '', ids = '', flags = '', more] = read;
  if (version === '00') return more === undefined ? { traceparent: whole, tracestate: stateOf(tracestate) } : null;
  const sampled = (Number.parseInt(flags, 16) & SAMPLED) === 0 ? '00' : '01';
  return { traceparent: `00-${ids}-${sampled}`, tracestate: stateOf(tracestate) };
}

/** The two headers of a place in a trace; none where there is none. */
export function toTraceHeaders(context: TraceContext | null): { traceparent?: string; tracestate?: string } {
  if (context === null) return {};
  const { traceparent, tracestate } = context;
  return tracestate === null ? { traceparent } : { traceparent, tracestate };
}

/**
 * `headers`, name and value by turns, and the place in a trace of who sends them. Without its tracestate, which is of
 * programs on this side and no business of whoever is called.
 */
export function withTraceparent(
  headers: readonly string[] | undefined,
  context: TraceContext | null,
): readonly string[] | undefined {
  if (context === null) return headers;
  return headers === undefined
    ? ['traceparent', context.traceparent]
    : [...headers, 'traceparent', context.traceparent];
}

/** Null: the header is there twice, which the Recommendation does not know, has no value, or is too long. */
function textOf(value: Exclude<HeaderValue, undefined>): string | null {
  if (value === null || isList(value) || value.length > LONGEST_HEADER) return null;
  return typeof value === 'string' ? value : value.toString('latin1');
}

/** Several headers are one list, in their order. */
function stateOf(value: HeaderValue): string | null {
  if (value === undefined) return null;
  const parts = isList(value) ? value : [value];
  const members = parts
    .flatMap((part) => (textOf(part) ?? NO_MEMBER).split(','))
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  const whole = members.join(',');
  const fits = members.length > 0 && members.length <= MOST_MEMBERS && whole.length <= MOST_CHARACTERS;
  return fits && members.every((member) => MEMBER.test(member)) ? whole : null;
}

function isList(value: HeaderValue): value is readonly (Buffer | string | null)[] {
  return Array.isArray(value);
}
