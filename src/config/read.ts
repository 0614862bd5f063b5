import { nameOf } from '../kernel/fault.ts';
import { type EnvFile } from './env-file.ts';
import { type Option, type RunnableFlow } from './kinds.ts';
import { OPTION_NAMES, OPTIONS } from './options.ts';
import { isServiceLink } from './unknown-names.ts';
import { type OptionName, type SecretName, type Values } from './values.ts';

/** Where options come from. */
export interface ConfigSource {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What `--env-file` names: stands behind `env`, where an empty value is the same as none. */
  readonly envFile?: EnvFile;
  /** The content of a file as UTF-8; throws where there is none. */
  readonly readFile: (path: string) => string;
  /** The flag `--flows`, which wins over `FLOWS`. */
  readonly flows?: string;
  /** Only options that begin so must be given: for commands that use nothing else. */
  readonly requires?: 'KAFKA_' | 'SCHEMA_REGISTRY_' | 'MAPPING_';
}

export type Origin = 'default' | 'environment' | 'env-file' | 'file' | 'flag';

/** All values, with what was wrong with them; a refused option has its default, so that others can be judged. */
export interface ReadValues {
  readonly values: Values;
  readonly origins: Readonly<Record<OptionName, Origin>>;
  /** Options with a problem of their own, by name. */
  readonly refused: ReadonlyMap<OptionName, string>;
}

type Given =
  | { readonly from: 'nowhere' }
  | { readonly from: 'problem'; readonly problem: string }
  | { readonly from: Exclude<Origin, 'default'>; readonly text: string };

const QUOTED_LENGTH = 80;

function quoted(text: string): string {
  return JSON.stringify(text.length > QUOTED_LENGTH ? `${text.slice(0, QUOTED_LENGTH)}…` : text);
}

/** An editor's newline at the end is no part of a value. */
function withoutNewline(content: string): string {
  return content.replace(/\r?\n$/, '');
}

/** The value of a secret whose file has this content; undefined: the option's rule refuses it. */
export function readSecret<N extends SecretName>(name: N, content: string): Values[N] | undefined {
  const row: Option<Values[N]> = OPTIONS[name];
  return row.read(withoutNewline(content), true);
}

function contentOf(source: ConfigSource, variable: string, path: string): Given {
  try {
    return { from: 'file', text: withoutNewline(source.readFile(path)) };
  } catch (error) {
    return { from: 'problem', problem: `${variable}: the file ${quoted(path)} cannot be read (${nameOf(error)}).` };
  }
}

function isGiven(name: OptionName, found: string | undefined): found is string {
  if (found === undefined || isServiceLink(name, found)) return false;
  return found !== '' || OPTIONS[name].emptyCounts;
}

/** Which of the two says something of an option; a secret that one gives by its file is not also asked of the other. */
function speakerFor(source: ConfigSource, name: OptionName): Readonly<Record<string, string | undefined>> {
  const { env, envFile } = source;
  const isHere = isGiven(name, env[name]) || (OPTIONS[name].secret && (env[`${name}_FILE`] ?? '') !== '');
  return isHere || envFile === undefined ? env : envFile.values;
}

/** The path of the file that a secret is read from; undefined: it is none, or is given by itself. */
export function secretFileOf(source: ConfigSource, name: SecretName): string | undefined {
  const path = speakerFor(source, name)[`${name}_FILE`];
  return path === '' ? undefined : path;
}

/** The path that an option of a file's content was given; null: it was not. */
export function contentFileOf(source: ConfigSource, name: OptionName): string | null {
  const path = speakerFor(source, name)[name];
  return isGiven(name, path) ? path : null;
}

function givenFor(source: ConfigSource, name: OptionName): Given {
  const { secret, fromFile } = OPTIONS[name];
  if (name === 'FLOWS' && source.flows !== undefined) return { from: 'flag', text: source.flows };
  const env = speakerFor(source, name);
  const direct = env[name];
  const path = secret ? env[`${name}_FILE`] : undefined;
  if (path !== undefined && path !== '') {
    if (direct === undefined || direct === '') return contentOf(source, `${name}_FILE`, path);
    return { from: 'problem', problem: `${name}: given twice, here and by ${name}_FILE; leave one out.` };
  }
  if (!isGiven(name, direct)) return { from: 'nowhere' };
  if (fromFile) return contentOf(source, name, direct);
  return { from: env === source.env ? 'environment' : 'env-file', text: direct };
}

type Judged<T> =
  | { readonly value: T; readonly origin: Origin }
  | { readonly value: T; readonly origin: Origin; readonly problem: string };

function judge<N extends OptionName>(name: N, given: Given): Judged<Values[N]> {
  const row: Option<Values[N]> = OPTIONS[name];
  if (given.from === 'nowhere') return { value: row.absent, origin: 'default' };
  if (given.from === 'problem') return { value: row.absent, origin: 'default', problem: given.problem };
  const value =
    given.text === '' && row.emptyCounts
      ? ('' as Values[N])
      : row.read(given.text, row.secret && given.from === 'file');
  if (value !== undefined) return { value, origin: given.from };
  const what =
    row.quotable && !row.fromFile ? `${quoted(given.text)} is not accepted` : 'what is given is not accepted';
  return { value: row.absent, origin: 'default', problem: `${name}: ${what}; give ${row.accepts}.` };
}

function missing(name: OptionName, flows: readonly RunnableFlow[]): string | undefined {
  const { neededBy, accepts, secret } = OPTIONS[name];
  const needing = flows.filter((flow) => neededBy.includes(flow));
  if (needing.length === 0) return undefined;
  const file = secret ? `, or its file as ${name}_FILE` : '';
  return `${name}: missing, needed by ${needing.join(', ')}; give ${accepts}${file}.`;
}

/** Reads every option by its row; nothing is thrown and nothing is compared with other options here, but what flows need. */
export function readValues(source: ConfigSource): ReadValues {
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  const refused = new Map<OptionName, string>();
  for (const name of OPTION_NAMES) {
    const judged = judge(name, givenFor(source, name));
    values[name] = judged.value;
    origins[name] = judged.origin;
    if ('problem' in judged) refused.set(name, judged.problem);
  }
  const read = values as unknown as Values;
  for (const name of OPTION_NAMES) {
    if (origins[name] !== 'default' || refused.has(name) || !name.startsWith(source.requires ?? '')) continue;
    const problem = missing(name, read.FLOWS);
    if (problem !== undefined) refused.set(name, problem);
  }
  return { values: read, origins: origins as Record<OptionName, Origin>, refused };
}
