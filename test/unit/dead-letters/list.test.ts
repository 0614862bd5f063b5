import { describe, expect, test } from 'vitest';
import { LetterTally, listLines } from '../../../src/dead-letters/list.ts';

const at = (second: number): number => Date.UTC(2026, 0, 1, 0, 0, second);
const one = { reason: 'status_400', isWithheld: false, timestampMs: at(5), place: '0:5' };

describe('a list of letters', () => {
  test('counts by reason, the most frequent first, with first, last and where the last one is', () => {
    const tally = new LetterTally();
    tally.add({ ...one, reason: 'card_data', isWithheld: true, place: '1:1' });
    for (const second of [9, 3, 7]) tally.add({ ...one, timestampMs: at(second), place: `0:${String(second)}` });
    tally.addOther();
    const list = tally.list('x.dlq', false);
    expect(list).toMatchObject({ topic: 'x.dlq', letters: 4, others: 1, isCut: false });
    expect(list.reasons).toEqual([
      {
        reason: 'status_400',
        letters: 3,
        withheld: 0,
        first: '2026-01-01T00:00:03Z',
        last: '2026-01-01T00:00:09Z',
        example: '0:9',
        means: expect.stringContaining('400') as string,
        mend: expect.any(String) as string,
      },
      expect.objectContaining({ reason: 'card_data', withheld: 1 }),
    ]);
    const lines = listLines(list);
    expect(lines[0]).toBe('4 letters in x.dlq.');
    expect(lines).toContain('card_data         1  2026-01-01T00:00:05Z  2026-01-01T00:00:05Z  1:1      1 withheld');
  });

  test('says so where nothing fits, and where there are more', () => {
    const tally = new LetterTally();
    expect(listLines(tally.list('x.dlq', false))).toEqual(['No letters in x.dlq fit.']);
    tally.add(one);
    expect(listLines(tally.list('x.dlq', true))[0]).toBe('The first 1 letter in x.dlq; there are more.');
  });

  test('keeps a reason of anybody on its line, and does not grow without end', () => {
    const tally = new LetterTally();
    tally.add({ ...one, reason: 'bad\r\n\u001B[2J', timestampMs: -1 });
    for (let n = 0; n < 500; n += 1) tally.add({ ...one, reason: `r${String(n)}` });
    const { reasons } = tally.list('x.dlq', false);
    expect(reasons.length).toBeLessThan(210);
    expect(reasons.map(({ reason }) => reason)).toContain('bad\\u{d}\\u{a}\\u{1b}[2J');
    expect(reasons.find(({ reason }) => reason.startsWith('bad'))?.first).toBe('unknown');
  });
});
