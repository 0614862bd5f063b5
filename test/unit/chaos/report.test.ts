import { describe, expect, test } from 'vitest';
import { type Outcome } from '../../chaos/campaign.ts';
import { reportPage } from '../../chaos/page.ts';
import { type Reckoned, type Repeat } from '../../chaos/reckoning.ts';
import { reportLines, reportOf } from '../../chaos/report.ts';

const FOUND: Reckoned = {
  payments: 2,
  movedCustomers: 0,
  statuses: 2,
  lostByKafka: 0,
  notScored: 0,
  notReported: 0,
  notPublished: 0,
  letters: 0,
  unreportedGaps: 0,
  overlaps: 0,
  ghosts: 0,
  met: [],
  twoOwners: 0,
  disorders: 0,
  early: 0,
  late: 0,
  lateOnes: [],
  repeats: [],
};

const PROMPT = { p50: 60, p90: 100, p99: 5000 };

const ODD: Outcome['odd'] = { records: 10, deadLetters: 9, open: {}, abortedAsked: 0, slowestMs: 30_000 };

/** What is looked at beside odd records, and changes of it. */
const beside = (changes: Partial<Outcome>): Partial<Outcome> => ({
  without: { payments: PROMPT, statuses: PROMPT },
  ...changes,
});

const DEEDS: Outcome['deeds'] = {
  starts: 1,
  cleanStops: 1,
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
  required: ['kills', 'killsInFlight', 'stuckKills', 'leaderMoves'],
  recoveries: [{ name: 'hold registry', times: 2 }],
  strokes: [],
  span: { startedMs: 0, calmMs: 20_000, endMs: 30_000 },
  mail: {
    webhooks: 10,
    forged: 5,
    reviewRecords: 10,
    notKept: 0,
    unauthenticated: 0,
    notDelivered: 0,
    reviewsTwice: 0,
  },
  forgedRefused: 5,
  logins: { atOnce: 0, mostAMinute: 1 },
  leaks: 0,
  alteredUpdates: 0,
  regressions: 0,
  notLive: 0,
  peakBytes: 100 * 1_048_576,
  slopes: [],
  samples: [],
  probeMs: 300,
  lagAtEnd: 0,
  found: FOUND,
  delays: { payments: PROMPT, statuses: PROMPT },
  odd: ODD,
  without: null,
  memoryRise: 0,
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
const killed: Outcome['ends'][number] = {
  owner: '1.1',
  how: 'kill',
  atMs: 2000,
  code: null,
  said: { askedMs: 2000, records: 0 },
};

const level = { perMinute: 0, atEnd: 40 };
const LEVEL: Outcome['slopes'][number] = {
  owner: '1.1',
  minutes: 10,
  residentMegabytes: { perMinute: 1.5, atEnd: 180 },
  heapMegabytes: level,
  files: level,
  sockets: level,
  isRising: false,
};

describe('a campaign is not as promised', () => {
  test.each<[string, Parameters<typeof reportOf>[0], Partial<Outcome>, Record<string, number>]>([
    ['where a promise was broken', 'mixed', { found: { ...FOUND, notScored: 3 } }, { notScored: 3 }],
    ['where it was never through', 'mixed', { settledMs: null }, { notSettled: 1 }],
    ['where it was through too late', 'mixed', { settledMs: 60_001 }, { notSettled: 1 }],
    ['where a stop was not clean', 'mixed', { deeds: { ...DEEDS, uncleanStops: 1 } }, { uncleanStops: 1 }],
    [
      'where a way out of a fault was never taken',
      'mixed',
      { recoveries: [{ name: 'hold registry', times: 0 }] },
      { 'no hold registry': 1 },
    ],
    ['where an odd record has not ended', 'hostile', beside({ odd: { ...ODD, open: { '403': 2 } } }), { oddOpen: 2 }],
    [
      'where an aborted record was asked about',
      'hostile',
      beside({ odd: { ...ODD, abortedAsked: 1 } }),
      { abortedAsked: 1 },
    ],
    [
      'where good payments were late beside odd ones',
      'hostile',
      beside({ delays: { payments: { ...PROMPT, p99: 7001 }, statuses: PROMPT } }),
      { delayPayments: 2001 },
    ],
    [
      'where good statuses were late beside odd ones',
      'hostile',
      beside({ delays: { payments: PROMPT, statuses: { ...PROMPT, p99: 7001 } } }),
      { delayStatuses: 2001 },
    ],
    ['where memory has grown beside odd ones', 'hostile', beside({ memoryRise: 2e8 }), { memoryRise: 2e8 }],
    [
      'where there was nothing to compare with',
      'hostile',
      { odd: ODD, without: null },
      { delayPayments: Infinity, delayStatuses: Infinity },
    ],
    ['where the probe was not through', 'mixed', { probeMs: null, lagAtEnd: null }, { noProbe: 1 }],
    ['where something was left uncommitted', 'mixed', { lagAtEnd: 3 }, { lagAtEnd: 3 }],
    ['where a committed offset went back', 'mixed', { regressions: 1 }, { regressions: 1 }],
    ['where /livez was not 200', 'mixed', { notLive: 2 }, { notLive: 2 }],
    ['where a secret was printed', 'mixed', { leaks: 1 }, { leaks: 1 }],
    ['where another status was accepted', 'mixed', { alteredUpdates: 1 }, { alteredUpdates: 1 }],
    [
      'where a process logged in twice at once',
      'mixed',
      { logins: { atOnce: 1, mostAMinute: 2 } },
      { loginsAtOnce: 1 },
    ],
    ['where a process kept logging in', 'mixed', { logins: { atOnce: 0, mostAMinute: 60 } }, { loginsAMinute: 60 }],
    [
      'where a webhook was answered 200 and is not there',
      'mixed',
      { mail: { ...flawless().mail, notKept: 1 } },
      { notKept: 1 },
    ],
    [
      'where a forged webhook was accepted',
      'mixed',
      { mail: { ...flawless().mail, unauthenticated: 1 } },
      { unauthenticated: 1 },
    ],
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
      'where a kill repeated more than the connector had said',
      'kill',
      {
        ends: [{ ...killed, said: { askedMs: 2000, records: 1 } }],
        found: { ...FOUND, repeats: [repeat, { ...repeat, transId: 'other' }] },
      },
      { killsOverBound: 1 },
    ],
    [
      'where a kill repeated more than may be finished and not committed, whatever kept commits back',
      'all',
      {
        ends: [killed],
        found: { ...FOUND, repeats: Array.from({ length: 2701 }, () => ({ ...repeat })) },
        strokes: [{ target: 'nodes', what: 'kill_node', fromMs: 0, toMs: null }],
      },
      { killsOverBound: 1 },
    ],
    [
      'where a kill repeated what had been answered long before, although nothing kept commits back',
      'storm',
      {
        ends: [killed],
        found: { ...FOUND, repeats: [repeat] },
        strokes: [
          { target: 'connector 2', what: 'freeze', fromMs: 1000, toMs: 9000 },
          { target: 'nodes', what: 'kill_node', fromMs: -30_000, toMs: -14_000 },
          { target: 'nodes', what: 'kill_node', fromMs: 2001, toMs: null },
        ],
      },
      { killsOverBound: 1 },
    ],
    [
      'where a connector opened more and more',
      'soak',
      { slopes: [{ ...LEVEL, isRising: true }, LEVEL] },
      { risingHandles: 1 },
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
    ['where no record went to the partitions that were added', 'grown', {}, { 'no movedCustomers': 1 }],
    [
      'where nobody took over from a frozen one',
      'freeze',
      { freezes: [{ owner: '1.1', fromMs: 0, toMs: 9000, assignedMs: 9500 }] },
      { 'no takeover': 1 },
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

  test.each(['nodes', 'wires of 1', 'service', 'registry', 'topics'])(
    'where %s kept commits back before a kill',
    (target) => {
      const strokes = [{ target, what: 'something', fromMs: -20_000, toMs: -12_000 }];
      const outcome = flawless({ ends: [killed], found: { ...FOUND, repeats: [repeat] }, strokes });
      const report = reportOf('all', outcome);
      expect(report.broken).toEqual({});
      expect(report.kills).toMatchObject([{ isExact: false, bound: 2700 }]);
      expect(reportLines(report).join('\n')).toContain('1.1: 1 + 0 of at most 2700 (commits kept back)');
    },
  );

  test('where memory rises and handles do not, which is told', () => {
    const outcome = flawless({ slopes: [LEVEL] });
    const report = reportOf('soak', outcome);
    expect(report.broken).toEqual({});
    expect(reportLines(report).join('\n')).toContain('1.1, 10 min: memory 180 MB (+1.5 a minute)');
    expect(reportPage(report, outcome, 'npm run chaos')).toContain('180 (+1.5 a minute)');
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
    expect(report.kills).toEqual([{ owner: '1.1', scorings: 1, updates: 0, bound: 1, isExact: true, oldestMs: 1850 }]);
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
    { ...line, event: 'hold_started', fields: { cause: 'registry' } },
  ];
  expect(reportOf('mixed', flawless({ log })).events).toEqual({ commit_failed: 5, 'hold_started registry': 1 });
});

describe('the page', () => {
  test('says how to have the same faults again, and needs nothing beside itself', () => {
    const page = reportPage(reportOf('mixed', flawless()), flawless(), 'npm run chaos -- --seed 7 <&>');
    expect(page).toContain('Everything is as promised.');
    expect(page).toContain('npm run chaos -- --seed 7 &lt;&amp;&gt;');
    expect(page).not.toMatch(/<script|<link|src=|href=|url\(/);
  });

  test('names what was broken, and marks its row', () => {
    const outcome = flawless({ found: { ...FOUND, notScored: 3 } });
    const page = reportPage(reportOf('mixed', outcome), outcome, 'npm run chaos');
    expect(page).toContain('Not as promised: notScored.');
    expect(page).toMatch(/<tr class="broken"><td>every payment was scored<.td><td>notScored<.td><td class="number">3</);
  });
});
