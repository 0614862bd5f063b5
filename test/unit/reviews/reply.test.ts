import { expect, test } from 'vitest';
import { replyTo, STATUS_OF } from '../../../src/reviews/reply.ts';

const results = Object.keys(STATUS_OF) as (keyof typeof STATUS_OF)[];

test('answers with these statuses and no others', () => {
  expect(new Set(results.map((result) => replyTo(result).status))).toEqual(
    new Set([200, 400, 401, 404, 405, 408, 413, 415, 503]),
  );
});

test('says nothing of the reason: whatever is wrong with the proof has one answer', () => {
  expect(replyTo('bad_timestamp')).toBe(replyTo('bad_signature'));
  expect(replyTo('outside_window')).toBe(replyTo('bad_signature'));
});

test('asks the sender to come again only where that helps', () => {
  const withRetryAfter = results.filter((result) => 'retry-after' in replyTo(result).headers);
  expect(withRetryAfter).toEqual(['unavailable']);
});

test.each(results)('forbids that the answer to %s is stored', (result) => {
  expect(replyTo(result).headers['cache-control']).toBe('no-store');
});
