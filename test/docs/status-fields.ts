import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './prose.ts';

/** Objects whose names are codes: one row stands for all of them. */
const OPEN: ReadonlySet<string> = new Set(['flows[].outcomes', 'reviews.refused']);

/** The places of all values of a report, as docs/status.md writes them: `holds[].cause`. An empty list has none. */
export function placesIn(value: unknown, at = ''): readonly string[] {
  if (Array.isArray(value))
    return [...new Set((value as readonly unknown[]).flatMap((each) => placesIn(each, `${at}[]`)))];
  if (typeof value !== 'object' || value === null) return [at];
  if (OPEN.has(at)) return [`${at}.*`];
  return Object.entries(value).flatMap(([name, each]) => placesIn(each, at === '' ? name : `${at}.${name}`));
}

/** The fields that docs/status.md explains. */
export function documentedFields(): readonly string[] {
  const page = readFileSync(path.join(ROOT, 'docs/status.md'), 'utf8');
  const [, section = ''] = /^## Every field$([\s\S]*?)^## /m.exec(page) ?? [];
  return [...section.matchAll(/^\| `([^`]+)` \|/gm)].map(([, field]) => field ?? '');
}
