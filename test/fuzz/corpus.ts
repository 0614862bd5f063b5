import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Failure } from './campaign.ts';
import { type Plan } from './plan.ts';

/** Something sent on one connection that was once answered wrongly, or could be. */
export interface Kept {
  readonly why: string;
  /** One character a byte. */
  readonly text: string;
  readonly end: Plan['end'];
  /** Any of these, for every answer; none at all is right, too. */
  readonly statuses: readonly number[];
}

const FOLDER = new URL('../fixtures/webhooks/corpus/', import.meta.url);

/** All that is kept, by the name of its file. */
export function keptRequests(): ReadonlyMap<string, Kept> {
  const names = readdirSync(FOLDER).toSorted();
  return new Map(names.map((name) => [name, JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as Kept]));
}

/** As something to send; nothing of it may be written. */
export function planOfKept({ why, text, end }: Kept): Plan {
  const bytes = Buffer.from(text, 'latin1');
  return { index: 0, kind: why, bytes, cuts: [], end, answers: [], open: true, mayBeWritten: [], requests: 1 };
}

/** Writes a failure down for a person to look at: its statuses are those that were wrong. Answers the name of the file. */
export function keep({ seed, index, kind, what, statuses, bytes, end }: Failure): string {
  const kept: Kept = {
    why: `${kind}: ${what.join('; ')}`,
    text: Buffer.from(bytes, 'base64').toString('latin1'),
    end,
    statuses,
  };
  const name = `seed-${String(seed)}-${String(index)}.json`;
  writeFileSync(new URL(name, FOLDER), `${JSON.stringify(kept, null, 2)}\n`);
  return name;
}
