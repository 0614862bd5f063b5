import { describe, expect, test } from 'vitest';
import { isFrom, letterTopicOf, letterTopics } from '../../../../src/app/dead-letters/letter-topic.ts';

const config = {
  topics: {
    created: 'p.created',
    authorized: 'p.authorized',
    reviews: 'f.reviews',
    scores: 's',
    deadLetterSuffix: '.dlq',
  },
};

test('a topic that has no letters here is refused, with those that have', () => {
  expect(() => letterTopicOf(config, 's')).toThrow(
    '--topic: "s" is no dead-letter topic of this configuration; there are p.created.dlq, p.authorized.dlq, f.reviews.dlq.',
  );
});

test('a dead-letter topic is found by its own name and by that of its source', () => {
  for (const name of ['p.authorized', 'p.authorized.dlq'])
    expect(letterTopicOf(config, name)).toEqual({ flow: 'sync', letters: 'p.authorized.dlq', source: 'p.authorized' });
  expect(letterTopicOf(config, 'f.reviews').source).toBe('webhook');
});

test('transactions come before their updates', () => {
  expect(letterTopics(config).map(({ flow }) => flow)).toEqual(['scoring', 'sync', 'reviews']);
});

const from = (topic: string) => ({ do: 'record', topic, partition: 0, offset: 0n, timestampMs: null }) as const;

describe('a letter belongs to a topic', () => {
  test('of its own source only', () => {
    const topic = letterTopicOf(config, 'p.created');
    expect(
      [from('p.created'), from('p.authorized'), { do: 'webhook' } as const].map((source) => isFrom(source, topic)),
    ).toEqual([true, false, false]);
  });

  test('of reviews, where it was a webhook', () => {
    const topic = letterTopicOf(config, 'f.reviews');
    expect([isFrom({ do: 'webhook' }, topic), isFrom(from('webhook'), topic)]).toEqual([true, false]);
  });
});
