import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLMap } from 'yaml';
import { type NumberToken, toNumber } from './tokens.ts';

/** A member of a YAML mapping: its name as it was written, the place of the name, and its value. */
export interface Member {
  readonly name: string;
  readonly at: Place;
  readonly value: Branch;
}

/** A node of the mapping file with its place. */
export interface Branch {
  readonly node: Node | null;
  readonly at: Place;
}

/** Where something stands: an offset in the text, and the path of names that leads there. */
export interface Place {
  readonly offset: number;
  readonly path: readonly string[];
}

/** A text, a number (as its token where needed), true or false. */
export type Scalar = string | number | boolean | NumberToken;

type Pairs = YAMLMap<Node | null, Node | null>;

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const SHOWN_CHARACTERS = 60;

/** Collects what is wrong and what is odd about a mapping file, each with its place. */
export class Findings {
  readonly #lines: LineCounter;
  readonly #problems: { readonly offset: number; readonly text: string }[] = [];
  readonly #warnings: { readonly offset: number; readonly text: string }[] = [];

  constructor(lines: LineCounter) {
    this.#lines = lines;
  }

  /** In the order of the file; each begins with its place. */
  get problems(): readonly string[] {
    return inOrder(this.#problems);
  }

  get warnings(): readonly string[] {
    return inOrder(this.#warnings);
  }

  refuse(at: Place, what: string): void {
    this.#problems.push({ offset: at.offset, text: this.#said(at, what) });
  }

  warn(at: Place, what: string): void {
    this.#warnings.push({ offset: at.offset, text: this.#said(at, what) });
  }

  #said({ offset, path }: Place, what: string): string {
    const { line, col } = this.#lines.linePos(offset);
    const pointer = path.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    return `line ${String(line)}, column ${String(col)}${pointer === '' ? '' : `, ${pointer}`}: ${what}`;
  }
}

function inOrder(found: readonly { readonly offset: number; readonly text: string }[]): readonly string[] {
  return found.toSorted((one, other) => one.offset - other.offset).map(({ text }) => text);
}

/** Parses a mapping file (YAML 1.2, one document). Problems of the YAML itself are in the findings. */
export function parseMappingFile(text: string): { readonly root: Branch; readonly findings: Findings } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const findings = new Findings(lines);
  for (const { pos, message } of [...document.errors, ...document.warnings])
    findings.refuse({ offset: pos[0], path: [] }, `no valid YAML: ${message}`);
  return { root: { node: document.contents, at: { offset: offsetOf(document.contents, 0), path: [] } }, findings };
}

/** The members of a mapping, or null with a problem where the node is none. Names that are given twice are a problem. */
export function membersOf({ node, at }: Branch, expected: string, findings: Findings): readonly Member[] | null {
  if (!isMap(node)) {
    findings.refuse(at, `${describe(node)} is not accepted; give ${expected}.`);
    return null;
  }
  for (const { key } of (node as Pairs).items)
    if (!isScalar(key) || textOfScalar(key) === null)
      findings.refuse({ offset: offsetOf(key, at.offset), path: at.path }, 'a name has to be a text.');
  const members = namesOf({ node, at });
  for (const [index, { name, at: place }] of members.entries())
    if (members.findIndex((each) => each.name === name) < index) findings.refuse(place, 'it is given twice.');
  return members;
}

/** The members of a mapping whose names are scalars, as they were written; none of anything else. */
export function namesOf({ node, at }: Branch): readonly Member[] {
  if (!isMap(node)) return [];
  return (node as Pairs).items.flatMap(({ key, value }) => {
    const name = isScalar(key) ? textOfScalar(key) : null;
    if (name === null) return [];
    const offset = offsetOf(key, at.offset);
    const path = [...at.path, name];
    return [{ name, at: { offset, path }, value: { node: value, at: { offset: offsetOf(value, offset), path } } }];
  });
}

/** The entries of a list, or null where the node is none or is empty; says nothing of it. */
export function entriesOf({ node, at }: Branch): readonly Branch[] | null {
  if (!isSeq<Node | null>(node) || node.items.length === 0) return null;
  return node.items.map((item, index) => ({
    node: item,
    at: { offset: offsetOf(item, at.offset), path: [...at.path, String(index)] },
  }));
}

/** A text of the file; null: it is something else. */
export function stringOf({ node }: Branch): string | null {
  return isScalar(node) && typeof node.value === 'string' ? node.value : null;
}

/** A text, a number that JSON can say, true or false; null: it is something else. */
export function scalarOf({ node }: Branch): Scalar | null {
  if (!isScalar(node)) return null;
  const { value, source } = node;
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  return typeof value === 'number' && source !== undefined && JSON_NUMBER.test(source) ? toNumber(source) : null;
}

/** A scalar as it was written, without its quotes: `05` stays `05`. Null: there is nothing, or no scalar. */
export function writtenOf({ node }: Branch): string | null {
  return isScalar(node) ? textOfScalar(node) : null;
}

/** A node as a problem names it. */
export function describe(node: Node | null): string {
  if (isAlias(node)) return 'a YAML alias';
  if (isMap(node)) return 'a mapping';
  if (isSeq(node)) return 'a list';
  const text = isScalar(node) ? textOfScalar(node) : null;
  if (text === null) return 'nothing';
  return JSON.stringify(text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text);
}

function textOfScalar({ value, source }: { readonly value: unknown; readonly source?: string }): string | null {
  if (typeof value === 'string') return value;
  return value === null || source === undefined ? null : source;
}

function offsetOf(node: Node | null, otherwise: number): number {
  return node?.range?.[0] ?? otherwise;
}
