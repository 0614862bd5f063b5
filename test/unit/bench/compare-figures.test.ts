import { describe, expect, test } from 'vitest';
import {
  type Comparison,
  comparisonTable,
  middleOf,
  missedBars,
  orderedCeiling,
  type Row,
} from '../../bench/compare-figures.ts';
import { usualName } from '../../bench/compare-jobs.ts';
import { comparisonPicture } from '../../bench/compare-picture.ts';
import { blockOf, withBlock } from '../../bench/compare-publish.ts';
import { type Added, type Figures } from '../../bench/compare-run.ts';
import { type Rival } from '../../bench/rivals/roster.ts';

const FIGURES: Figures = { rate: 1000, cpu: 0.1, rssMb: 200, servedMs: 5, disorders: 0, overlaps: 0, doubled: 0 };

function row(rival: Rival, latencyMs: number, over: Partial<Figures> = {}, ceiling: number | null = null): Row {
  return { rival, job: usualName(latencyMs), latencyMs, ceiling, rounds: [{ ...FIGURES, ...over }] };
}

const of = (...rows: readonly Row[]): Comparison => ({ rows, added: [], hot: [] });

const ADDED: Added = { p50Ms: 1.25, p99Ms: 4, othersP99Ms: 4, cpu: 0 };
const below = (added: Partial<Added>, hot: readonly Added[]): Comparison => ({
  rows: [],
  added: [{ rival: 'connector', rounds: [{ ...ADDED, ...added }] }],
  hot,
});

describe('misses a bar', () => {
  test.each<[string, Comparison]>([
    ['connector at 5 ms: order', of(row('connector', 5, { overlaps: 0.1 }))],
    ['connector at 0 ms: order', of(row('connector', 0, { doubled: 1 }))],
    ['connector at 50 ms: 0.960 of the ceiling', of(row('connector', 50, { rate: 960 }, 1000))],
    [
      'rate at 5 ms: 2.00 times that of parallel-consumer',
      of(row('connector', 5, { rate: 2000 }), row('parallel-consumer', 5)),
    ],
    ['rate at 0 ms: 0.50 times that of bare-loop', of(row('connector', 0, { rate: 500 }), row('bare-loop', 0))],
    ['cpu at 0 ms: 2.00 times that of bare-loop', of(row('connector', 0, { cpu: 0.2 }), row('bare-loop', 0))],
    ['connector-scores at 5 ms: 2.00 times the CPU', of(row('connector', 5), row('connector-scores', 5, { cpu: 0.2 }))],
    [
      'connector-sync at 20 ms: 2.00 times the CPU of joined-bytes',
      of(row('connector-sync', 20, { cpu: 0.2 }), row('joined-bytes', 20)),
    ],
    ['connector-sync at 20 ms: 0.940 of the ceiling', of(row('connector-sync', 20, { rate: 940 }, 1000))],
    ['p99Ms: 11.0', below({ p99Ms: 11 }, [])],
    ['p99 of the other keys beside a hot one: 1.50 times', below({ othersP99Ms: 4 }, [{ ...ADDED, othersP99Ms: 6 }])],
  ])('%s', (text, comparison) => {
    expect(missedBars(comparison)).toEqual([expect.stringContaining(text)]);
  });
});

test('misses none where it is as fast as it should be, and none of what was not measured', () => {
  expect(
    missedBars(of(row('connector', 50, { rate: 980 }, 1000), row('parallel-consumer', 50, { rate: 900 }))),
  ).toEqual([]);
  expect(missedBars(of(row('each-batch', 5, { overlaps: 400 }), row('bare-loop', 0)))).toEqual([]);
});

test('takes the middle of all rounds, figure by figure', () => {
  const rounds = [1, 9, 5].map((rate): Figures => Object.assign({}, FIGURES, { rate, cpu: 10 - rate }));
  expect(middleOf(rounds)).toMatchObject({ rate: 5, cpu: 5, rssMb: 200 });
  expect(() => middleOf([])).toThrow('no round');
});

test('the ceiling is that of concurrency, or of the hottest key', () => {
  expect(orderedCeiling(49.5, { concurrency: 64, hottest: 0.0001, networkMs: 0.5 })).toBeCloseTo(1280);
  expect(orderedCeiling(50, { concurrency: 64, hottest: 0.2, networkMs: 0 })).toBeCloseTo(100);
});

test('shows each contestant at each latency, with its latency below saturation where that was measured', () => {
  const comparison: Comparison = {
    rows: [row('connector', 5, {}, 2000), row('each-batch', 5, { overlaps: 400 })],
    added: [{ rival: 'connector', rounds: [ADDED] }],
    hot: [],
  };
  const [ours, theirs] = comparisonTable(comparison).rows;
  expect(ours?.slice(1)).toEqual(['5 ms', '1000', '0.50', '0.100', '200', '0', '0', '1.3', '4.0']);
  expect(theirs?.slice(1)).toEqual(['5 ms', '1000', '', '0.100', '200', '0', '400', '', '']);
});

test('draws each of them, and says who breaks order', () => {
  const svg = comparisonPicture(of(row('connector', 0, { rate: 12_345 }), row('each-batch', 0, { overlaps: 400 })));
  expect(svg).toContain('12,345');
  expect(svg).toContain('order broken');
  expect(svg.match(/<rect class="(?:ours|loose)"/gu)).toHaveLength(2);
});

function place(name: string, text: string): string {
  return `<!-- Printed by npm run bench -- publish FILE.json, ${name}: -->\n${text}\n<!-- Up to here. -->`;
}

test('puts its table into a page, in place of the one before, and leaves the rest alone', () => {
  const page = `Before.\n${place('metrics', 'theirs')}\nBetween.\n${place('comparison', 'old')}\nAfter.\n`;
  const block = blockOf(of(row('connector', 5, { rate: 2345 })));
  const once = withBlock(page, 'comparison', block);
  expect(blockOf(below({}, [{ ...ADDED, othersP99Ms: 4.5 }]))).toContain('p99: 4.5 ms; with even keys 4.0 ms');
  expect(once).toMatch(/^Before\.\n<!--.*\ntheirs\n[^]*\| 5 ms \| 2345 \|[^]*<!-- Up to here\. -->\nAfter\.\n$/u);
  expect(once).not.toContain('old');
  expect(withBlock(once, 'comparison', block)).toBe(once);
  expect(() => withBlock('no place', 'metrics', block)).toThrow('no place for: metrics');
});

test('measures work of other kinds beside the usual one, which alone is judged by what others do', () => {
  const rows = [row('connector', 0), Object.assign(row('bare-loop', 0, { cpu: 0.01 }), { job: '0 ms, 256 at once' })];
  expect(missedBars(of(...rows))).toEqual([]);
});
