/** One import of a file: what it names, and whether only types come in (those are gone at run time). */
export interface Import {
  readonly of: string;
  readonly typesOnly: boolean;
}

const IMPORT = /^(import|export)\s+(type\s+)?(?:([^'"`;]*?)\s+from\s+)?'([^']+)'/gm;
const DYNAMIC = /\bimport\(\s*'([^']+)'/g;

function onlyTypes(clause: string): boolean {
  const braces = /^\{([^}]*)\}$/.exec(clause.trim());
  const names = braces?.[1]?.split(',').map((name) => name.trim());
  return names !== undefined && names.filter((name) => name !== '').every((name) => name.startsWith('type '));
}

/** All imports of a source text, re-exports and dynamic ones included. */
export function importsOf(text: string): readonly Import[] {
  const stated = [...text.matchAll(IMPORT)].map(([, , type, clause, of]) => ({
    of: of ?? '',
    typesOnly: type !== undefined || (clause !== undefined && onlyTypes(clause)),
  }));
  const dynamic = [...text.matchAll(DYNAMIC)].map(([, of]) => ({ of: of ?? '', typesOnly: false }));
  return [...stated, ...dynamic];
}

const PIECES = [
  /\/\/[^\n]*/,
  /\/\*[\s\S]*?\*\//,
  /'(?:[^'\\\n]|\\.)*'/,
  /"(?:[^"\\\n]|\\.)*"/,
  // A regular expression: a slash where no value can have ended before it.
  /(?<=[(,=:[!&|?{};]\s*|return\s|^\s*)\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/m,
];
const NO_CODE = new RegExp(PIECES.map((piece) => piece.source).join('|'), 'gm');

/** The text without comments, regular expressions and strings; code inside of template strings stays. */
export function codeOf(text: string): string {
  const withoutStrings = text.replace(NO_CODE, (piece) => (piece.startsWith('/') ? '' : "''"));
  return withoutStrings.replace(/`(?:[^`\\]|\\.)*`/g, (template) =>
    [...template.matchAll(/\$\{([^}]*)\}/g)].map(([, code]) => `(${code ?? ''})`).join(' '),
  );
}
