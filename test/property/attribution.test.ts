import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Course, meanOf, play, type Scenario, type SimulatedAnswer } from '../support/attribution-simulation.ts';

/** A service answers within 30 to 70 ms; what times out holds its slot for 5 s. */
const quick = (random: () => number): number => 30 + 40 * random();
const took = (answer: SimulatedAnswer, random: () => number): readonly [SimulatedAnswer, number] => [
  answer,
  answer === 'timeout' ? 5_000 : quick(random),
];
const share =
  (part: number): NonNullable<Scenario['isOdd']> =>
  (_id, _key, _atMs, random) =>
    random() < part;
const oddGets =
  (answer: SimulatedAnswer): Scenario['answer'] =>
  ({ isOdd }, _nowMs, random) =>
    took(isOdd ? answer : 200, random);
const during =
  (from: number, to: number, answer: SimulatedAnswer, part = 1): Scenario['answer'] =>
  (_record, nowMs, random) =>
    nowMs >= from * 1000 && nowMs < to * 1000 && random() < part ? took(answer, random) : [200, quick(random)];

/** The share of the good records that is delivered each second, over the last third. */
function keptRate(course: Course, { rate = 500, seconds }: Scenario, odd: number): number {
  return meanOf(course.deliveredBy, Math.floor((seconds * 2) / 3), seconds) / (rate * (1 - odd));
}

const quantile = (sorted: readonly number[], part: number): number => sorted[Math.floor(sorted.length * part)] ?? 0;

describe('odd records among others', () => {
  const answers: readonly SimulatedAnswer[] = [301, 400, 401, 403, 404, 409, 422, 500, 502, 503, 'reset'];

  test.each(answers)('one in 25 that always gets %s: all others keep their rate, and each odd one ends', (answer) => {
    const scenario = { seconds: 600, uniqueKeys: true, isOdd: share(0.04), answer: oddGets(answer) };
    const course = play(scenario);
    expect(keptRate(course, scenario, 0.04)).toBeGreaterThan(0.97);
    expect(quantile(course.goodEndedMs, 0.99)).toBeLessThan(2_000);
    expect(course).toMatchObject({ wrong: 0, guardBlocks: 0, reordered: 0 });
    // A minute of backoff beyond the time that a suspect is given.
    expect(course.oldestOddMs).toBeLessThan(380_000);
    expect(course.deadLetters + course.alreadyScored).toBeGreaterThan(0);
  });

  test('two in a thousand that always time out: the others keep their rate, although each holds a slot for 5 s', () => {
    const scenario = { seconds: 900, uniqueKeys: true, isOdd: share(0.002), answer: oddGets('timeout') };
    const course = play(scenario);
    expect(keptRate(course, scenario, 0.002)).toBeGreaterThan(0.97);
    expect(course.wrong).toBe(0);
    expect(course.oldestOddMs).toBeLessThan(450_000);
  });

  test('any answer, share, number of keys and seed: no good record becomes a dead letter, and the order is kept', () => {
    fc.assert(
      fc.property(
        fc.constantFrom<SimulatedAnswer>(...answers, 408, 413, 425, 504, 599),
        fc.double({ min: 0.001, max: 0.04, noNaN: true }),
        fc.constantFrom(2_000, 20_000, 200_000),
        fc.nat(),
        (answer, odd, keys, seed) => {
          const scenario = { rate: 200, seconds: 420, keys, isOdd: share(odd), answer: oddGets(answer) };
          const course = play(scenario, seed);
          expect(course).toMatchObject({ wrong: 0, reordered: 0 });
          expect(keptRate(course, scenario, odd)).toBeGreaterThan(0.9);
        },
      ),
      { numRuns: 12 },
    );
  });

  test('a key whose every record is odd is slow once: the records that follow end at once', () => {
    const scenario: Scenario = {
      seconds: 900,
      hotShare: 0.002,
      isOdd: (_id, key) => key === -1,
      answer: oddGets(403),
    };
    const course = play(scenario);
    expect(keptRate(course, scenario, 0.002)).toBeGreaterThan(0.97);
    expect(
      quantile(
        course.oddEndedMs.toSorted((one, other) => one - other),
        0.5,
      ),
    ).toBeLessThan(310_000);
    expect(course.oldestOddMs).toBeLessThan(10_000);
    expect(course).toMatchObject({ wrong: 0, reordered: 0 });
  });

  test('an odd record that nothing follows waits, for nobody can tell', () => {
    const course = play({ rate: 1 / 60, seconds: 900, keys: 50, isOdd: (id) => id === 5, answer: oddGets(403) });
    expect(course.deadLetters).toBe(0);
    expect(course.oldestOddMs).toBeGreaterThan(500_000);
  });

  test('with one request a minute an odd record ends once 20 others were tried', () => {
    const course = play({ rate: 1 / 60, seconds: 7_200, keys: 50, isOdd: (id) => id === 5, answer: oddGets(403) });
    expect(course).toMatchObject({ deadLetters: 1, wrong: 0 });
  });

  test('records that get 429 never become dead letters, and the others go on', () => {
    const scenario = { seconds: 600, isOdd: (id: number) => id % 10_000 === 0, answer: oddGets(429) };
    const course = play(scenario);
    expect(course.deadLetters).toBe(0);
    expect(keptRate(course, scenario, 0.0001)).toBeGreaterThan(0.97);
  });

  test('a burst of odd records of one second delays nobody else', () => {
    const scenario: Scenario = {
      seconds: 600,
      isOdd: (_id, _key, atMs, random) => atMs >= 60_000 && atMs < 61_000 && random() < 0.3,
      answer: oddGets(403),
    };
    const course = play(scenario);
    expect(keptRate(course, scenario, 0)).toBeGreaterThan(0.97);
    expect(course.oldestOddMs).toBe(0);
    expect(course.wrong).toBe(0);
  });

  test.each([1, 2, 3, 8])('with %i requests at once repeats do not keep untried records from starting', (slots) => {
    const rate = slots * 10;
    const scenario = { rate, slots, seconds: 600, uniqueKeys: true, isOdd: share(0.02), answer: oddGets(500) };
    expect(keptRate(play(scenario), scenario, 0.02)).toBeGreaterThan(0.95);
  });
});

describe('a service that fails for everybody', () => {
  test.each<SimulatedAnswer>([301, 401, 403, 404, 429, 500, 502, 503, 'reset', 'timeout'])(
    'with %s for 10 minutes: nothing becomes a dead letter, it gets almost no requests, and all goes on within 10 s',
    (answer) => {
      const course = play({ seconds: 720, answer: during(60, 660, answer) });
      expect(course.deadLetters).toBe(0);
      expect(meanOf(course.callsBy, 120, 660)).toBeLessThan(0.3);
      expect(meanOf(course.deliveredBy, 671, 700)).toBeGreaterThan(450);
    },
  );

  test.each([400, 409, 422])('with %i: some 20 records end, then none', (answer) => {
    const course = play({ seconds: 720, answer: during(60, 660, answer) });
    expect(course.deadLetters + course.alreadyScored).toBeLessThanOrEqual(25);
    expect(meanOf(course.callsBy, 120, 660)).toBeLessThan(0.3);
    expect(meanOf(course.deliveredBy, 671, 700)).toBeGreaterThan(450);
  });

  test('from the start: none ends', () => {
    const course = play({ seconds: 300, answer: during(0, 300, 400) });
    expect(course).toMatchObject({ deadLetters: 0, alreadyScored: 0 });
  });

  test('with odd records before, in and after the outage: only they become dead letters', () => {
    const outage = during(60, 360, 403);
    const course = play({
      seconds: 1_000,
      isOdd: share(0.001),
      answer: (record, nowMs, random) => (record.isOdd ? [403, quick(random)] : outage(record, nowMs, random)),
    });
    expect(course.wrong).toBe(0);
    expect(course.deadLetters).toBeGreaterThan(0);
  });
});

describe('a service that fails by chance', () => {
  test.each([
    [0.3, 503],
    [0.3, 500],
    [0.6, 503],
  ] as const)('for %f of all requests with %i: all are delivered, at nearly full rate', (part, answer) => {
    const scenario = { seconds: 600, answer: during(0, 600, answer, part) };
    const course = play(scenario);
    expect(course.deadLetters).toBe(0);
    expect(keptRate(course, scenario, 0)).toBeGreaterThan(0.9);
  });

  test('a third refused for 20 minutes: the guard keeps the dead letters few, and nobody waits for it', () => {
    const scenario = { seconds: 1_300, answer: during(60, 1_260, 400, 1 / 3) };
    const course = play(scenario);
    expect(course.deadLetters).toBeLessThan(250);
    expect(course.guardBlocks).toBeGreaterThan(0);
    expect(meanOf(course.deliveredBy, 100, 1_260)).toBeGreaterThan(480);
  });

  test('without the guard they all end, and a suspect is proven all the same', () => {
    const course = play({ seconds: 200, maxShare: 1, answer: during(60, 120, 400, 1 / 3) });
    expect(course.guardBlocks).toBe(0);
    expect(course.deadLetters).toBeGreaterThan(8_000);
    const failing = play({ seconds: 600, maxShare: 1, answer: during(60, 600, 500, 1 / 3) });
    expect(failing.deadLetters).toBe(0);
  });
});

describe('after a start', () => {
  test('409 to what a killed process had scored: each ends at once, and nothing waits', () => {
    const scenario: Scenario = { seconds: 120, answer: ({ id }, _nowMs, random) => took(id < 190 ? 409 : 200, random) };
    const course = play(scenario);
    expect(course).toMatchObject({ alreadyScored: 190, deadLetters: 0, openings: 0 });
    expect(quantile(course.goodEndedMs, 0.99)).toBeLessThan(1_000);
  });

  test('a restart in the middle forgets the counts and loses nothing: odd records end later', () => {
    const scenario = { seconds: 700, uniqueKeys: true, isOdd: share(0.001), answer: oddGets(403), restartAt: 150 };
    const course = play(scenario);
    expect(keptRate(course, scenario, 0.001)).toBeGreaterThan(0.97);
    expect(course).toMatchObject({ wrong: 0, reordered: 0 });
    expect(course.oldestOddMs).toBeLessThan(480_000);
  });

  test('a rebalance in the middle forgets what it takes, and what is kept goes on', () => {
    const scenario = { seconds: 900, isOdd: share(0.01), answer: oddGets(403), rebalanceAt: 200 };
    const course = play(scenario);
    expect(keptRate(course, scenario, 0.01)).toBeGreaterThan(0.97);
    expect(course).toMatchObject({ wrong: 0, reordered: 0 });
  });
});
