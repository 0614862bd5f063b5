import { describe, expect, test } from 'vitest';
import { type Answer, drawsOf, SyncWorld } from '../support/sync-world.ts';

/** One of each kind of answer that is no acceptance. */
const ANSWERS: readonly Answer[] = [
  301,
  400,
  401,
  403,
  404,
  408,
  409,
  410,
  413,
  425,
  429,
  500,
  503,
  'error_msg',
  'unusable',
  'reset',
  'rejected',
];
/** Whom the service dislikes for as long as it may be its own health. */
const SLOW: ReadonlySet<Answer> = new Set([401, 429, 503]);

const REASONS: Partial<Record<Answer, string>> = {
  error_msg: 'error_msg',
  unusable: 'unusable_answer',
  reset: 'connection_failed',
  timeout: 'timed_out',
  rejected: 'rejected_by_service',
};

function reasonOf(answer: Answer): string {
  return REASONS[answer] ?? `status_${String(answer)}`;
}

/** Which of the updates are odd, by chance. */
function chance(share: number, answers: readonly Answer[], seed = 3): (n: number) => Answer | null {
  const draw = drawsOf(seed);
  const odd = Array.from({ length: 20_000 }, () => (draw() < share ? Math.floor(draw() * answers.length) : -1));
  return (n) => answers[odd[n] ?? -1] ?? null;
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0;
}

/** How long the updates that are not odd took; Infinity: not delivered. */
function delaysOf(world: SyncWorld, fromMs = 0): number[] {
  const sent = world.good.filter(({ atMs }) => atMs >= fromMs);
  return sent.map(({ atMs, deliveredMs }) => (deliveredMs === null ? Infinity : deliveredMs - atMs));
}

/** Nothing of the good ones is lost, sent again, or put aside. */
function expectGoodDelivered(world: SyncWorld): void {
  expect(world.good.filter(({ deliveries }) => deliveries !== 1)).toEqual([]);
  expect([...world.letters.keys()].filter((id) => !world.isOdd(id))).toEqual([]);
  expect(world.overlaps).toEqual([]);
}

describe('4 % of the updates always get', () => {
  test.each(ANSWERS)(
    '%s: all others are delivered, at the rate at which they come, and each odd one ends',
    async (answer) => {
      const world = new SyncWorld({ perSecond: 60, oddity: chance(0.04, [answer]) });
      await world.until(100, 80);
      expectGoodDelivered(world);
      expect(percentile(delaysOf(world), 0.99)).toBeLessThan(SLOW.has(answer) ? 10_000 : 5_000);
      // The last half minute is too short for what is proven over half a minute.
      const due = world.odd.filter((id) => (world.updates.get(id)?.atMs ?? 0) < 30_000);
      expect(due.length).toBeGreaterThan(50);
      const reasons = due.map((id) => world.letters.get(id)?.reason ?? 'none');
      expect(new Set(reasons)).toEqual(new Set([answer === 429 ? 'none' : reasonOf(answer)]));
    },
    30_000,
  );
});

test('an update that always gets 429 waits under its name', async () => {
  const world = new SyncWorld({ perSecond: 60, oddity: (n) => (n === 601 ? 429 : null) });
  await world.until(40);
  expect(world.waits).toMatchObject([{ cause: 'record_failing', records: 1, position: 'payments.authorized:1:150' }]);
});

test('all others are delivered with every kind at once, time-outs among them, and a rebalance in the middle of it all', async () => {
  // One place is left for those that go alone: so many time-outs fit into it.
  const answers: readonly Answer[] = [...ANSWERS, ...ANSWERS, ...ANSWERS, 'timeout'];
  const world = new SyncWorld({ perSecond: 60, oddity: chance(0.02, answers) });
  for (const second of [12, 25]) {
    await world.until(second);
    await world.rebalance();
  }
  await world.until(130, 110);
  expect(world.good.filter(({ deliveredMs }) => deliveredMs === null)).toEqual([]);
  expect([...world.letters.keys()].filter((id) => !world.isOdd(id))).toEqual([]);
  expect(world.overlaps).toEqual([]);
  const due = world.odd.filter((id) => (world.updates.get(id)?.atMs ?? 0) < 30_000);
  const left = due.filter((id) => !world.letters.has(id));
  expect(left.filter((id) => world.oddityOf(id) !== 429)).toEqual([]);
  const named = due
    .filter((id) => world.letters.has(id))
    .map((id) => [world.oddityOf(id), world.letters.get(id)?.reason]);
  expect(named.filter(([answer, reason]) => reason !== reasonOf(answer as Answer))).toEqual([]);
}, 60_000);

test.each<Answer>([404, 500, 503, 'reset', 'rejected'])(
  'an odd update does not keep back the only others that there are: %s',
  async (answer) => {
    const world = new SyncWorld({ perSecond: 60, oddity: (n) => (n === 1 ? answer : null) });
    await world.until(30, 0.1);
    expect(world.updates.size).toBeGreaterThan(3);
    expect(world.good.filter(({ deliveries }) => deliveries !== 1)).toEqual([]);
  },
);

test('300 odd updates in a row are not taken for a service that fails: what comes behind them is delivered', async () => {
  const world = new SyncWorld({ perSecond: 60, oddity: (n) => (n >= 600 && n < 900 ? 404 : null) });
  await world.until(60, 50);
  expectGoodDelivered(world);
  expect(Math.max(...delaysOf(world, 40_000))).toBeLessThan(2_000);
});

test('dead letters stop at the budget of their guard, good updates do not, and what waits for it is named', async () => {
  const world = new SyncWorld({ perSecond: 60, oddity: chance(0.1, [404]) });
  await world.until(80, 60);
  expectGoodDelivered(world);
  // 20 at the start, and 5 % of what is delivered.
  expect(world.letters.size).toBeLessThanOrEqual(20 + 60 * 60 * 0.053);
  expect(world.gate.report().guard.state).toBe('blocking');
  expect(world.waits.map(({ cause }) => cause)).toContain('dead_letter_guard');
  expect(world.letters.size).toBeLessThan(world.odd.length);
}, 30_000);

describe('a service that gives everybody', () => {
  const FROM = 10_000;
  const TO = 70_000;
  const outageOf = (answer: Answer) => (atMs: number) => (atMs >= FROM && atMs < TO ? answer : null);

  test.each<Answer>([...ANSWERS, 'timeout'])(
    '%s for a minute makes no dead letters, gets almost no requests, and everything within 10 s of its end',
    async (answer) => {
      const world = new SyncWorld({ perSecond: 100, oddity: () => null, outage: outageOf(answer) });
      await world.until(60);
      // A time-out is the bound there.
      expect(world.callsIn(10, 20)).toBeLessThan(90);
      expect(world.callsIn(20, 60)).toBeLessThan(answer === 'timeout' ? 90 : 10);
      const named = world.waits.map(({ cause }) => cause);
      expect(named).not.toContain('record_failing');
      expect([world.gate.why, ...named].filter((cause) => cause?.startsWith('service_'))).not.toEqual([]);
      await world.until(82);
      expect(world.letters.size).toBe(0);
      expect(world.good.filter(({ atMs, deliveredMs }) => atMs < 80_000 && deliveredMs === null)).toEqual([]);
      expect(world.good.filter(({ deliveries }) => deliveries > 1)).toEqual([]);
    },
    30_000,
  );

  test.each<Answer>([404, 500, 'rejected'])(
    '%s from its start on is none that was ever well: nothing is proven against anybody',
    async (answer) => {
      const world = new SyncWorld({ perSecond: 100, oddity: () => null, outage: () => answer });
      await world.until(60);
      expect([world.letters.size, world.callsIn(20, 60) < 10]).toEqual([0, true]);
    },
    30_000,
  );

  test.each<Answer>([404, 401, 500, 'reset', 'rejected'])(
    '%s for a minute while some are odd puts aside the odd ones alone',
    async (answer) => {
      const world = new SyncWorld({ perSecond: 50, oddity: chance(0.03, [404, 500]), outage: outageOf(answer) });
      await world.until(110, 80);
      expectGoodDelivered(world);
      expect(world.letters.size).toBeGreaterThan(20);
    },
    30_000,
  );
});
