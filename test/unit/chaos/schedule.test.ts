import { describe, expect, test } from 'vitest';
import { ILL_NAMES } from '../../chaos/ills.ts';
import { planOf, type PlanOptions, type Scenario, SCENARIOS } from '../../chaos/schedule.ts';

const options = (scenario: Scenario, changes: Partial<PlanOptions> = {}): PlanOptions => ({
  scenario,
  seed: 1,
  connectors: 4,
  sessionMs: 6000,
  forMs: 600_000,
  ...changes,
});

describe('the plan of a campaign', () => {
  test.each(SCENARIOS)('%s: is the same for the same seed', (scenario) => {
    expect(planOf(options(scenario))).toEqual(planOf(options(scenario)));
  });

  test.each(['kill', 'broker', 'freeze', 'stuck', 'mixed'] as const)(
    '%s: is another one for another seed',
    (scenario) => {
      expect(planOf(options(scenario))).not.toEqual(planOf(options(scenario, { seed: 2 })));
    },
  );

  test.each(SCENARIOS)('%s: goes forward in time and ends in time', (scenario) => {
    const { steps, endMs } = planOf(options(scenario));
    const times = steps.map(({ atMs }) => atMs);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.at(-1)).toBeLessThan(endMs);
  });

  test('clean: runs one, two, four and one again, each of them in turn, and never stops the last', () => {
    const running = new Set([1]);
    const counts: number[] = [];
    const stopped: number[] = [];
    for (const { act } of planOf(options('clean')).steps) {
      if (act.do === 'start') running.add(act.connector);
      if (act.do === 'stop' && running.delete(act.connector)) stopped.push(act.connector);
      counts.push(running.size);
    }
    expect(counts.slice(0, 6)).toEqual([2, 3, 4, 3, 2, 1]);
    expect(Math.min(...counts)).toBe(1);
    expect(new Set(stopped)).toEqual(new Set([1, 2, 3, 4]));
  });

  test('freeze: lasts longer than the session', () => {
    const lengths = planOf(options('freeze')).steps.map(({ act }) => (act.do === 'freeze' ? act.forMs : 0));
    expect(Math.min(...lengths)).toBeGreaterThan(6000);
  });

  test.each([
    [6000, 60_000],
    [30_000, 84_000],
  ])('stuck: with a session of %i ms one payment after the other, each for %i ms', (sessionMs, forMs) => {
    const { steps } = planOf(options('stuck', { sessionMs }));
    expect(steps.length).toBeGreaterThan(3);
    for (const { act } of steps) expect(act).toMatchObject({ do: 'stick', forMs });
  });

  test.each(['clean', 'kill', 'broker', 'freeze', 'mixed'] as const)(
    '%s: with a longer session the faults are further apart',
    (scenario) => {
      const { steps } = planOf(options(scenario));
      const longer = planOf(options(scenario, { sessionMs: 30_000 })).steps;
      expect(longer.length).toBeLessThan(steps.length);
      expect(longer.length).toBeGreaterThan(5);
    },
  );

  test('service: has every ill before one comes again', () => {
    const ills = planOf(options('service')).steps.map(({ act }) => (act.do === 'ill' ? act.ill : ''));
    expect(new Set(ills.slice(0, ILL_NAMES.length))).toEqual(new Set(ILL_NAMES));
  });

  test('network: has every wire and every fault of one, longer than the session', () => {
    const acts = planOf(options('network')).steps.flatMap(({ act }) => (act.do === 'wire' ? [act] : []));
    expect(new Set(acts.map(({ to }) => to))).toEqual(new Set(['coordinator', 'node', 'service']));
    expect(new Set(acts.map(({ fault }) => fault))).toEqual(new Set(['silent', 'cut', 'slow', 'forgotten']));
    expect(Math.min(...acts.map(({ forMs }) => forMs))).toBeGreaterThan(6000);
  });

  test('all: has each kind of fault within the first twenty', () => {
    const kinds = new Set(
      planOf(options('all'))
        .steps.slice(0, 20)
        .map(({ act }) => act.do),
    );
    for (const kind of ['kill', 'restart', 'roll', 'freeze', 'kill_node', 'kill_coordinator', 'wire', 'registry_away'])
      expect(kinds).toContain(kind);
    for (const kind of ['ill', 'jump', 'cramp', 'flood', 'replay']) expect(kinds).toContain(kind);
  });

  test('mixed: has each kind of fault, one about every ten seconds', () => {
    const { steps } = planOf(options('mixed'));
    expect(new Set(steps.map(({ act }) => act.do))).toEqual(new Set(['kill', 'restart', 'freeze', 'kill_node']));
    expect(steps.length).toBeGreaterThan(50);
    expect(steps.length).toBeLessThan(75);
  });

  test('storm: twenty minutes have two hundred faults of processes and fifty of nodes', () => {
    const kinds = planOf(options('storm', { forMs: 1_200_000 })).steps.map(({ act }) => act.do);
    const nodes = kinds.filter((kind) => kind === 'kill_node' || kind === 'kill_coordinator');
    expect(nodes.length).toBeGreaterThan(50);
    expect(kinds.length - nodes.length).toBeGreaterThan(200);
    expect(new Set(kinds)).toEqual(new Set(['kill', 'restart', 'freeze', 'kill_node', 'kill_coordinator']));
  });

  test('soak: ends no connector', () => {
    const kinds = new Set(planOf(options('soak')).steps.map(({ act }) => act.do));
    expect(kinds).toEqual(new Set(['wire', 'kill_node', 'kill_coordinator', 'ill', 'flood']));
  });

  test('slice: ends, kills, freezes and cuts off within half a minute, whatever the seed', () => {
    const { steps, endMs } = planOf(options('slice', { seed: 9 }));
    const kinds = steps.map(({ act }) => act.do);
    for (const kind of ['kill', 'restart', 'freeze', 'wire', 'ill', 'flood']) expect(kinds).toContain(kind);
    expect(endMs).toBeLessThan(30_000);
  });
});
