import { describe, expect, test } from 'vitest';
import { broken, type Evidence, killBound, reckon, repeatsAfter, saidBound } from '../../chaos/reckoning.ts';
import { type DeadLetter, type Logged, type Sighting } from '../../chaos/sightings.ts';

const KEY = 'c1';

const logged = (transId: string, offset: number): Logged => ({
  topic: 'created',
  partition: 0,
  offset,
  key: KEY,
  transId,
  timestampMs: 0,
});

const LETTER: DeadLetter = { topic: 'created', partition: 0, offset: 0, reason: 'status_400', timestampMs: 0 };

const score = (transId: string, startedMs: number, changes: Partial<Sighting> = {}): Sighting => ({
  kind: 'score',
  owner: '1.1',
  transId,
  key: KEY,
  startedMs,
  endedMs: startedMs + 50,
  status: 200,
  ...changes,
});

const update = (transId: string, startedMs: number, changes: Partial<Sighting> = {}): Sighting =>
  score(transId, startedMs, { kind: 'sync', key: null, ...changes });

/** Two payments of one customer, both scored and reported as promised. */
const flawless = (): Evidence => ({
  topics: {
    created: [logged('a', 0), logged('b', 1)],
    authorized: [logged('a', 0), logged('b', 1)],
    scored: new Set(['a', 'b']),
    reviewed: new Set(),
    reviewRecords: 0,
    erased: [],
    unreadable: [],
    letters: [],
  },
  acknowledged: { payments: ['a', 'b'], statuses: ['a', 'b'] },
  sightings: [score('a', 0), score('b', 100), update('a', 200), update('b', 200)],
  freezes: [],
  sessionMs: 100,
  gaps: [],
});

const withSightings = (sightings: readonly Sighting[], changes: Partial<Evidence> = {}): Evidence => ({
  ...flawless(),
  ...changes,
  sightings: sightings.toSorted((one, other) => one.startedMs - other.startedMs),
});

const updates = [update('a', 900), update('b', 900)];

describe('the reckoning sees', () => {
  test('nothing where nothing is wrong', () => {
    const found = reckon(flawless());
    expect(broken(found)).toEqual({});
    expect(found).toMatchObject({ payments: 2, statuses: 2, repeats: [] });
  });

  test.each<[string, Evidence, Record<string, number>]>([
    ['a payment that was never asked about', withSightings([score('a', 0), ...updates]), { notScored: 1, early: 1 }],
    [
      'a payment whose answer was never taken',
      withSightings([score('a', 0), score('b', 100, { status: null }), ...updates]),
      { notScored: 1 },
    ],
    [
      'a status that was never reported',
      withSightings([score('a', 0), score('b', 100), update('a', 900)]),
      { notReported: 1 },
    ],
    [
      'a payment without a score record',
      { ...flawless(), topics: { ...flawless().topics, scored: new Set(['a']) } },
      { notPublished: 1 },
    ],
    ['letters', { ...flawless(), topics: { ...flawless().topics, letters: [LETTER, LETTER] } }, { letters: 2 }],
    [
      'a loss of the brokers',
      { ...flawless(), acknowledged: { payments: ['a', 'b', 'c'], statuses: ['a'] } },
      { lostByKafka: 1 },
    ],
    ['two payments of a customer at once', withSightings([score('a', 0), score('b', 49), ...updates]), { overlaps: 1 }],
    [
      'two lives at one customer at once',
      withSightings([score('a', 0), score('b', 49, { owner: '2.1' }), ...updates]),
      { overlaps: 1, twoOwners: 1 },
    ],
    [
      'two lives at one payment at once',
      withSightings([score('a', 0), score('a', 10, { owner: '2.1' }), score('b', 100), ...updates]),
      { twoOwners: 1 },
    ],
    [
      'two lives at one status at once',
      withSightings([score('a', 0), score('b', 100), ...updates, update('a', 910, { owner: '2.1' })]),
      { twoOwners: 1 },
    ],
    ['payments in another order', withSightings([score('b', 0), score('a', 100), ...updates]), { disorders: 1 }],
    [
      'a status before its payment',
      withSightings([score('a', 0), update('b', 60), score('b', 100), update('a', 900)]),
      { early: 1 },
    ],
  ])('%s', (_, evidence, expected) => {
    expect(broken(reckon(evidence))).toEqual(expected);
  });

  test('a request still open as one that is in the way', () => {
    const open = score('a', 0, { endedMs: null, status: null });
    expect(reckon(withSightings([open, score('b', 5000), ...updates])).overlaps).toBe(1);
  });

  describe.each<[string, Partial<Sighting>]>([
    ['was never answered', { endedMs: 400, status: null }],
    ['is still open', { endedMs: null, status: null }],
    ['was answered badly in the end', { endedMs: 400, status: 503 }],
  ])('a first try that %s', (_, changes) => {
    const first = score('a', 0, changes);
    const late = score('a', 310, { ...changes, endedMs: changes.endedMs ?? null });
    const again = score('a', 200);

    test('as none that is in the way, once another try has been answered', () => {
      const found = reckon(withSightings([first, again, score('b', 300), ...updates]));
      expect(found).toMatchObject({ overlaps: 0, ghosts: 1, met: [{ before: first, isGhost: true }] });
      expect(broken(found)).toEqual({});
    });

    test('as none that is in the way, where it came late', () => {
      const found = reckon(withSightings([again, score('b', 300), late, ...updates]));
      expect(found).toMatchObject({ overlaps: 0, ghosts: 1, met: [{ now: late, isGhost: true }] });
    });

    test.each<[string, Sighting]>([
      ['while the other try is open', score('a', 251)],
      ['where the other try was not answered well', score('a', 200, { status: 503 })],
      ['where the other try is of another life', score('a', 200, { owner: '0.1' })],
      ['where the other try came later', score('a', 350)],
    ])('as one that is in the way, %s', (__, other) => {
      const found = reckon(withSightings([first, other, score('b', 300), ...updates]));
      expect(found.overlaps).toBeGreaterThan(0);
    });

    test('not in place of one that is in the way beside it', () => {
      const third = score('c', 290);
      expect(reckon(withSightings([first, again, third, score('b', 300), ...updates]))).toMatchObject({ overlaps: 1 });
    });
  });

  test('two that were answered well as in the way, whatever else was tried', () => {
    const sightings = [score('a', 0), score('a', 200, { endedMs: 400 }), score('b', 300), ...updates];
    expect(reckon(withSightings(sightings))).toMatchObject({ overlaps: 1, ghosts: 0 });
  });

  test.each([
    ['before it was given its partitions anew', 300, 350, 1],
    ['after it was given its partitions anew', 300, 250, 0],
  ])('a late request of a life that woke, %s', (_, atMs, assignedMs, late) => {
    const freezes = [{ owner: '1.1', fromMs: 10, toMs: 200, assignedMs }];
    const sightings = [score('a', 0), score('a', 100, { owner: '2.1' }), score('b', atMs), ...updates];
    const found = reckon(withSightings(sightings, { freezes }));
    expect(found).toMatchObject({ late, lateOnes: late === 0 ? [] : [{ by: sightings[1], request: sightings[2] }] });
  });

  test('no late request where the others’ were on their way when it froze', () => {
    const freezes = [{ owner: '1.1', fromMs: 90, toMs: 200, assignedMs: null }];
    const sightings = [score('a', 0), score('a', 139, { owner: '2.1' }), score('b', 300), ...updates];
    expect(reckon(withSightings(sightings, { freezes })).late).toBe(0);
    const later = [score('a', 0), score('a', 141, { owner: '2.1' }), score('b', 300), ...updates];
    expect(reckon(withSightings(later, { freezes })).late).toBe(1);
  });

  test('no late request where nobody else had begun', () => {
    const freezes = [{ owner: '1.1', fromMs: 60, toMs: 200, assignedMs: null }];
    const sightings = [score('a', 0), score('b', 250), score('b', 350), ...updates];
    expect(reckon(withSightings(sightings, { freezes })).late).toBe(0);
  });
});

describe('repeats', () => {
  test('are requests beyond the records, told apart from retries', () => {
    const sightings = [
      score('a', 0, { status: null }),
      score('a', 100),
      score('a', 200, { owner: '2.1' }),
      score('b', 300),
      ...updates,
    ];
    const { repeats } = reckon(withSightings(sightings));
    expect(repeats).toMatchObject([
      { first: '1.1', again: '1.1', isRetry: true, firstEndedMs: null },
      { first: '1.1', again: '2.1', isRetry: false, firstEndedMs: 150 },
    ]);
  });

  test('are none where the producer wrote twice', () => {
    const { topics } = flawless();
    const twice = { ...topics, created: [logged('a', 0), logged('b', 1), logged('a', 2)] };
    const sightings = [score('a', 0), score('b', 100), score('a', 200), ...updates];
    expect(reckon(withSightings(sightings, { topics: twice })).repeats).toEqual([]);
  });

  test('come of the end of the life that asked first', () => {
    const sightings = [score('a', 0), score('b', 100), score('b', 300, { owner: '1.2' }), ...updates];
    const { repeats } = reckon(withSightings(sightings));
    const end = { owner: '1.1', how: 'kill', atMs: 140, code: null } as const;
    expect(repeatsAfter(end, repeats)).toHaveLength(1);
    expect(repeatsAfter({ ...end, atMs: 400 }, repeats)).toHaveLength(0);
    expect(repeatsAfter({ ...end, owner: '2.1' }, repeats)).toHaveLength(0);
  });

  test('are bounded by what was open or answered shortly before', () => {
    const end = { owner: '1.1', how: 'kill', atMs: 1000, code: null } as const;
    const sightings = [
      score('a', 500),
      score('b', 900),
      score('c', 980, { endedMs: null }),
      score('d', 990, { owner: '2.1' }),
    ];
    expect(killBound(end, sightings, 100)).toBe(2);
    expect(killBound(end, sightings, 600)).toBe(3);
  });

  test('or by what the connector said right before, and what has ended since', () => {
    const sightings = [score('a', 500), score('b', 901), score('c', 980, { endedMs: null })];
    const end = { owner: '1.1', how: 'kill', atMs: 1000, code: null } as const;
    expect(saidBound(end, sightings)).toBeNull();
    expect(saidBound({ ...end, said: { askedMs: 950, records: 40 } }, sightings)).toBe(42);
  });
});

describe('what nobody promises', () => {
  test('is the order of a customer whose records are in two partitions, because the topics grew', () => {
    const evidence = withSightings([score('b', 0), score('a', 20), ...updates]);
    expect(broken(reckon(evidence))).not.toEqual({});
    const [first, second] = evidence.topics.created;
    const created = [first!, { ...second!, partition: 7 }];
    const found = reckon({ ...evidence, topics: { ...evidence.topics, created } });
    expect([broken(found), found.movedCustomers]).toEqual([{}, 1]);
  });

  test('is anything of what a replay sends, beside what it is asked for', () => {
    const replayed = update('a', 10, { owner: '9.1' });
    const found = reckon(withSightings([...flawless().sightings, replayed]));
    expect([broken(found), found.repeats]).toEqual([{}, []]);
  });
});

describe('a payment that was deleted before it was read', () => {
  const erased = [logged('b', 1)];
  const withoutB = withSightings([score('a', 0), ...updates], {
    topics: { ...flawless().topics, scored: new Set(['a']), erased },
  });

  test('is owed no score where a connector has said what is missing', () => {
    const gaps = [{ topic: 'created', partition: 0, from: 1, to: 2 }] as const;
    expect(broken(reckon({ ...withoutB, gaps }))).toEqual({});
  });

  test.each([
    ['nothing was said', []],
    ['of another partition', [{ topic: 'created', partition: 3, from: 0, to: 9 }]],
    ['of what lies before it', [{ topic: 'created', partition: 0, from: 0, to: 1 }]],
  ] as const)('is a loss where %s', (_, gaps) => {
    expect(broken(reckon({ ...withoutB, gaps }))).toEqual({ unreportedGaps: 1 });
  });
});
