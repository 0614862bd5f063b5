import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Latencies } from '../../../../src/app/demo/latencies.ts';

const NOW_MS = Date.UTC(2026, 0, 1);

describe('latencies', () => {
  test('are none before anything has ended', () => {
    const latencies = new Latencies();
    latencies.begin('a', NOW_MS);
    latencies.end('another', NOW_MS);
    expect(latencies.quantiles(NOW_MS)).toBeNull();
  });

  test('count an end once', () => {
    const latencies = new Latencies();
    latencies.begin('a', NOW_MS);
    latencies.end('a', NOW_MS + 100);
    latencies.end('a', NOW_MS + 9_000);
    expect(latencies.quantiles(NOW_MS + 9_000)?.count).toBe(1);
  });

  test('are forgotten after a minute', () => {
    const latencies = new Latencies();
    latencies.begin('a', NOW_MS);
    latencies.end('a', NOW_MS + 100);
    expect(latencies.quantiles(NOW_MS + 50_000)?.count).toBe(1);
    expect(latencies.quantiles(NOW_MS + 60_000)).toBeNull();
    latencies.begin('b', NOW_MS + 60_000);
    latencies.end('b', NOW_MS + 60_001);
    expect(latencies.quantiles(NOW_MS + 60_001)).toEqual({ p50: 1, p99: 1, count: 1 });
  });

  test('forget the oldest beginning when there are too many open', () => {
    const latencies = new Latencies();
    for (let index = 0; index <= 100_000; index += 1) latencies.begin(String(index), NOW_MS);
    latencies.end('0', NOW_MS + 5);
    expect(latencies.quantiles(NOW_MS + 5)).toBeNull();
    latencies.end('1', NOW_MS + 5);
    expect(latencies.quantiles(NOW_MS + 5)?.count).toBe(1);
  });

  test('quantiles are the exact ones or up to 5 % above', () => {
    const spansOf = fc.array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(spansOf, (spans) => {
        const latencies = new Latencies();
        for (const [index, ms] of spans.entries()) {
          latencies.begin(String(index), NOW_MS - ms);
          latencies.end(String(index), NOW_MS);
        }
        const found = latencies.quantiles(NOW_MS);
        const sorted = spans.toSorted((a, b) => a - b);
        for (const [share, value] of [
          [0.5, found?.p50],
          [0.99, found?.p99],
        ] as const) {
          const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
          expect(value).toBeGreaterThanOrEqual(exact - 0.5);
          expect(value).toBeLessThanOrEqual(exact * 1.05 + 0.5);
        }
      }),
    );
  });
});
