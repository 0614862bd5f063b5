import { describe, expect, test } from 'vitest';
import { type Faults, NO_FAULTS } from '../../../../src/sandbox/service/faults.ts';
import { LoadGate, type Visit } from '../../../../src/sandbox/service/load-gate.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function setUp(faults: Partial<Faults>) {
  const clock = new ManualClock();
  let inForce: Faults = { ...NO_FAULTS, ...faults };
  const gate = new LoadGate(clock, () => inForce);
  const started: [string, number][] = [];
  const visit = (name: string): Visit => ({ state: 'new', go: (extraMs) => started.push([name, extraMs]) });
  const enter = (name: string) => {
    const made = visit(name);
    return { visit: made, refusal: gate.enter(made) };
  };
  const set = (change: Partial<Faults>): void => {
    inForce = { ...NO_FAULTS, ...change };
  };
  return { clock, gate, started, enter, set };
}

describe('capacity', () => {
  test('refuses who is above it with 503, until another has left', () => {
    const { gate, enter, started } = setUp({ capacity: { atOnce: 1, retryAfter: '3' } });
    const first = enter('a');
    expect(enter('b').refusal).toMatchObject({ status: 503, headers: { 'retry-after': '3' } });
    gate.left(first.visit);
    gate.left(first.visit);
    expect(enter('c').refusal).toBeNull();
    expect(enter('d').refusal).toMatchObject({ status: 503 });
    expect(started.map(([name]) => name)).toEqual(['a', 'c']);
  });

  test('lets who is above it wait, first come first, and forgets who went away', () => {
    const { gate, enter, started } = setUp({ capacity: { atOnce: 1, over: 'queue' } });
    const [first, second] = [enter('a'), enter('b'), enter('c')];
    expect(second.refusal).toBeNull();
    gate.left(second.visit);
    expect(started).toHaveLength(1);
    gate.left(first.visit);
    expect(started.map(([name]) => name)).toEqual(['a', 'c']);
  });

  test('a fault that is over lets all in that wait', () => {
    const { gate, enter, started, set } = setUp({ capacity: { atOnce: 1, over: 'queue' } });
    for (const name of ['a', 'b', 'c']) enter(name);
    set({});
    gate.drain();
    expect(started).toHaveLength(3);
  });
});

test('a rate refuses what is above it with 429, and gains with time', () => {
  const { enter, clock } = setUp({ rateLimit: { perSecond: 2 } });
  const statuses = (): (number | null)[] => [1, 2, 3].map(() => enter('x').refusal?.status ?? null);
  expect(statuses()).toEqual([null, null, 429]);
  clock.advance(500);
  expect(statuses()).toEqual([null, 429, 429]);
  clock.advance(60_000);
  expect(statuses()).toEqual([null, null, 429]);
});

test('who comes when there are many takes longer', () => {
  const { enter, gate, started } = setUp({ busy: { above: 1, latencyMs: 40 } });
  const first = enter('a');
  enter('b');
  gate.left(first.visit);
  enter('c');
  expect(started).toEqual([
    ['a', 0],
    ['b', 40],
    ['c', 40],
  ]);
});
