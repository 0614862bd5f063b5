import { type Terminal } from '../edges/system/terminal.ts';
import { Fault } from '../kernel/fault.ts';
import { explainLines } from './explain-lines.ts';
import { type ExplainParts, explainRecord } from './explain.ts';

/** Explains every record of an input. Answers the exit code: 0 if all would be sent, else 1. Throws `USAGE` on empty input. */
export async function runExplain(
  input: Buffer,
  parts: ExplainParts & { readonly terminal: Pick<Terminal, 'say'>; readonly json: boolean },
): Promise<number> {
  const records = recordsIn(input);
  if (records.length === 0)
    throw new Fault('USAGE', 'explain: nothing on standard input; give one record as JSON, or one a line.');
  let exit = 0;
  for (const [index, bytes] of records.entries()) {
    const explanation = await explainRecord(bytes, parts);
    if (explanation.outcome !== 'send') exit = 1;
    if (parts.json) parts.terminal.say(JSON.stringify({ record: index + 1, ...explanation }));
    else for (const line of explainLines(index + 1, explanation, parts)) parts.terminal.say(line);
  }
  return exit;
}

/** One record, over as many lines as it likes; or, where the whole is no JSON and its first line is, one a line. */
export function recordsIn(input: Buffer): readonly Buffer[] {
  const text = input.toString('utf8');
  if (text.trim() === '') return [];
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  if (isJson(text) || lines.length < 2 || !isJson(lines[0] ?? '')) return [input];
  return lines.map((line) => Buffer.from(line));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
