import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The checkout. */
export const ROOT: string = fileURLToPath(new URL('../..', import.meta.url));

/** One page as its readers get it. */
export interface Page {
  /** From the checkout on. */
  readonly path: string;
  readonly text: string;
}

/** Every page for people. */
export function pagesOfProse(): readonly Page[] {
  return globSync(['*.md', 'docs/**/*.md'], { cwd: ROOT })
    .toSorted()
    .map((name) => ({ path: name, text: readFileSync(path.join(ROOT, name), 'utf8') }));
}

const FENCE = /^```[^\n]*\n[\s\S]*?^```$/gm;

/** The text without its blocks of code. */
function outsideOfBlocks(text: string): string {
  return text.replaceAll(FENCE, '');
}

/** What stands between backticks, and the lines of all blocks of code. */
export function codeIn(text: string): readonly string[] {
  const lines = [...text.matchAll(FENCE)].flatMap(([block]) => block.split('\n').slice(1, -1));
  return [...lines, ...[...outsideOfBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, code]) => code ?? '')];
}

/** Targets of links, those to other hosts left out. */
export function linksIn(text: string): readonly string[] {
  return [...outsideOfBlocks(text).matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target]) => target ?? '')
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors that a page has: its headings, as the common hosts of repositories write them. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...outsideOfBlocks(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => heading ?? '');
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Names that have the form of an environment variable or of a fault. */
export function namesIn(text: string): readonly string[] {
  return codeIn(text).flatMap((code) => code.match(/(?<![\w./$-])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w-])/g) ?? []);
}

/** Paths of the checkout that are named in code; patterns, and the example `src/a/b.ts`, left out. */
export function pathsIn(text: string): readonly string[] {
  return codeIn(text)
    .flatMap((code) => code.match(/(?<![\w./~-])(?:\.ci|avro|docs|src|test)\/[\w./*-]*[\w*]/g) ?? [])
    .filter((name) => !name.includes('*') && !/\/a\/b\./.test(name));
}

/** Scripts that are run by `npm run <name>`, `npm test` or `npm start`. */
export function scriptsIn(text: string): readonly string[] {
  return codeIn(text).flatMap((code) =>
    [...code.matchAll(/\bnpm (?:run (?:--silent )?([\w:.-]+)|(test|start)\b)/g)].map(
      ([, run, direct]) => run ?? direct ?? '',
    ),
  );
}

/** One use of the command line: its words, and the flags behind them. */
export interface Call {
  readonly words: readonly string[];
  readonly flags: readonly string[];
}

const PROGRAM = /(?:^|\s)(?:npx )?fraud-connector((?: [a-z][a-z|]*)+)((?: +(?:--?[a-z]|[^-&|;#\s])\S*)*)/g;

/** Every use of `fraud-connector` in code; `a|b` are two uses. */
export function callsIn(text: string): readonly Call[] {
  return codeIn(text).flatMap((code) =>
    [...code.matchAll(PROGRAM)].flatMap(([, words = '', rest = '']) => {
      const flags = rest.match(/--[a-z-]+/g) ?? [];
      const ways = words.trim().split(' ');
      const last = ways.at(-1) ?? '';
      return last.split('|').map((each) => ({ words: [...ways.slice(0, -1), each], flags }));
    }),
  );
}

/** A claim that a test of this name is in this file: a link with the file's path, then the name in italics. */
export interface Proof {
  readonly file: string;
  readonly name: string;
}

export function proofsIn(text: string): readonly Proof[] {
  return [...text.matchAll(/\[`(test\/[^`]+)`\]\([^)]+\): \*([^*]+)\*/g)].map(([, file = '', name = '']) => ({
    file,
    name,
  }));
}
