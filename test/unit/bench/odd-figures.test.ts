import { describe, expect, test } from 'vitest';
import { type OddFigures, resultOf } from '../../bench/odd-figures.ts';
import { tableLines } from '../../bench/result.ts';

const run = (changes: Partial<OddFigures> = {}): OddFigures => ({
  operation: 'POST',
  kind: 'none',
  share: 0,
  goodPerSecond: 500,
  waiting: 10,
  requestsPerSecond: 500,
  odd: 0,
  deadLetters: 0,
  mostRssMb: 200,
  ...changes,
});

const odd = (changes: Partial<OddFigures>): readonly OddFigures[] => [
  run(),
  run({ operation: 'PATCH', goodPerSecond: 100 }),
  run({ kind: '403', share: 0.01, ...changes }),
];

describe('good records beside odd ones', () => {
  test('must keep their rate, by that of the same operation without odd ones', () => {
    expect(resultOf(odd({ goodPerSecond: 476 })).missed).toEqual([]);
    expect(resultOf(odd({ operation: 'PATCH', goodPerSecond: 96 })).missed).toEqual([]);
    expect(resultOf(odd({ goodPerSecond: 470 })).missed).toEqual([
      'POST, 1 % 403: 470 good records a second, at least 475',
    ]);
  });

  test('may be slower where more than 4 % are odd', () => {
    expect(resultOf(odd({ share: 0.08, goodPerSecond: 0 })).missed).toEqual([]);
    expect(resultOf(odd({ share: 0.04, goodPerSecond: 0 })).missed).toHaveLength(1);
  });

  test('have missed where nothing could be measured without odd ones', () => {
    expect(resultOf([run({ share: 0.01 })]).missed).toHaveLength(1);
  });

  test('are a table with a row for each run', () => {
    const lines = tableLines(resultOf(odd({ goodPerSecond: 400 })));
    expect(lines).toHaveLength(4);
    expect(lines.at(-1)).toMatch(/^POST +403 +1 +400 +80 %/u);
  });
});
