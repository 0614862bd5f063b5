/** A block of code of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Of its first line in the page, from 1. */
  readonly line: number;
}

const BLOCK = /^( *)```([a-z]*)\n([\s\S]*?)^\1```$/gm;

/** The blocks of code between fences, also those in lists. */
export function blocksIn(text: string): readonly Block[] {
  return [...text.matchAll(BLOCK)].map(({ 1: indent = '', 2: language = '', 3: body = '', index }) => ({
    language,
    text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    line: text.slice(0, index).split('\n').length + 1,
  }));
}

/** A use of one of the programs for developers: its script in package.json, and what stands behind `--`. */
export interface ScriptCall {
  readonly script: string;
  readonly args: readonly string[];
}

/** Uses of `npm run <script> -- …` in a line of code; what is behind `#`, `&&`, `>` and `|` left out. */
export function scriptCallsIn(line: string): readonly ScriptCall[] {
  return [...line.matchAll(/\bnpm run (?:--silent )?([\w:]+)(?: -- ([^#&>|`]*))?/g)].map(
    ([, script = '', rest = '']) => ({
      script,
      args: rest
        .trim()
        .split(/\s+/)
        .filter((word) => word !== ''),
    }),
  );
}
