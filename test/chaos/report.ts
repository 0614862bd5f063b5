import { type Outcome } from './campaign.ts';
import { type Deeds } from './nemesis.ts';
import { broken, killBound, type Repeat, repeatsAfter } from './reckoning.ts';
import { type Scenario } from './schedule.ts';
import { type LifeEnd } from './sightings.ts';
import { type StuckRound } from './stuck.ts';

/** The repeats of one kill against what it may cause. */
export interface KillRound {
  readonly owner: string;
  readonly scorings: number;
  readonly updates: number;
  readonly bound: number;
  /** How long before the kill the oldest of them had been answered; 0: none had. */
  readonly oldestMs: number;
}

/** One campaign in figures. */
export interface Report {
  readonly scenario: Scenario;
  /** By promise, how often it was broken; empty: none. */
  readonly broken: Readonly<Record<string, number>>;
  readonly figures: Readonly<Record<string, number>>;
  readonly kills: readonly KillRound[];
  readonly stuckRounds: readonly StuckRound[];
  /** Repeats that no kill and no stop explains, by kind and the lives that asked before and again. */
  readonly elsewhere: Readonly<Record<string, number>>;
  /** Of the connectors' events, those that tell of faults and of what was done about them. */
  readonly events: Readonly<Record<string, number>>;
}

const TELLING = new Set([
  'partitions_assigned',
  'barrier_incomplete',
  'source_failed',
  'commit_failed',
  'hold_started',
  'offset_gap',
  'offset_map_ignored',
  'writer_retry',
  'flow_broken',
  'fatal',
]);

/** What must have happened for a campaign of a scenario to count. */
const MUST_HAPPEN: Readonly<Record<Scenario, readonly (keyof Deeds)[]>> = {
  clean: ['starts', 'cleanStops'],
  kill: ['kills', 'killsInFlight'],
  broker: ['nodeKills', 'leaderMoves'],
  freeze: ['freezes'],
  stuck: ['kills', 'killsInFlight', 'stuckKills'],
  mixed: ['kills', 'cleanStops', 'freezes', 'nodeKills', 'leaderMoves'],
  brief: ['kills', 'cleanStops', 'freezes', 'nodeKills', 'leaderMoves'],
};

/** The figures of a campaign, and which promises it found broken. */
export function reportOf(scenario: Scenario, outcome: Outcome): Report {
  const { deeds, found, ends, stalls, settledMs, sightings, windowMs, stuckRounds } = outcome;
  const read = found.repeats.filter(({ isRetry }) => !isRetry);
  const kills = ends
    .filter(({ how }) => how === 'kill')
    .map((end) => {
      const repeats = repeatsAfter(end, read);
      const oldestMs = Math.round(
        Math.max(0, ...repeats.map(({ firstEndedMs }) => end.atMs - (firstEndedMs ?? end.atMs))),
      );
      const { scorings, updates } = byKind(repeats);
      return { owner: end.owner, scorings, updates, bound: killBound(end, sightings, windowMs), oldestMs };
    });
  const explained = (how: LifeEnd['how']): readonly Repeat[] =>
    ends.filter((end) => end.how === how).flatMap((end) => repeatsAfter(end, read));
  const [afterKills, afterStops] = [explained('kill'), explained('stop')];
  const known = new Set([...afterKills, ...afterStops]);
  const elsewhere = read.filter((repeat) => !known.has(repeat));
  const { repeats: _, ...counts } = found;
  return {
    scenario,
    broken: {
      ...broken(found),
      ...mustBeNone('notSettled', settledMs === null ? 1 : 0),
      ...mustBeNone('crashes', ends.filter(({ how }) => how === 'crash').length),
      ...mustBeNone('uncleanStops', deeds.unclean),
      ...mustBeNone('doubledWithoutFault', scenario === 'clean' ? read.length : 0),
      ...mustBeNone('killsOverBound', kills.filter((kill) => kill.scorings + kill.updates > kill.bound).length),
      ...mustBeNone('aboveStuckOverBound', stuckRounds.filter((round) => round.repeatedAbove > round.bound).length),
      ...Object.fromEntries(MUST_HAPPEN[scenario].filter((deed) => deeds[deed] === 0).map((deed) => [`no ${deed}`, 1])),
      ...mustBeNone('noTakeover', scenario === 'freeze' ? outcome.freezes.length - takeovers(outcome) : 0),
    },
    figures: {
      ...deeds,
      ...counts,
      doubled: read.length,
      afterKills: afterKills.length,
      afterStops: afterStops.length,
      elsewhere: elsewhere.length,
      repeatedAboveStuck: stuckRounds.reduce((sum, { repeatedAbove }) => sum + repeatedAbove, 0),
      retries: found.repeats.length - read.length,
      refusedWrites: outcome.refused,
      takeovers: takeovers(outcome),
      longestStallMs: Math.round(stalls.longestStallMs),
      longestWaitMs: Math.round(stalls.longestWaitMs),
      settledMs: settledMs ?? outcome.settleLimitMs,
    },
    kills,
    stuckRounds,
    elsewhere: tally(elsewhere.map(({ kind, first, again }) => `${kind} ${first} then ${again}`)),
    events: eventsOf(outcome),
  };
}

/** Freezes during which another life was at work for a customer of the frozen one. */
function takeovers({ freezes, sightings }: Outcome): number {
  return freezes.filter(({ owner, fromMs, toMs }) => {
    const keys = new Set<string>();
    for (const { owner: asks, key, startedMs } of sightings) {
      if (key === null) continue;
      if (asks === owner && startedMs < fromMs) keys.add(key);
      else if (asks !== owner && startedMs > fromMs && startedMs < toMs && keys.has(key)) return true;
    }
    return false;
  }).length;
}

function eventsOf({ log }: Outcome): Record<string, number> {
  const told = log.filter(({ event }) => TELLING.has(event));
  return tally(told.flatMap(({ event, fields }) => Array<string>(1 + Number(fields['repeats'] ?? 0)).fill(event)));
}

function tally(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function byKind(repeats: readonly Repeat[]): Pick<KillRound, 'scorings' | 'updates'> {
  const scorings = repeats.filter(({ kind }) => kind === 'score').length;
  return { scorings, updates: repeats.length - scorings };
}

function mustBeNone(promise: string, times: number): Record<string, number> {
  return times > 0 ? { [promise]: times } : {};
}

/** The report as lines for people. */
export function reportLines({
  scenario,
  broken: breaks,
  figures,
  kills,
  stuckRounds,
  elsewhere,
  events,
}: Report): readonly string[] {
  const rows = Object.entries(figures).map(([name, value]) => `  ${name.padEnd(18)} ${String(value).padStart(8)}`);
  const rounds = kills.map(
    ({ owner, scorings, updates, bound, oldestMs }) =>
      `${owner}: ${String(scorings)} + ${String(updates)} of at most ${String(bound)}, oldest ${String(oldestMs)} ms`,
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
