import { describe, expect, test } from 'vitest';
import { type Repeat } from '../../chaos/reckoning.ts';
import { type LifeEnd, type Logged, type Sighting } from '../../chaos/sightings.ts';
import { finishedSince, type StuckRound, StuckPayment, stuckRoundOf } from '../../chaos/stuck.ts';
import { NO_FAULTS, type Faults } from '../../../src/sandbox/service/faults.ts';

const END: LifeEnd = { owner: '1.1', how: 'kill', atMs: 10_000, code: null };

const logged = (transId: string, offset: number, partition = 0): Logged => ({
  topic: 'created',
  partition,
  offset,
  key: `c-${transId}`,
  transId,
  timestampMs: 0,
});

const score = (transId: string, startedMs: number, changes: Partial<Sighting> = {}): Sighting => ({
  kind: 'score',
  owner: '1.1',
  transId,
  key: `c-${transId}`,
  startedMs,
  endedMs: startedMs + 50,
  status: 200,
  ...changes,
});

const update = (transId: string): Sighting => score(transId, 300, { kind: 'sync', key: null });

const repeat = (transId: string, changes: Partial<Repeat> = {}): Repeat => ({
  kind: 'score',
  transId,
  first: '1.1',
  again: '1.2',
  firstEndedMs: 150,
  atMs: 12_000,
  isRetry: false,
  ...changes,
});

/** `below` lies before the stuck one, `a` and `b` above it, `other` in another partition; all are finished. */
const CREATED = [logged('below', 0), logged('stuck', 1), logged('a', 2), logged('b', 3), logged('other', 9, 1)];
const SIGHTINGS = [
  score('below', 100),
  score('stuck', 200, { status: 503 }),
  score('a', 300),
  score('b', 9_940),
  score('other', 400),
];

const roundOf = (repeats: readonly Repeat[], sightings: readonly Sighting[] = SIGHTINGS): StuckRound =>
  stuckRoundOf(
    { transId: 'stuck', end: END },
    { topics: { created: CREATED, authorized: [] }, sightings, repeats, windowMs: 1000 },
  );

describe('the reckoning above a stuck payment', () => {
  test('sees what had long been finished and was asked for again', () => {
    expect(roundOf([repeat('a'), repeat('b')])).toEqual({
      owner: '1.1',
      finishedAbove: 2,
      repeatedAbove: 2,
      bound: 1,
    });
  });

  test('looks at nothing below it, at no other partition, and not at itself', () => {
    expect(roundOf([repeat('below'), repeat('stuck'), repeat('other')])).toMatchObject({ repeatedAbove: 0 });
  });

  test('counts only what the life that was killed had asked for', () => {
    expect(roundOf([repeat('a', { first: '2.1' }), repeat('b', { atMs: 9_000 })])).toMatchObject({ repeatedAbove: 0 });
  });

  test('counts status updates above its own', () => {
    const round = stuckRoundOf(
      { transId: 'stuck', end: END },
      {
        topics: { created: [], authorized: CREATED },
        sightings: [update('below'), update('a')],
        repeats: [repeat('a', { kind: 'sync' }), repeat('below', { kind: 'sync' }), repeat('a')],
        windowMs: 1000,
      },
    );
    expect(round).toEqual({ owner: '1.1', finishedAbove: 1, repeatedAbove: 1, bound: 0 });
  });

  test('takes nothing for finished that was at the service or had no good answer', () => {
    const sightings = [score('a', 300, { status: 503 }), score('b', 9_990, { endedMs: 10_040 })];
    expect(roundOf([], sightings)).toMatchObject({ finishedAbove: 0, bound: 1 });
  });
});

test('what has finished since is counted in the partition of the stuck payment only', () => {
  const stuck = score('stuck', 200, { status: 503 });
  expect(finishedSince(stuck, SIGHTINGS, (key) => (key === 'c-other' ? 1 : 0))).toBe(2);
});

/** The service's faults, and what each payment met that came to it. */
const door = (): {
  readonly stuck: StuckPayment;
  readonly come: (transId: string) => Promise<number | null>;
} => {
  let faults: Faults = { ...NO_FAULTS, latencyMs: 50 };
  const stuck = new StuckPayment({
    get: () => faults,
    set: (settings) => {
      faults = { ...NO_FAULTS, ...settings };
    },
  });
  const come = async (transId: string): Promise<number | null> => {
    stuck.meet(score(transId, 0));
    const met = faults;
    await Promise.resolve();
    expect(faults).toEqual({ ...NO_FAULTS, latencyMs: 50 });
    expect(met.latencyMs).toBe(50);
    return met.status?.code ?? null;
  };
  return { stuck, come };
};

describe('a stuck payment', () => {
  test('is the next one that comes, each time it comes, and no other one', async () => {
    const { stuck, come } = door();
    expect(await come('a')).toBe(null);
    const first = stuck.next();
    expect(await come('b')).toBe(503);
    expect((await first).transId).toBe('b');
    expect([await come('c'), await come('b')]).toEqual([null, 503]);
  });

  test('gets its answer when it is released', async () => {
    const { stuck, come } = door();
    void stuck.next();
    await come('b');
    stuck.release();
    expect([await come('b'), await come('c')]).toEqual([null, null]);
  });
});
