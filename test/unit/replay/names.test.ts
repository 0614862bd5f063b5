import { describe, expect, test } from 'vitest';
import { checkTopic, groupOfRedrive, groupOfReplay, someId } from '../../../src/replay/names.ts';

const TOPICS = { created: 'c', reviews: 'r', scores: 's', deadLetterSuffix: '.dlq' };

describe('the group of a replay', () => {
  test.each(['', ' ', 'a b', '-x', '.x', 'ä', 'a/b', 'x'.repeat(65)])('cannot be of %j', (id) => {
    expect(() => groupOfReplay('live', id)).toThrow(/^--id: give up to 64/);
  });

  test('is never the live one, nor that of the index of another replay', () => {
    expect(() => groupOfReplay('live', 'live')).toThrow(/never touches/);
    expect(() => groupOfReplay('live', 'x-index')).toThrow(/no id ends with/);
  });

  test('is named after both', () => {
    expect(groupOfReplay('live', 'march-1')).toBe('live-replay-march-1');
  });
});

test('the group of a redrive is named after both, and follows the same rules', () => {
  expect(groupOfRedrive('live', 'march-1')).toBe('live-redrive-march-1');
  for (const id of ['a b', 'live', 'x-index']) expect(() => groupOfRedrive('live', id)).toThrow('--id: ');
});

describe('an id that is made up', () => {
  test.each([0, 0.5, 0.999_999])('is one (%d)', (drawn) => {
    const id = someId('2026-03-01T09:30:00Z', drawn);
    expect(id).toMatch(/^20260301t093000-[\da-z]{3}$/);
    expect(groupOfReplay('live', id)).toContain(id);
  });
});

describe('the topic of a replay', () => {
  test.each([
    ['c', /holds payments/],
    ['r', /written by the connector/],
    ['s', /written by the connector/],
    ['a.dlq', /dlq redrive/],
  ])('is not %s', (topic, message) => {
    expect(() => {
      checkTopic(topic, TOPICS);
    }).toThrow(message);
  });

  test.each([
    ['restored', TOPICS],
    ['s2', { ...TOPICS, scores: null }],
  ])('may be another one than the configured (%s)', (topic, topics) => {
    expect(() => {
      checkTopic(topic, topics);
    }).not.toThrow();
  });
});
