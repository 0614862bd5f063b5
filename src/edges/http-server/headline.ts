import { type HealthReport } from '../../telemetry/ports.ts';
import { holdGroups } from './hold-groups.ts';
import { counted, grouped, spell } from './page-words.ts';

/** What a person wants to know first; `well`: nothing is to be done. */
export interface Headline {
  readonly tone: 'well' | 'wait' | 'ill';
  readonly word: string;
  readonly says: string;
}

/** Records older than this, once read, are a backlog: a payment should be scored within seconds. */
const OLD_MS = 10_000;

/** The worst that is true of the process, in a sentence. */
export function headlineOf(report: HealthReport): Headline {
  const { live, phase, engine, holds, ready } = report;
  if (!live)
    return { tone: 'ill', word: 'failed', says: 'It is about to end by a fault; the log line “fatal” says which.' };
  if (phase === 'stopping' || phase === 'stopped')
    return { tone: 'wait', word: phase, says: 'What was begun is finished; nothing new is started.' };
  if (holds.some(({ partial }) => !partial)) return { tone: 'ill', word: 'held', says: sayHolds(report) };
  if (phase === 'starting')
    return { tone: 'wait', word: 'starting', says: `It opens what it needs, since ${spell(report.phaseForMs)}.` };
  if (engine === 'joining' || !ready)
    return { tone: 'wait', word: 'joining', says: 'It joins the consumer group; nothing is read until it has.' };
  return keptBack(report) ?? someWait(report) ?? behind(report) ?? WELL;
}

const WELL: Headline = {
  tone: 'well',
  word: 'well',
  says: 'Nothing is held and nothing is old. There is nothing to do.',
};

/** The flows go on: only single records wait. */
function someWait(report: HealthReport): Headline | null {
  if (report.holds.length === 0) return null;
  return { tone: 'wait', word: 'some wait', says: sayHolds(report) };
}

function sayHolds(report: HealthReport): string {
  const [oldest, ...others] = holdGroups(report).toSorted((one, other) => Number(one.partial) - Number(other.partial));
  if (oldest === undefined) return '';
  const scopes = oldest.waiting.map(({ scope }) => scope).join(' and ');
  const more = others.length === 0 ? '' : `, and ${counted(others.length, 'other cause')}`;
  const meanwhile = oldest.partial ? 'Other records go on; nothing is lost meanwhile.' : 'Nothing is lost meanwhile.';
  return `${oldest.cause} for ${spell(oldest.ageMs)}: ${scopes}${more}. ${meanwhile}`;
}

function keptBack({ gates }: HealthReport): Headline | null {
  const gate = gates.find(({ breaker, pausedForMs }) => breaker.state !== 'closed' || (pausedForMs ?? 0) > 0);
  if (gate === undefined) return null;
  return { tone: 'wait', word: 'kept back', says: `Calls of ${gate.flow} are kept back: see the gates.` };
}

function behind({ partitions }: HealthReport): Headline | null {
  const oldestMs = Math.max(0, ...partitions.map(({ oldestUnfinishedAgeMs }) => oldestUnfinishedAgeMs ?? 0));
  if (oldestMs < OLD_MS) return null;
  const left = partitions.reduce((sum, { lag }) => sum + BigInt(lag), 0n);
  const says = `It works and is behind: the oldest record in work is ${spell(oldestMs)} old, ${grouped(left)} are not committed.`;
  return { tone: 'wait', word: 'behind', says };
}
