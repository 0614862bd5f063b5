import { expect, test } from 'vitest';
import { type LetterSource, readLetter } from '../../../src/dead-letters/read-letter.ts';
import { toSourceRecord } from '../../../src/dead-letters/source-record.ts';
import { letterOf, sourceRecord } from './builders.ts';

type OfRecord = Extract<LetterSource, { do: 'record' }>;
const sourceIn = (letter: Parameters<typeof readLetter>[0]): OfRecord => readLetter(letter)?.source as OfRecord;

test('what a letter is about is the record as it was read, with the attempts so far', () => {
  const record = sourceRecord();
  const letter = letterOf(record);
  const again = toSourceRecord(letter, sourceIn(letter));
  expect(again).toMatchObject({ ...record, headers: record.headers });
  expect(again.headers['dlq.attempts']).toBe('2');
});

test('a record that had no time has none', () => {
  const letter = letterOf(sourceRecord({ timestampMs: -1 }));
  expect(toSourceRecord(letter, sourceIn(letter)).timestampMs).toBe(-1);
});

test('what a pointer points to is what was found there, with the attempts so far', () => {
  const letter = letterOf(sourceRecord(), undefined, { key: null, value: null });
  const found = sourceRecord({ headers: { own: 'x' } });
  expect(toSourceRecord(letter, sourceIn(letter), found)).toEqual({
    ...found,
    headers: { own: 'x', 'dlq.attempts': '2' },
  });
});
