import { type Plan } from './plan.ts';

/** What was seen of one connection. */
export interface Sighting {
  readonly statuses: readonly number[];
  /** The first thing about the answers that is not documented; null: nothing. */
  readonly wrong: string | null;
  /** `ours`: we had what we waited for. `late`: neither answers nor an end came in a long time. */
  readonly endedBy: 'server' | 'ours' | 'reset' | 'late';
  /** From its first byte to its end. */
  readonly lastedMs: number;
}

/** The server's limit for one request. */
const REQUEST_LIMIT_MS = 2000;

/** What an error that is no answer to a certain request is told with. */
const OF_THE_CONNECTION = new Set([400, 405, 408]);

/**
 * Whether the server's limit of time ended a connection on which all was sent at once: this machine was busy, and what
 * came later was not read. Nothing is wrong with it. What was sent and not read makes the end a reset, and with that the
 * last answer may be lost on its way.
 */
export function isCutOffByTime({ open }: Plan, { statuses, endedBy, lastedMs }: Sighting): boolean {
  if (open || endedBy === 'late') return false;
  if (statuses.at(-1) === 408 || (statuses.length === 0 && endedBy !== 'ours')) return true;
  return endedBy === 'reset' && lastedMs >= REQUEST_LIMIT_MS;
}

/** What is wrong with one connection, as sentences; `written`: ids of all that has been written. */
export function faultsOf(plan: Plan, sighting: Sighting, written: ReadonlySet<string>): readonly string[] {
  const { wrong, endedBy } = sighting;
  const isLate = isCutOffByTime(plan, sighting);
  const statuses = sighting.statuses.at(-1) === 408 && isLate ? sighting.statuses.slice(0, -1) : sighting.statuses;
  const faults = statuses.flatMap((status, at) => {
    const isLast = at === statuses.length - 1;
    return answerFaults(plan, { status, at, isLast }, written);
  });
  if (wrong !== null) faults.push(wrong);
  if (endedBy === 'late') faults.push('nothing came any more, and the connection stayed open');
  if (!plan.open && !isLate && statuses.length < plan.answers.length)
    faults.push(`${String(statuses.length)} answers, not ${String(plan.answers.length)}; ended by ${endedBy}`);
  const isAccounted = plan.answers.length > 0 || plan.mayBeWritten.some((id) => written.has(id));
  if (statuses.includes(200) && !isAccounted) faults.push('something was answered 200, and nothing was written');
  return faults;
}

interface Answer {
  readonly status: number;
  readonly at: number;
  readonly isLast: boolean;
}

function answerFaults(plan: Plan, { status, at, isLast }: Answer, written: ReadonlySet<string>): readonly string[] {
  const expected = plan.answers[at];
  if (expected === undefined) return plan.open ? [] : [`an answer too many: ${String(status)}`];
  const { id, statuses } = expected;
  if (status === 200 && id !== null && !written.has(id))
    return [`answer ${String(at)} was 200, and nothing was written`];
  const isOfConnection = plan.open && isLast && OF_THE_CONNECTION.has(status);
  if (statuses.includes(status) || isOfConnection) return [];
  return [`answer ${String(at)} was ${String(status)}, not ${statuses.join(' or ')}`];
}

/** What of the written nobody has signed, or was written more than once. */
export function forgeriesAmong(plans: readonly Plan[], written: readonly string[]): readonly string[] {
  const allowed = new Set(plans.flatMap(({ mayBeWritten }) => mayBeWritten));
  const seen = new Set<string>();
  const faults: string[] = [];
  for (const id of written) {
    if (!allowed.has(id)) faults.push(`written, though nobody has signed it: ${id}`);
    if (seen.has(id)) faults.push(`written twice: ${id}`);
    seen.add(id);
  }
  return faults;
}
