/** What a file of `NAME=value` lines holds. Wrong lines are problems, with their number and never with their value. */
export interface EnvFile {
  readonly path: string;
  readonly values: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

type Reading = { readonly value: string; readonly isLiteral: boolean } | { readonly problem: string };

const ASSIGNMENT = /^(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)=(.*)$/s;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\', '"': '"', $: '$', n: '\n', r: '\r', t: '\t' };
/** What a shell would replace. */
const EXPANSION = /\$[A-Za-z_{(]/;
const ONLY_COMMENT = /^[ \t]*(#.*)?$/;

/**
 * Reads a file of environment variables: one `NAME=value` a line, perhaps with `export ` before it. Single quotes keep
 * everything; double quotes know `\\`, `\"`, `\$`, `\n`, `\r`, `\t`; without quotes a value ends at ` #` and has no space
 * around it. Nothing is expanded.
 */
export function parseEnvFile(path: string, text: string): EnvFile {
  const values: Record<string, string> = Object.create(null) as Record<string, string>;
  const lineOf = new Map<string, number>();
  const problems: string[] = [];
  const warnings: string[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/);
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const at = `${path}, line ${String(index + 1)}`;
    const [, name, rest] = ASSIGNMENT.exec(line) ?? [];
    if (name === undefined || rest === undefined) {
      problems.push(`${at}: not \`NAME=value\`, a comment or empty (no space may stand around the name).`);
      continue;
    }
    const first = lineOf.get(name);
    if (first !== undefined) {
      problems.push(`${at}: ${name} is given again, first on line ${String(first)}; leave one out.`);
      continue;
    }
    lineOf.set(name, index + 1);
    const reading = readValue(rest);
    if ('problem' in reading) {
      problems.push(`${at}: ${name}: ${reading.problem}`);
      continue;
    }
    if (!reading.isLiteral && EXPANSION.test(reading.value))
      warnings.push(`${at}: ${name}: \`$\` is taken as it stands, nothing is expanded; single quotes say so.`);
    values[name] = reading.value;
  }
  return { path, values, problems, warnings };
}

function readValue(rest: string): Reading {
  if (rest.startsWith("'")) return readSingle(rest);
  if (rest.startsWith('"')) return readDouble(rest);
  return { value: rest.replace(/[ \t]#.*$/, '').trim(), isLiteral: false };
}

function readSingle(rest: string): Reading {
  const end = rest.indexOf("'", 1);
  if (end < 0) return { problem: 'the single quote is not closed on its line.' };
  return afterQuote(rest.slice(end + 1), { value: rest.slice(1, end), isLiteral: true });
}

function readDouble(rest: string): Reading {
  let value = '';
  let isLiteral = false;
  for (let at = 1; at < rest.length; at += 1) {
    const letter = rest.charAt(at);
    if (letter === '"') return afterQuote(rest.slice(at + 1), { value, isLiteral });
    if (letter !== '\\') {
      value += letter;
      continue;
    }
    at += 1;
    const meant = ESCAPES[rest.charAt(at)];
    if (meant === undefined)
      return { problem: 'a backslash in double quotes that is no escape; write two of them, or use single quotes.' };
    // Who escapes one has thought of it.
    isLiteral ||= meant === '$';
    value += meant;
  }
  return { problem: 'the double quote is not closed on its line.' };
}

function afterQuote(rest: string, reading: Reading): Reading {
  return ONLY_COMMENT.test(rest) ? reading : { problem: 'something stands behind the closing quote.' };
}
