import { expect, test } from 'vitest';
import { linesOf } from '../../chaos/log-lines.ts';

const ORIGIN_MS = 1_000_000_000_000;
const HOUR_MS = 3_600_000;
const said = (event: string, atMs: number): string => JSON.stringify({ event, time: ORIGIN_MS + atMs });

test('events are read from the lines that hold one', () => {
  const output = ['(node:1) a warning', said('ready', 5), '{"torn":', ''].join('\n');
  expect(linesOf({ owner: '1.1', jumps: [] }, output, ORIGIN_MS)).toEqual([
    { owner: '1.1', event: 'ready', time: ORIGIN_MS + 5, fields: { event: 'ready', time: ORIGIN_MS + 5 } },
  ]);
});

test('what was written while the clock was off gets its right time, and nothing else does', () => {
  const jumps = [
    { owner: '1.1', byMs: HOUR_MS, fromMs: 60_000, toMs: 70_000 },
    { owner: '2.1', byMs: -HOUR_MS, fromMs: 0, toMs: 90_000 },
  ];
  const output = [said('before', 50_000), said('meanwhile', 65_000 + HOUR_MS), said('after', 80_000)].join('\n');
  const times = linesOf({ owner: '1.1', jumps }, output, ORIGIN_MS).map(({ time }) => time - ORIGIN_MS);
  expect(times).toEqual([50_000, 65_000, 80_000]);
});
