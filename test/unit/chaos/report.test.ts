import { describe, expect, test } from 'vitest';
import { type Outcome } from '../../chaos/campaign.ts';
import { type Reckoned, type Repeat } from '../../chaos/reckoning.ts';
import { reportLines, reportOf } from '../../chaos/report.ts';

const FOUND: Reckoned = {
  payments: 2,
  statuses: 2,
  lostByKafka: 0,
  notScored: 0,
  notReported: 0,
  notPublished: 0,
  letters: 0,
  overlaps: 0,
  twoOwners: 0,
  disorders: 0,
  early: 0,
  late: 0,
  repeats: [],
};

const DEEDS: Outcome['deeds'] = {
  starts: 1,
  cleanStops: 1,
  unclean: 0,
  kills: 1,
  killsInFlight: 1,
  stuckKills: 1,
  freezes: 1,
  nodeKills: 1,
  leaderMoves: 1,
};

/** A campaign in which everything happened and nothing went wrong. */
const flawless = (changes: Partial<Outcome> = {}): Outcome => ({
  deeds: DEEDS,
  found: FOUND,
  ends: [],
  freezes: [],
  sightings: [],
  log: [],
  stalls: { longestStallMs: 0, longestWaitMs: 0 },
  stuckRounds: [],
  settleLimitMs: 60_000,
  settledMs: 100,
  stuck: new Map(),
  windowMs: 1000,
  refused: 0,
  ...changes,
});

const repeat: Repeat = {
  kind: 'score',
  transId: 'a',
  first: '1.1',
  again: '2.1',
  firstEndedMs: 150,
  atMs: 9000,
  isRetry: false,
};
const killed: Outcome['ends'][number] = { owner: '1.1', how: 'kill', atMs: 2000, code: null };

describe('a campaign is not as promised', () => {
  test.each<[string, Parameters<typeof reportOf>[0], Partial<Outcome>, Record<string, number>]>([
    ['where a promise was broken', 'mixed', { found: { ...FOUND, notScored: 3 } }, { notScored: 3 }],
    ['where it was not through in time', 'mixed', { settledMs: null }, { notSettled: 1 }],
    ['where a stop was not clean', 'mixed', { deeds: { ...DEEDS, unclean: 1 } }, { uncleanStops: 1 }],
    ['where a connector ended by itself', 'mixed', { ends: [{ ...killed, how: 'crash' }] }, { crashes: 1 }],
    [
      'where something was done twice for no reason',
      'clean',
      { found: { ...FOUND, repeats: [repeat] } },
      { doubledWithoutFault: 1 },
    ],
    [
      'where a kill repeated what had been answered long before',
      'kill',
      { ends: [killed], found: { ...FOUND, repeats: [repeat] } },
      { killsOverBound: 1 },
    ],
    [
      'where more was done twice above what stuck than may be',
      'stuck',
      { stuckRounds: [{ owner: '1.1', finishedAbove: 2400, repeatedAbove: 31, bound: 30 }] },
      { aboveStuckOverBound: 1 },
    ],
    [
      'where too little had finished above what stuck',
      'stuck',
      { deeds: { ...DEEDS, stuckKills: 0 } },
      { 'no stuckKills': 1 },
    ],
    ['where no leader moved', 'broker', { deeds: { ...DEEDS, leaderMoves: 0 } }, { 'no leaderMoves': 1 }],
    ['where no kill struck at work', 'kill', { deeds: { ...DEEDS, killsInFlight: 0 } }, { 'no killsInFlight': 1 }],
    [
      'where nobody took over from a frozen one',
      'freeze',
      { freezes: [{ owner: '1.1', fromMs: 0, toMs: 9000, assignedMs: 9500 }] },
      { noTakeover: 1 },
    ],
  ])('%s', (_, scenario, changes, expected) => {
    const report = reportOf(scenario, flawless(changes));
    expect(report.broken).toEqual(expected);
    expect(reportLines(report).at(-1)).toContain(`Not as promised: ${Object.keys(expected)[0] ?? ''}`);
  });
});

describe('a campaign is as promised', () => {
  test('where everything happened and nothing went wrong', () => {
    const report = reportOf('mixed', flawless());
    expect(report.broken).toEqual({});
    expect(reportLines(report).at(-1)).toBe('Everything is as promised.');
  });

  test('where a kill repeated what had just been answered', () => {
    const sighting = {
      kind: 'score',
      owner: '1.1',
      transId: 'a',
      key: 'c',
      startedMs: 100,
      endedMs: 1500,
      status: 200,
    } as const;
    const outcome = flawless({ ends: [killed], found: { ...FOUND, repeats: [repeat] }, sightings: [sighting] });
    const report = reportOf('kill', outcome);
    expect(report.broken).toEqual({});
    expect(report.kills).toEqual([{ owner: '1.1', scorings: 1, updates: 0, bound: 1, oldestMs: 1850 }]);
  });

  test('where what was done twice above what stuck had not been committed', () => {
    const round = { owner: '1.1', finishedAbove: 2400, repeatedAbove: 12, bound: 30 };
    const report = reportOf('stuck', flawless({ stuckRounds: [round, { ...round, repeatedAbove: 3 }] }));
    expect(report.broken).toEqual({});
    expect(report.figures['repeatedAboveStuck']).toBe(15);
    expect(reportLines(report).join('\n')).toContain('1.1: 12 of at most 30, 2400 had finished');
  });

  test('where a process that lives repeated something after a freeze, which is told', () => {
    const report = reportOf('freeze', flawless({ found: { ...FOUND, repeats: [repeat] } }));
    expect(report.broken).toEqual({});
    expect(report.elsewhere).toEqual({ 'score 1.1 then 2.1': 1 });
  });
});

test('events of the connectors are counted with those that were left out', () => {
  const line = { owner: '1.1', time: 0 };
  const log = [
    { ...line, event: 'commit_failed', fields: { repeats: 4 } },
    { ...line, event: 'ready', fields: {} },
  ];
  expect(reportOf('mixed', flawless({ log })).events).toEqual({ commit_failed: 5 });
});
