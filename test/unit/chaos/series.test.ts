import { describe, expect, test } from 'vitest';
import { readArguments } from '../../chaos/arguments.ts';
import { SCENARIOS } from '../../chaos/schedule.ts';
import { flagsOf, nameOfRun, nextRun, SERIES } from '../../chaos/series.ts';
import { type RunReport, summaryLines, summaryOf } from '../../chaos/series-summary.ts';

describe('the series', () => {
  test('has every scenario but those for tests, each run under a name of its own', () => {
    const scenarios = new Set(SERIES.map(({ scenario }) => scenario));
    expect(SCENARIOS.filter((scenario) => !scenarios.has(scenario))).toEqual(['brief', 'slice']);
    expect(new Set(SERIES.map(nameOfRun)).size).toBe(SERIES.length);
  });

  test('lasts for more than an hour and a half', () => {
    expect(SERIES.reduce((sum, { minutes }) => sum + minutes, 0)).toBeGreaterThanOrEqual(100);
  });

  test.each(SERIES.map((run) => [nameOfRun(run), run] as const))('%s: its flags are understood', (_, run) => {
    expect(readArguments(flagsOf(run), 0)).toMatchObject(run);
  });

  test('goes on with the first run that has no result and ends in time', () => {
    const usual = { connectors: 3, rate: 80 };
    const long = { ...usual, scenario: 'mixed', minutes: 10, seed: 1 } as const;
    const short = { ...usual, scenario: 'kill', minutes: 2, seed: 2 } as const;
    const next = (done: string[], leftMinutes: number): string | null => {
      const run = nextRun([long, short], { done: new Set(done), leftMinutes });
      return run === null ? null : nameOfRun(run);
    };
    expect(next([], 15)).toBe('mixed-1');
    expect(next(['mixed-1'], 15)).toBe('kill-2');
    expect(next([], 11)).toBe('kill-2');
    expect(next([], 3)).toBeNull();
    expect(next(['mixed-1', 'kill-2'], 60)).toBeNull();
  });
});

const kill = { owner: '1.1', scorings: 10, updates: 5, bound: 30, isExact: true, oldestMs: 200 };
const report = (changes: Partial<RunReport> = {}): RunReport => ({
  scenario: 'mixed',
  broken: {},
  figures: {
    seconds: 90,
    kills: 2,
    cleanStops: 3,
    freezes: 1,
    nodeKills: 2,
    coordinatorKills: 1,
    'wire to node cut': 2,
    'ill slow': 1,
    floods: 1,
    forgedWebhooks: 500,
    payments: 100,
    statuses: 90,
    webhooks: 10,
    afterKills: 15,
    longestStallMs: 4000,
    settledMs: 2000,
    peakMegabytes: 200,
  },
  kills: [kill, { ...kill, scorings: 0, updates: 0 }],
  stuckRounds: [],
  slopes: [],
  ...changes,
});

describe('the summary', () => {
  test('adds up what happened, and takes the worst of times', () => {
    const worse = report({ figures: { ...report().figures, longestStallMs: 9000, settledMs: 1000 } });
    const { total } = summaryOf(
      new Map([
        ['mixed-1', report()],
        ['mixed-2', worse],
      ]),
    );
    expect(total).toMatchObject({ minutes: 3, processRounds: 12, brokerRounds: 6, otherRounds: 8, payments: 200 });
    expect(total).toMatchObject({ worstStallMs: 9000, throughMs: 2000, peakMegabytes: 200, red: 0, lost: 0 });
  });

  test.each([
    ['notScored', 'lost'],
    ['notReported', 'lost'],
    ['notPublished', 'lost'],
    ['notKept', 'lost'],
    ['notDelivered', 'lost'],
    ['lostByKafka', 'lost'],
    ['overlaps', 'reordered'],
    ['twoOwners', 'reordered'],
    ['disorders', 'reordered'],
    ['late', 'reordered'],
    ['early', 'early'],
    ['unauthenticated', 'unauthenticated'],
  ] as const)('counts %s as %s, and its run as red', (figure, column) => {
    const red = report({ figures: { ...report().figures, [figure]: 4 }, broken: { [figure]: 4 } });
    const summary = summaryOf(new Map([['mixed-1', red]]));
    expect(summary.total).toMatchObject({ [column]: 4, red: 1 });
    expect(summaryLines(summary).join('\n')).toContain(`| ${figure} |`);
  });

  test('says how the repeats of kills are spread, and what share of an exact bound they are', () => {
    const killOf = (scorings: number): typeof kill => ({ ...kill, scorings, updates: 0, bound: 50 });
    const kills = [5, 10, 20, 40].map(killOf);
    const wide = { ...kill, scorings: 2701, updates: 0, bound: 2700, isExact: false };
    const { doubledByKills } = summaryOf(new Map([['mixed-1', report({ kills: [...kills, wide] })]]));
    expect(doubledByKills).toEqual({
      kills: 5,
      exact: 4,
      overBound: 1,
      median: 20,
      ninth: 2701,
      most: 2701,
      medianShare: 0.2,
      mostShare: 0.8,
    });
  });

  test('names the processes whose handles rose', () => {
    const trend = { perMinute: 9, atEnd: 300 };
    const memory = { residentMegabytes: trend, heapMegabytes: trend, files: trend, sockets: trend };
    const slope = { owner: '2.1', minutes: 10, ...memory, isRising: true };
    const summary = summaryOf(new Map([['soak-7', report({ slopes: [slope] })]]));
    expect(summaryLines(summary).at(-1)).toBe('Handles rose: soak-7 2.1.');
    expect(summaryLines(summaryOf(new Map())).at(-1)).toBe('No process opened more and more.');
  });
});
