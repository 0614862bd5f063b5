import { describe, expect, test } from 'vitest';
import { toPointerRecord } from '../../../src/dead-letters/letter.ts';
import { headerText, readLetter } from '../../../src/dead-letters/read-letter.ts';
import { letterOf, SOURCE } from './builders.ts';

const headersWith = (change: Readonly<Record<string, string | null | undefined>>) => ({
  headers: { ...letterOf().headers, ...change },
});

describe('a record is no letter', () => {
  test.for([
    ['without a reason', { 'dlq.reason': undefined }],
    ['with a reason that has no value', { 'dlq.reason': null }],
    ['without a source', { 'dlq.source.topic': undefined }],
    ['with a partition that is no number', { 'dlq.source.partition': '-1' }],
    ['with an offset that is no number', { 'dlq.source.offset': '1e3' }],
    ['with an offset beyond all offsets', { 'dlq.source.offset': '9'.repeat(30) }],
  ] as const)('%s', ([, change]) => {
    expect(readLetter(headersWith(change))).toBeNull();
  });

  test('whose reason is there twice', () => {
    const { headers } = letterOf();
    expect(readLetter({ headers: { ...headers, 'dlq.reason': ['status_400', 'status_422'] } })).toBeNull();
  });
});

describe('a letter', () => {
  test('says what was written into it', () => {
    expect(readLetter(letterOf())).toEqual({
      reason: 'status_400',
      detail: null,
      stage: 'score',
      attempts: '2',
      httpStatus: '400',
      serviceError: null,
      failedAt: '2026-01-02T00:00:00.000Z',
      connector: 'fraud-screening-connector/1.2.3',
      account: 'test',
      source: { do: 'record', topic: SOURCE, partition: 3, offset: 42n, timestampMs: Date.UTC(2026, 0, 1) },
      isWithheld: false,
    });
  });

  test('of a webhook has no position', () => {
    expect(readLetter(headersWith({ 'dlq.source.topic': 'webhook', 'dlq.source.offset': undefined }))?.source).toEqual({
      do: 'webhook',
    });
  });

  test('without a time of its record says so', () => {
    expect(readLetter(headersWith({ 'dlq.source.timestamp': undefined }))?.source).toMatchObject({ timestampMs: null });
  });

  test('that is a pointer says so', () => {
    const { headers } = toPointerRecord({ ...letterOf(), topic: 'any' });
    expect(readLetter({ headers })?.isWithheld).toBe(true);
  });
});

test('headers named like what every object has are not found', () => {
  expect(headerText({}, 'constructor')).toBeNull();
});
