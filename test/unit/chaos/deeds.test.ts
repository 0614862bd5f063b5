import { describe, expect, test } from 'vitest';
import { nameOfAct, targetOf } from '../../chaos/acts.ts';
import { requiredOf, Tally } from '../../chaos/deeds.ts';
import { recoveriesOf } from '../../chaos/recoveries.ts';
import { planOf, SCENARIOS } from '../../chaos/schedule.ts';

const plan = (scenario: (typeof SCENARIOS)[number]): ReturnType<typeof planOf> =>
  planOf({ scenario, seed: 1, connectors: 4, sessionMs: 6000, forMs: 900_000 });

describe.each(SCENARIOS)('the scenario %s', (scenario) => {
  test('requires a deed of each of its acts', () => {
    const required = requiredOf(scenario, plan(scenario));
    expect(required.length).toBeGreaterThan(0);
    expect(new Set(required).size).toBe(required.length);
  });

  test('has a target and a name for each of its acts', () => {
    for (const { act } of plan(scenario).steps) expect([targetOf(act), nameOfAct(act)]).not.toContain('');
  });
});

test('every wire and every ill is required by name', () => {
  expect(requiredOf('network', plan('network'))).toContain('wire to coordinator silent');
  expect(requiredOf('service', plan('service'))).toContain('ill logins_refused');
});

test('deeds are added up', () => {
  const tally = new Tally();
  tally.add('kills');
  tally.add('leaderMoves', 3);
  tally.add('leaderMoves', 0);
  tally.add('kills');
  expect(tally.deeds).toEqual({ kills: 2, leaderMoves: 3 });
});

describe('the ways out of faults', () => {
  const line = { owner: '1.1', time: 0 };

  test('are those that the plan calls for, and no others', () => {
    expect(recoveriesOf(plan('registry'), []).map(({ name }) => name)).toContain('hold registry');
    expect(recoveriesOf(plan('clean'), []).map(({ name }) => name)).not.toContain('hold registry');
  });

  test('are counted by what the connectors say', () => {
    const log = [
      { ...line, event: 'offset_gap', fields: { why: 'expired' } },
      { ...line, event: 'offset_gap', fields: { why: 'recreated' } },
      { ...line, event: 'hold_started', fields: { cause: 'registry' } },
    ];
    expect(recoveriesOf(plan('erased'), log)).toContainEqual({ name: 'offset_gap', times: 1 });
  });
});
