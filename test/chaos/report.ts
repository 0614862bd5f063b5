import { type Outcome } from './campaign.ts';
import { type Check, checksOf, explainedBy, type KillRound, killRounds, takeovers } from './checks.ts';
import { type Delays, type GoodDelays } from './hostile.ts';
import { type Lateness, type Meeting } from './reckoning.ts';
import { type Scenario } from './schedule.ts';
import { type Slope, slopeLines } from './slopes.ts';
import { type StuckRound } from './stuck.ts';

/** One campaign in figures. */
export interface Report {
  readonly scenario: Scenario;
  readonly checks: readonly Check[];
  /** By promise, how often it was broken; empty: none. */
  readonly broken: Readonly<Record<string, number>>;
  readonly figures: Readonly<Record<string, number>>;
  /** The first payments that met another one of their customer at the service. */
  readonly met: readonly Meeting[];
  /** The first requests of processes that woke too late. */
  readonly lateOnes: readonly Lateness[];
  readonly kills: readonly KillRound[];
  readonly stuckRounds: readonly StuckRound[];
  readonly slopes: readonly Slope[];
  /** Repeats that no kill and no stop explains, by kind and the lives that asked before and again. */
  readonly elsewhere: Readonly<Record<string, number>>;
  /** Of the connectors' events, those that tell of faults and of what was done about them. */
  readonly events: Readonly<Record<string, number>>;
}

/** Events that tell of faults and of what was done about them. */
const TELLING: ReadonlySet<string> = new Set([
  'partitions_assigned',
  'barrier_incomplete',
  'source_failed',
  'commit_failed',
  'hold_started',
  'offset_gap',
  'offset_map_ignored',
  'writer_retry',
  'flow_broken',
  'login',
  'fatal',
]);

/** The figures of a campaign, and which promises it found broken. */
export function reportOf(scenario: Scenario, outcome: Outcome): Report {
  const { deeds, found, mail, stalls, settledMs, stuckRounds } = outcome;
  const read = found.repeats.filter(({ isRetry }) => !isRetry);
  const [afterKills, afterStops] = [explainedBy('kill', outcome), explainedBy('stop', outcome)];
  const known = new Set([...afterKills, ...afterStops]);
  const elsewhere = read.filter((repeat) => !known.has(repeat));
  const { repeats: _, met, lateOnes, ...counts } = found;
  const checks = checksOf(scenario, outcome);
  return {
    scenario,
    checks,
    broken: Object.fromEntries(
      checks.filter(({ isBroken }) => isBroken).map(({ name, found: times }) => [name, times]),
    ),
    figures: {
      ...deeds,
      ...Object.fromEntries(outcome.recoveries.map(({ name, times }) => [name, times])),
      ...counts,
      ...mail,
      forgedRefused: outcome.forgedRefused,
      doubled: read.length,
      afterKills: afterKills.length,
      afterStops: afterStops.length,
      elsewhere: elsewhere.length,
      repeatedAboveStuck: stuckRounds.reduce((sum, { repeatedAbove }) => sum + repeatedAbove, 0),
      retries: found.repeats.length - read.length,
      refusedWrites: outcome.refused,
      takeovers: takeovers(outcome),
      ...delayFigures(outcome),
      longestStallMs: Math.round(stalls.longestStallMs),
      longestWaitMs: Math.round(stalls.longestWaitMs),
      peakMegabytes: Math.round(outcome.peakBytes / 1_048_576),
      settledMs: settledMs ?? outcome.settleLimitMs,
      probeMs: outcome.probeMs ?? 0,
      seconds: Math.round((outcome.span.endMs - outcome.span.startedMs) / 1000),
    },
    met,
    lateOnes,
    slopes: outcome.slopes,
    kills: killRounds(scenario, outcome),
    stuckRounds,
    elsewhere: tally(elsewhere.map(({ kind, first, again }) => `${kind} ${first} then ${again}`)),
    events: eventsOf(outcome),
  };
}

function named(name: string, of: GoodDelays | null): readonly (readonly [string, number])[] {
  return Object.entries(of ?? {}).flatMap(([kind, { p50, p90, p99 }]: [string, Delays]) =>
    Object.entries({ p50, p90, p99 }).map(
      ([quantile, ms]) => [`${kind}${name} ${quantile} ms`, Math.round(ms)] as const,
    ),
  );
}

function delayFigures({ delays, without, odd, memoryRise }: Outcome): Record<string, number> {
  return {
    ...Object.fromEntries([...named('', delays), ...named('Without', without)]),
    ...(without === null
      ? {}
      : {
          oddRecordsInTopics: odd.records,
          oddDeadLetters: odd.deadLetters,
          oddSlowestMs: odd.slowestMs,
          memoryRiseMegabytes: Math.round(memoryRise / 1_048_576),
          ...Object.fromEntries(Object.entries(odd.open).map(([kind, count]) => [`odd open: ${kind}`, count])),
        }),
  };
}

function eventsOf({ log }: Outcome): Record<string, number> {
  const told = log.filter(({ event }) => TELLING.has(event));
  return tally(
    told.flatMap(({ event, fields }) => Array<string>(1 + Number(fields['repeats'] ?? 0)).fill(nameOf(event, fields))),
  );
}

/** A hold by its cause, a login by its result. */
function nameOf(event: string, fields: Readonly<Record<string, unknown>>): string {
  const more = fields['cause'] ?? fields['result'] ?? fields['why'];
  return typeof more === 'string' ? `${event} ${more}` : event;
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** The report as lines for people. */
export function reportLines({
  scenario,
  broken: breaks,
  figures,
  kills,
  stuckRounds,
  slopes,
  elsewhere,
  events,
}: Report): readonly string[] {
  const rows = Object.entries(figures).map(([name, value]) => `  ${name.padEnd(30)} ${String(value).padStart(8)}`);
  const rounds = kills.map(
    ({ owner, scorings, updates, bound, isExact, oldestMs }) =>
      `${owner}: ${String(scorings)} + ${String(updates)} of at most ${String(bound)}${isExact ? '' : ' (commits kept back)'}, oldest ${String(oldestMs)} ms`,
  );
  const stuck = stuckRounds.map(
    ({ owner, finishedAbove, repeatedAbove, bound }) =>
      `${owner}: ${String(repeatedAbove)} of at most ${String(bound)}, ${String(finishedAbove)} had finished`,
  );
  return [
    '',
    `Scenario ${scenario}:`,
    ...rows,
    ...(rounds.length === 0 ? [] : [`  repeated after each kill (scorings + updates): ${rounds.join('; ')}`]),
    ...(stuck.length === 0 ? [] : [`  repeated above what stuck, after its kill: ${stuck.join('; ')}`]),
    ...(slopes.length === 0 ? [] : [`  what each took up, and its second half: ${slopeLines(slopes).join('; ')}`]),
    ...(Object.keys(elsewhere).length === 0 ? [] : [`  repeated elsewhere: ${JSON.stringify(elsewhere)}`]),
    `  events of the connectors: ${JSON.stringify(events)}`,
    '',
    Object.keys(breaks).length === 0
      ? 'Everything is as promised.'
      : `Not as promised: ${Object.entries(breaks)
          .map(([name, times]) => `${name} ${String(times)}`)
          .join(', ')}.`,
  ];
}
