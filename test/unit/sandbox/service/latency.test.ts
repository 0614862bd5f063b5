import { expect, test } from 'vitest';
import { seededDraw } from '../../../../src/sandbox/service/chance.ts';
import { drawLatency, type LatencyShape } from '../../../../src/sandbox/service/latency.ts';

function drawn(shape: LatencyShape): number[] {
  const draw = seededDraw(3);
  return Array.from({ length: 20_000 }, () => drawLatency(shape, draw)).toSorted((one, other) => one - other);
}

test('an exponential latency has its mean', () => {
  const times = drawn({ kind: 'exponential', meanMs: 200 });
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  expect(mean).toBeGreaterThan(190);
  expect(mean).toBeLessThan(210);
});

test('a lognormal latency has its median and its 99th percentile', () => {
  const times = drawn({ kind: 'lognormal', medianMs: 100, p99Ms: 1_000 });
  expect(times[10_000]).toBeGreaterThan(95);
  expect(times[10_000]).toBeLessThan(105);
  expect(times[19_800]).toBeGreaterThan(850);
  expect(times[19_800]).toBeLessThan(1_150);
});

test('a bimodal latency is fast or slow, in its share', () => {
  const times = drawn({ kind: 'bimodal', fastMs: 10, slowMs: 5_000, slowShare: 0.1 });
  expect(new Set(times)).toEqual(new Set([10, 5_000]));
  expect(times.filter((time) => time === 5_000).length / times.length).toBeCloseTo(0.1, 1);
});

test('no latency is longer than ten minutes', () => {
  expect(drawn({ kind: 'exponential', meanMs: 600_000 }).at(-1)).toBe(600_000);
});
