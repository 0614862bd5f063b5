import { expect, test } from 'vitest';
import { HOLDS, isLetterCode, isPartial, isStatusCode, letterRow, LETTERS } from '../../../src/kernel/outcome.ts';

test.each(['status_100', 'status_400', 'status_599', 'error_msg', 'card_data'])(
  '%s is a reason of dead letters',
  (code) => {
    expect(isLetterCode(code)).toBe(true);
  },
);

test.each(['status_<code>', 'status_600', 'status_40', 'status_4000', ' status_400', 'toString', 'bad_luck', ''])(
  '%j is none',
  (code) => {
    expect(isLetterCode(code)).toBe(false);
  },
);

test('all statuses share one row of the table', () => {
  expect(letterRow('status_403')).toBe(LETTERS['status_<code>']);
  expect(letterRow('status_503')).toBe(LETTERS['status_<code>']);
  expect(letterRow('error_msg')).toBe(LETTERS.error_msg);
  expect(['status_503', 'error_msg'].map(isStatusCode)).toEqual([true, false]);
});

test('only single records wait for a record that fails and for the guard; all other holds are of whole flows', () => {
  const causes = Object.keys(HOLDS) as (keyof typeof HOLDS)[];
  expect(causes.filter(isPartial)).toEqual(['record_failing', 'dead_letter_guard']);
});
