import { describe, expect, test } from 'vitest';
import { seededDraw } from '../../../../src/sandbox/service/chance.ts';
import { FaultPlan, NO_FAULTS, readFaults } from '../../../../src/sandbox/service/faults.ts';

describe('reading faults', () => {
  test.each([
    [null, /JSON object/u],
    [{ latency: 5 }, /"latency" is not a fault; known are latencyMs/u],
    [{ latencyMs: -1 }, /^latencyMs must/u],
    [{ latencyMs: '5' }, /^latencyMs must/u],
    [{ slowBodyMs: 600_001 }, /^slowBodyMs must/u],
    [{ resetShare: 1.1 }, /^resetShare must/u],
    [{ status: 503 }, /^status must/u],
    [{ status: { code: 99, share: 1 } }, /^status must/u],
    [{ status: { code: 503 } }, /^status must/u],
    [{ status: { code: 503, share: 1, retryafter: 1 } }, /^status must/u],
    [{ status: { code: 503, share: 1, retryAfter: 'a\r\nb: c' } }, /^status must/u],
    [{ loginStatus: 42 }, /^loginStatus must/u],
    [{ patchRejects: 't-1' }, /^patchRejects must/u],
    [{ operations: ['scoring'] }, /^operations must/u],
    [{ expireTokens: 1 }, /^expireTokens must/u],
  ])('refuses %j and names the field', (input, message) => {
    expect(readFaults(input)).toMatch(message);
  });

  test('takes Retry-After as a number or a text', () => {
    expect(readFaults({ status: { code: 429, share: 1, retryAfter: 2 } })).toEqual({
      status: { code: 429, share: 1, retryAfter: '2' },
    });
    expect(readFaults({ status: { code: 429, share: 1, retryAfter: 'soon' } })).toBeTypeOf('object');
  });
});

const planWith = (settings: Parameters<FaultPlan['set']>[0]): FaultPlan => {
  const plan = new FaultPlan(seededDraw(1));
  plan.set(settings);
  return plan;
};

describe('faults in force', () => {
  const calm = { delayMs: 0, status: null, reset: false, slowBodyMs: 0 };

  test('strike only the operations they are for, by default scoring and sync', () => {
    const plan = planWith({ latencyMs: 10 });
    expect(plan.strike('score').delayMs).toBe(10);
    expect(plan.strike('sync').delayMs).toBe(10);
    expect(plan.strike('login')).toEqual(calm);
    expect(planWith({ latencyMs: 10, operations: ['login'] }).strike('score')).toEqual(calm);
  });

  test('strike the share asked for', () => {
    const plan = planWith({ status: { code: 503, share: 0.2 }, resetShare: 0.5 });
    const strikes = Array.from({ length: 5_000 }, () => plan.strike('score'));
    expect(strikes.filter(({ status }) => status !== null).length / 5_000).toBeCloseTo(0.2, 1);
    expect(strikes.filter(({ reset }) => reset).length / 5_000).toBeCloseTo(0.5, 1);
  });

  test('jitter is added to the latency', () => {
    const plan = planWith({ latencyMs: 50, latencyJitterMs: 10 });
    const delays = Array.from({ length: 1_000 }, () => plan.strike('score').delayMs);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(50);
    expect(Math.max(...delays)).toBeLessThan(60);
    expect(new Set(delays).size).toBeGreaterThan(900);
  });

  test('reject batches that hold one of the ids', () => {
    const plan = planWith({ patchRejects: ['t-7'] });
    expect(plan.rejects(['t-1', 't-7'])).toBe(true);
    expect(plan.rejects(['t-1'])).toBe(false);
  });

  test('setting faults replaces all of them', () => {
    const plan = planWith({ latencyMs: 10, patchRejects: ['t-7'] });
    plan.set({ slowBodyMs: 5 });
    expect(plan.get()).toEqual({ ...NO_FAULTS, slowBodyMs: 5 });
    expect(plan.rejects(['t-7'])).toBe(false);
  });
});
