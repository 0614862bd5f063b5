/**
 * The members of a JSON object by name, each value as the text it came in: numbers keep their digits, however many, and
 * nesting of any depth costs no stack. Of a name that occurs twice the last one counts, as for `JSON.parse`.
 *
 * `text` must be an object that `JSON.parse` has taken; for other texts the result means nothing.
 */
export function membersOf(text: string): ReadonlyMap<string, string> {
  const members = new Map<string, string>();
  let at = afterSpace(text, text.indexOf('{') + 1);
  while (at < text.length && text[at] !== '}') {
    const nameEnd = afterString(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const valueStart = afterSpace(text, afterSpace(text, nameEnd) + 1);
    const valueEnd = afterValue(text, valueStart);
    members.set(name, text.slice(valueStart, valueEnd).trimEnd());
    at = text[valueEnd] === ',' ? afterSpace(text, valueEnd + 1) : valueEnd;
  }
  return members;
}

function afterSpace(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at += 1;
  return at;
}

/** `from`: its opening quote. */
function afterString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** Where the comma or brace stands that ends the value. */
function afterValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text[at];
    if (character === '"') {
      at = afterString(text, at);
      continue;
    }
    if (depth === 0 && (character === ',' || character === '}')) return at;
    if (character === '{' || character === '[') depth += 1;
    if (character === '}' || character === ']') depth -= 1;
    at += 1;
  }
  return at;
}
