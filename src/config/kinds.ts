import { isLoopback } from './loopback.ts';

/** What can be run: `FLOWS`. */
export type RunnableFlow = 'scoring' | 'sync' | 'reviews';

/**
 * One option: everything that loading it, printing it and documenting it need. `T` is the type of its value, `null`
 * in it where "not given" is an answer of its own.
 */
export interface Option<T> {
  /** What may be given, as the end of the sentence "give …". */
  readonly accepts: string;
  /** The value of a text that is not empty; undefined: not accepted. `fromSecretFile`: it is the content of what `<NAME>_FILE` names. */
  readonly read: (text: string, fromSecretFile?: boolean) => T | undefined;
  /** The value when the option is not given. */
  readonly absent: T;
  /** The default as documentation shows it. */
  readonly shownDefault: string;
  /** Flows that do not run without it; empty: always optional. */
  readonly neededBy: readonly RunnableFlow[];
  /** Never shown anywhere, and also taken from the file that `<NAME>_FILE` names. */
  readonly secret: boolean;
  /** A refused value may be quoted. Not so for what people paste credentials into. */
  readonly quotable: boolean;
  /** `NAME=` (empty) is a value of its own; elsewhere it is the same as not given. */
  readonly emptyCounts: boolean;
  /** The text is the path of a file, and its content is what `read` gets. */
  readonly fromFile: boolean;
  /** The value as `config print` shows it. */
  readonly show: (value: T) => string;
  readonly doc: string;
}

/** What each row says about itself beside its kind. */
export interface Said {
  readonly doc: string;
  readonly neededBy?: readonly RunnableFlow[];
}

/** For `neededBy`: the connector never runs without it. */
export const EVERY_FLOW: readonly RunnableFlow[] = ['scoring', 'sync', 'reviews'];

function option<T>(said: Said, own: Pick<Option<T>, 'accepts' | 'read' | 'absent'> & Partial<Option<T>>): Option<T> {
  const neededBy = said.neededBy ?? [];
  const show = own.show ?? ((value: T): string => String(value ?? ''));
  return {
    secret: false,
    quotable: true,
    emptyCounts: false,
    fromFile: false,
    shownDefault: neededBy.length > 0 ? 'required' : show(own.absent) || 'none',
    ...own,
    show,
    neededBy,
    doc: said.doc,
  };
}

interface Limits {
  readonly min: number;
  readonly max: number;
  readonly unit?: 'milliseconds' | 'seconds' | 'bytes';
}

function readInteger(limits: Limits): (text: string) => number | undefined {
  return (given) => {
    const value = /^\d{1,15}$/.test(given) ? Number(given) : undefined;
    return value !== undefined && value >= limits.min && value <= limits.max ? value : undefined;
  };
}

function ofUnit(limits: Limits): string {
  const unit = limits.unit === undefined ? '' : ` of ${limits.unit}`;
  return `a whole number${unit} from ${String(limits.min)} to ${String(limits.max)}`;
}

/** A whole number within limits. */
export function integer(said: Said & Limits & { readonly absent: number }): Option<number> {
  return option(said, { accepts: ofUnit(said), read: readInteger(said), absent: said.absent });
}

/** A whole number within limits, null where it is not given: its default follows from other options, or there is none. */
export function derivedInteger(said: Said & Limits & { readonly shownDefault: string }): Option<number | null> {
  const { shownDefault } = said;
  return option<number | null>(said, { accepts: ofUnit(said), read: readInteger(said), absent: null, shownDefault });
}

/** A part of a whole, from 0 to 1. */
export function share(said: Said & { readonly absent: number }): Option<number> {
  return option(said, {
    accepts: 'a number from 0 to 1 such as `0.05`',
    read: (given) => (/^(0(\.\d{1,6})?|1(\.0{1,6})?)$/.test(given) ? Number(given) : undefined),
    absent: said.absent,
  });
}

/** A text of a given pattern, null where it is not given. */
export function optionalText(said: Said & Pick<TextRule, 'accepts' | 'pattern'>): Option<string | null> {
  return option<string | null>(said, {
    accepts: said.accepts,
    read: (given) => (said.pattern.test(given) ? given : undefined),
    absent: null,
  });
}

interface TextRule {
  readonly accepts: string;
  readonly pattern: RegExp;
  readonly absent?: string;
  readonly emptyCounts?: boolean;
  readonly quotable?: boolean;
}

/** A text of a given pattern. */
export function text(said: Said & TextRule): Option<string> {
  return option(said, {
    accepts: said.accepts,
    read: (given) => (said.pattern.test(given) ? given : undefined),
    absent: said.absent ?? '',
    emptyCounts: said.emptyCounts ?? false,
    quotable: said.quotable ?? true,
  });
}

/** Yes or no. */
export function flag(said: Said & { readonly absent: boolean }): Option<boolean> {
  return option(said, {
    accepts: '`true` or `false`',
    read: (given) => (given === 'true' ? true : given === 'false' ? false : undefined),
    absent: said.absent,
  });
}

/** One of a closed list. */
export function choice<const C extends string>(
  said: Said & { readonly of: readonly C[]; readonly absent: C },
): Option<C> {
  return option<C>(said, {
    accepts: `one of ${said.of.map((each) => `\`${each}\``).join(', ')}`,
    read: (given) => said.of.find((each) => each === given),
    absent: said.absent,
  });
}

function parts(given: string): readonly string[] {
  return given
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** Several of a closed list, each at most once, comma separated. */
export function choices<const C extends string>(
  said: Said & { readonly of: readonly C[]; readonly absent: readonly C[] },
): Option<readonly C[]> {
  return option<readonly C[]>(said, {
    accepts: `one or more of ${said.of.map((each) => `\`${each}\``).join(', ')}, comma separated`,
    read: (given) => {
      const named = parts(given);
      const known = said.of.filter((each) => named.includes(each));
      return named.length > 0 && known.length === named.length ? known : undefined;
    },
    absent: said.absent,
    show: (value) => value.join(','),
  });
}

/** Texts of a given pattern, comma separated. */
export function list(said: Said & Pick<TextRule, 'accepts' | 'pattern'>): Option<readonly string[]> {
  return option<readonly string[]>(said, {
    accepts: said.accepts,
    read: (given) => {
      const named = parts(given);
      return named.length > 0 && named.every((each) => said.pattern.test(each)) ? named : undefined;
    },
    absent: [],
    show: (value) => value.join(','),
  });
}

function readUrl(given: string): string | undefined {
  if (!URL.canParse(given)) return undefined;
  const { username, password, protocol, href } = new URL(given);
  const plain = username === '' && password === '' && !given.includes('?') && !given.includes('#');
  if (!plain || (protocol !== 'https:' && protocol !== 'http:')) return undefined;
  return href.replace(/\/+$/, '');
}

/** An http or https URL; its path is kept, a slash at its end is not. */
export function url(said: Said): Option<string> {
  return option(said, {
    accepts: 'an http or https URL without user info, query and fragment',
    read: readUrl,
    absent: '',
    quotable: false,
  });
}

function readEndpoint(given: string): string | undefined {
  if (!URL.canParse(given)) return undefined;
  const { username, password, hash, href } = new URL(given);
  return username === '' && password === '' && hash === '' && isPrivateOnTheWire(href) ? href : undefined;
}

/** The URL of one place that is asked, as it is: with its query and a slash at its end. https, or http to this machine. */
export function endpoint(said: Said): Option<string> {
  return option(said, {
    accepts: 'an https URL without user info and fragment, or an http one of this machine',
    read: readEndpoint,
    absent: '',
    quotable: false,
  });
}

function readProxyUrl(given: string): string | undefined {
  if (!URL.canParse(given)) return undefined;
  const { protocol, href, pathname, username, password } = new URL(given);
  const isPlain = pathname === '/' && !given.includes('?') && !given.includes('#');
  if (!isPlain || (protocol !== 'https:' && protocol !== 'http:')) return undefined;
  try {
    const user = decodeURIComponent(username);
    // Basic credentials end the name at the first colon (RFC 7617, section 2).
    return /[:\p{Cc}]/u.test(user) || /\p{Cc}/u.test(decodeURIComponent(password)) ? undefined : href.slice(0, -1);
  } catch {
    return undefined;
  }
}

/** The URL of a proxy: a secret, because it may hold a password; shown without. */
export function proxyUrl(said: Said): Option<string> {
  return option(said, {
    accepts: 'an http or https URL of a host and perhaps a port, with `user:password@` before it if the proxy asks',
    read: readProxyUrl,
    absent: '',
    secret: true,
    quotable: false,
    show: (value) => (value === '' ? '' : `${new URL(value).origin}${value.includes('@') ? ' (with user)' : ''}`),
  });
}

/** Whether a URL that `url` accepted stays on this machine or is encrypted. */
export function isPrivateOnTheWire(accepted: string): boolean {
  const { protocol, hostname } = new URL(accepted);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/** A secret: one line, as its bytes are. */
export function secret(said: Said): Option<string> {
  return option(said, {
    accepts: 'a text of one line',
    read: (given) => (/^[^\r\n\0]+$/.test(given) ? given : undefined),
    absent: '',
    secret: true,
    quotable: false,
    show: (value) => (value === '' ? '' : '(set)'),
  });
}

/** Several secrets, newest first, by line or comma; in a file by line alone, because a secret may hold a comma. Blank ones are dropped. */
export function secrets(said: Said & { readonly most: number }): Option<readonly string[]> {
  const { most } = said;
  return option<readonly string[]>(said, {
    accepts: `one to ${String(most)} secrets, newest first, by line or comma; in a file by line alone`,
    read: (given, fromSecretFile = false) => {
      const named = given
        .split(fromSecretFile ? /[\r\n]/ : /[\r\n,]/)
        .map((each) => each.trim())
        .filter((each) => each !== '');
      const fits = named.length > 0 && named.length <= most;
      return fits && named.every((each) => !/\p{Cc}/u.test(each)) ? named : undefined;
    },
    absent: [],
    secret: true,
    quotable: false,
    show: (value) => (value.length === 0 ? '' : `(set: ${String(value.length)})`),
  });
}

/** The path of a file with one value a line; blank lines and lines that start with `#` do not count. */
export function linesFile(said: Said): Option<ReadonlySet<string> | null> {
  return option<ReadonlySet<string> | null>(said, {
    accepts: 'the path of a readable file with at least one value, one a line',
    read: (content) => {
      const lines = content.split(/\r?\n/).map((line) => line.trim());
      const values = new Set(lines.filter((line) => line !== '' && !line.startsWith('#')));
      return values.size > 0 ? values : undefined;
    },
    absent: null,
    fromFile: true,
    show: (value) => (value === null ? '' : `(${String(value.size)} values)`),
  });
}

/** The path of a file whose text is the value; what is in it is judged by who uses it. */
export function textFile(said: Said): Option<string | null> {
  return option<string | null>(said, {
    accepts: 'the path of a readable file that is not empty',
    read: (content) => (content.trim() === '' ? undefined : content),
    absent: null,
    fromFile: true,
    show: (value) => (value === null ? '' : `(${String(Buffer.byteLength(value))} bytes)`),
  });
}
