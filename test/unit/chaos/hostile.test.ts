import { describe, expect, test } from 'vitest';
import {
  delaysOf,
  type GoodDelays,
  goodOnly,
  longerBy,
  memoryRiseOf,
  oddEndsOf,
  slowerOf,
} from '../../chaos/hostile.ts';
import { broken, type Evidence, reckon } from '../../chaos/reckoning.ts';
import { type DeadLetter, type Logged, type Sighting } from '../../chaos/sightings.ts';
import { type Vitals } from '../../chaos/vitals.ts';

const ORIGIN_MS = 1_000_000;

const logged = (topic: 'created' | 'authorized', transId: string, offset: number): Logged => ({
  topic,
  partition: 0,
  offset,
  key: `key of ${transId}`,
  transId,
  timestampMs: ORIGIN_MS,
});

const asked = (kind: Sighting['kind'], transId: string, startedMs: number, status: number | null = 200): Sighting => ({
  kind,
  owner: '1.1',
  transId,
  key: kind === 'score' ? `key of ${transId}` : null,
  startedMs,
  endedMs: startedMs + 50,
  status,
});

const letterOf = ({ topic, partition, offset }: Logged, reason: string): DeadLetter => ({
  topic,
  partition,
  offset,
  reason,
  timestampMs: ORIGIN_MS + 30_000,
});

const CREATED = ['good', 'odd-403-1', 'odd-200.bom-2', 'odd-aborted-1'].map((id, at) => logged('created', id, at));
const AUTHORIZED = ['good', 'odd-403-1', 'odd-200.bom-2'].map((id, at) => logged('authorized', id, at));
const [, REFUSED = logged('created', '', 0)] = CREATED;
const [, REFUSED_UPDATE = logged('authorized', '', 0)] = AUTHORIZED;
const UNREADABLE = logged('created', '', 9);

/** A good payment, one that is refused, one that is scored in an odd way, one that was aborted, and one that nobody can read. */
const flawless = (): Evidence => ({
  topics: {
    created: CREATED,
    authorized: AUTHORIZED,
    scored: new Set(['good', 'odd-200.bom-2']),
    reviewed: new Set(),
    reviewRecords: 0,
    erased: [],
    unreadable: [{ topic: 'created', partition: 0, offset: 9 }],
    letters: [
      letterOf(REFUSED, 'status_403'),
      letterOf(REFUSED_UPDATE, 'status_403'),
      letterOf(UNREADABLE, 'undecodable'),
    ],
  },
  acknowledged: { payments: ['good', 'odd-403-1', 'odd-200.bom-2'], statuses: ['good', 'odd-403-1', 'odd-200.bom-2'] },
  sightings: [
    asked('score', 'good', 0),
    asked('score', 'odd-403-1', 10, 403),
    asked('score', 'odd-200.bom-2', 20),
    asked('sync', 'odd-403-1', 100, 403),
    asked('sync', 'good', 100, 403),
    asked('sync', 'good', 200),
    asked('sync', 'odd-200.bom-2', 200),
  ],
  freezes: [],
  sessionMs: 100,
  gaps: [],
});

const withTopics = (changes: Partial<Evidence['topics']>): Evidence => ({
  ...flawless(),
  topics: { ...flawless().topics, ...changes },
});

const letters = (...kept: readonly number[]): Evidence =>
  withTopics({ letters: flawless().topics.letters.filter((_, index) => kept.includes(index)) });

describe('good records', () => {
  test('are judged as if the odd ones had not been there', () => {
    const found = reckon(goodOnly(flawless()));
    expect(broken(found)).toEqual({});
    expect(found).toMatchObject({ payments: 1, statuses: 1 });
  });

  test('are not judged by what is asked about odd ones', () => {
    const other: Sighting = { ...asked('score', 'odd-after-1', 15, null), key: 'key of odd-403-1', owner: '2.1' };
    const sightings = [...flawless().sightings, other].toSorted((one, next) => one.startedMs - next.startedMs);
    expect(broken(reckon({ ...flawless(), sightings }))).toHaveProperty('twoOwners');
    expect(broken(reckon(goodOnly({ ...flawless(), sightings })))).toEqual({});
  });

  test('that share a batch with an odd one and were refused with it must be accepted later', () => {
    const { sightings } = flawless();
    const lost = { ...flawless(), sightings: sightings.filter(({ startedMs }) => startedMs !== 200) };
    expect(broken(reckon(goodOnly(lost)))).toEqual({ notReported: 1 });
  });

  test.each<[string, Evidence, Record<string, number>]>([
    ['scored, and its score is nowhere', withTopics({ scored: new Set(['odd-200.bom-2']) }), { notPublished: 1 }],
    [
      'a dead letter that nothing deserves',
      withTopics({ letters: [...flawless().topics.letters, letterOf(logged('created', 'good', 0), 'status_403')] }),
      { letters: 1 },
    ],
    [
      'a dead letter of a webhook',
      withTopics({
        letters: [{ topic: 'webhook', partition: Number.NaN, offset: Number.NaN, reason: 'x', timestampMs: 0 }],
      }),
      { letters: 1 },
    ],
    [
      'never asked about',
      {
        ...flawless(),
        sightings: flawless().sightings.filter(({ kind, transId }) => kind === 'sync' || isOther(transId)),
      },
      { notScored: 1, early: 1 },
    ],
  ])('are lost: %s', (_, evidence, found) => {
    expect(broken(reckon(goodOnly(evidence)))).toEqual(found);
  });
});

const isOther = (transId: string): boolean => transId !== 'good';

describe('odd records', () => {
  test('have ended by a score, a good answer or a dead letter; those of aborted transactions need none', () => {
    expect(oddEndsOf(flawless())).toEqual({
      records: 5,
      deadLetters: 3,
      open: {},
      abortedAsked: 0,
      slowestMs: 30_000,
    });
  });

  test.each<[string, Evidence, Record<string, number>]>([
    ['a payment', letters(1, 2), { '403': 1 }],
    ['an update', letters(0, 2), { '403': 1 }],
    ['what nobody can read', letters(0, 1), { unreadable: 1 }],
    ['a payment that was answered oddly', withTopics({ scored: new Set(['good']) }), { '200.bom': 1 }],
  ])('are open: %s', (_, evidence, open) => {
    expect(oddEndsOf(evidence).open).toEqual(open);
  });

  test('have not ended by a dead letter of another partition or topic', () => {
    const elsewhere = { ...letterOf(REFUSED, 'status_403'), partition: 7 };
    expect(oddEndsOf(withTopics({ letters: [elsewhere] })).open).toEqual({ '403': 2, unreadable: 1 });
  });

  test('of aborted transactions are nobody to ask about', () => {
    const sightings = [...flawless().sightings, asked('score', 'odd-aborted-1', 500)];
    expect(oddEndsOf({ ...flawless(), sightings }).abortedAsked).toBe(1);
  });
});

const took = (p99: number): GoodDelays['payments'] => ({ p50: 50, p90: 100, p99 });

describe('two runs', () => {
  test('are compared by the 99th percentile of each kind', () => {
    const without = { payments: took(1000), statuses: took(5000) };
    const beside = { payments: took(3500), statuses: took(4000) };
    expect(longerBy('payments', beside, without)).toBe(2500);
    expect(longerBy('statuses', beside, without)).toBe(0);
    expect(longerBy('payments', beside, null)).toBe(Infinity);
  });

  test('without odd records count by the slower one', () => {
    const one = { payments: took(1000), statuses: took(5000) };
    const other = { payments: took(2000), statuses: took(4000) };
    expect(slowerOf(one, other)).toEqual({ payments: took(2000), statuses: took(5000) });
  });
});

/** Of a thousand payments, the first twenty are very late. */
const delayMs = (index: number): number => (index < 20 ? 9000 : index < 150 ? 500 : 50);

describe('delays', () => {
  test('are those of good records, until the first answer of success', () => {
    const { payments, statuses } = delaysOf(flawless(), ORIGIN_MS);
    expect(payments).toEqual({ p50: 50, p90: 50, p99: 50 });
    expect(statuses).toEqual({ p50: 250, p90: 250, p99: 250 });
  });

  test('show the few that were late', () => {
    const ids = Array.from({ length: 1000 }, (_, index) => `t-${String(index)}`);
    const evidence: Evidence = {
      ...withTopics({ created: ids.map((id, at) => logged('created', id, at)) }),
      sightings: ids.map((id, index) => asked('score', id, delayMs(index))),
    };
    expect(delaysOf(evidence, ORIGIN_MS).payments).toEqual({ p50: 100, p90: 550, p99: 9050 });
  });
});

const look = (atMs: number, residentBytes: number, owner = '1.1'): Vitals => ({
  owner,
  atMs,
  residentBytes,
  heapBytes: null,
  files: 0,
  sockets: 0,
  pooled: 0,
});

const looks = (bytesAt: (atMs: number) => number): readonly Vitals[] =>
  Array.from({ length: 20 }, (_, index) => look(index * 5000, bytesAt(index * 5000)));

describe('memory', () => {
  const SPAN = { startedMs: 0, calmMs: 100_000 };

  test('that stays where it was has not risen, whatever a record takes for a moment', () => {
    expect(
      memoryRiseOf(
        looks((atMs) => (atMs === 70_000 ? 600 : 200)),
        SPAN,
      ),
    ).toBe(0);
  });

  test('that grows has risen', () => {
    expect(
      memoryRiseOf(
        looks((atMs) => 200 + atMs / 100),
        SPAN,
      ),
    ).toBe(500);
  });

  test('is looked at while there is traffic', () => {
    const before = look(-5000, 900);
    const after = look(200_000, 900);
    expect(memoryRiseOf([before, ...looks(() => 200), after], SPAN)).toBe(0);
  });
});
