import { describe, expect, test } from 'vitest';
import { seededDraw } from '../../../../src/sandbox/service/chance.ts';
import { CALM, FaultPlan, type Strike, type Subjects } from '../../../../src/sandbox/service/fault-plan.ts';
import { type FaultSettings, NO_FAULTS } from '../../../../src/sandbox/service/faults.ts';
import { type Operation } from '../../../../src/sandbox/service/operation.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const nobody: Subjects = { transIds: [], customers: [] };

function planWith(settings: FaultSettings) {
  const clock = new ManualClock();
  const plan = new FaultPlan(seededDraw(1), clock);
  plan.set(settings);
  const strike = (operation: Operation = 'score', about: Partial<Subjects> = {}): Strike =>
    plan.strike(operation, () => ({ ...nobody, ...about }));
  return { plan, clock, strike };
}

describe('faults in force', () => {
  test('strike only the operations they are for, by default scoring and sync', () => {
    const { strike } = planWith({ latencyMs: 10 });
    expect(strike('score').delayMs).toBe(10);
    expect(strike('sync').delayMs).toBe(10);
    expect(strike('login')).toBe(CALM);
    expect(planWith({ latencyMs: 10, operations: ['login'] }).strike('score')).toBe(CALM);
  });

  test('strike the share asked for', () => {
    const { strike } = planWith({ status: { code: 503, share: 0.2 }, resetShare: 0.5 });
    const strikes = Array.from({ length: 5_000 }, () => strike());
    expect(strikes.filter(({ status }) => status !== null).length / 5_000).toBeCloseTo(0.2, 1);
    expect(strikes.filter(({ reset }) => reset).length / 5_000).toBeCloseTo(0.5, 1);
  });

  test('jitter is added to the latency', () => {
    const { strike } = planWith({ latencyMs: 50, latencyJitterMs: 10 });
    const delays = Array.from({ length: 1_000 }, () => strike().delayMs);
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(50);
    expect(Math.max(...delays)).toBeLessThan(60);
    expect(new Set(delays).size).toBeGreaterThan(900);
  });

  test('a status alone is not carried out, unless it says so; a reset after is', () => {
    expect(planWith({ status: { code: 500 } }).strike()).toMatchObject({ carriedOut: false });
    expect(planWith({ status: { code: 500, carriedOut: true } }).strike()).toMatchObject({ carriedOut: true });
    expect(planWith({ resetShare: 1 }).strike()).toMatchObject({ reset: true, carriedOut: true });
    expect(planWith({ resetBeforeShare: 1 }).strike()).toMatchObject({ reset: true, carriedOut: false });
  });

  test('a broken answer is carried out as its kind is, unless the fault says otherwise', () => {
    expect(planWith({ answer: { as: 'hang' } }).strike()).toMatchObject({ answer: 'hang', carriedOut: false });
    expect(planWith({ answer: { as: 'hang', carriedOut: true } }).strike()).toMatchObject({ carriedOut: true });
    expect(planWith({ answer: { as: 'html' } }).strike()).toMatchObject({ answer: 'html', carriedOut: true });
  });

  test('a broken answer of another operation strikes nobody', () => {
    const { strike } = planWith({ answer: { as: 'score_7' } });
    expect(strike('score').answer).toBe('score_7');
    expect(strike('sync')).toMatchObject({ answer: null, carriedOut: true });
  });

  test('are for some trans_ids or customers only', () => {
    const { strike } = planWith({ latencyMs: 5, only: { transIds: ['t-7'], customers: ['c-1'] } });
    expect(strike('score', { transIds: ['t-1'], customers: ['c-2'] })).toBe(CALM);
    expect(strike('score', { transIds: ['t-7'] }).delayMs).toBe(5);
    expect(strike('score', { customers: ['c-1'] }).delayMs).toBe(5);
    expect(strike('sync', { transIds: ['t-1', 't-7'] }).delayMs).toBe(5);
  });

  test('ask of whom a request speaks only where it matters', () => {
    const { plan } = planWith({ latencyMs: 5 });
    const asked: Operation[] = [];
    const ask = (): Subjects => {
      asked.push('score');
      return nobody;
    };
    expect(plan.strike('score', ask).delayMs).toBe(5);
    expect(asked).toEqual([]);
  });

  test('end after the next n requests', () => {
    const { strike } = planWith({ latencyMs: 5, next: 2 });
    strike('login');
    expect([strike(), strike(), strike()].map(({ delayMs }) => delayMs)).toEqual([5, 5, 0]);
  });

  test('end after their time', () => {
    const { strike, clock } = planWith({ latencyMs: 5, forMs: 1_000 });
    clock.advance(999);
    expect(strike().delayMs).toBe(5);
    clock.advance(1);
    expect(strike()).toBe(CALM);
  });

  test('the first rule that matches decides, and the fields beside the rules come last', () => {
    const { strike } = planWith({
      latencyMs: 1,
      rules: [
        { latencyMs: 2, next: 1 },
        { latencyMs: 3, operations: ['sync'] },
      ],
    });
    expect([strike('sync'), strike('sync'), strike('score')].map(({ delayMs }) => delayMs)).toEqual([2, 3, 1]);
  });

  test('reject batches that hold one of the ids, or the ids alone', () => {
    const { plan } = planWith({ patchRejects: ['t-7'], patchPerId: { transIds: ['t-8'], form: 'ok_false' } });
    expect([plan.rejects(['t-1', 't-7']), plan.rejects(['t-1', 't-8'])]).toEqual([true, false]);
    expect([plan.rejectsAlone('t-8'), plan.rejectsAlone('t-7')]).toEqual([true, false]);
  });

  test('setting faults replaces all of them', () => {
    const { plan, strike } = planWith({ latencyMs: 10, patchRejects: ['t-7'], webhooks: { copies: 2 } });
    plan.set({ slowBodyMs: 5 });
    expect(plan.get()).toEqual({ ...NO_FAULTS, slowBodyMs: 5 });
    expect(plan.rejects(['t-7'])).toBe(false);
    expect(plan.webhooks().copies).toBe(1);
    expect(strike()).toMatchObject({ delayMs: 0, slowBodyMs: 5 });
  });
});
