import { type Config } from '../../config/config.ts';
import { type LetterSource } from '../../dead-letters/read-letter.ts';
import { Fault } from '../../kernel/fault.ts';

/** A dead-letter topic of a configuration. */
export interface LetterTopic {
  /** The flow that its letters come from, and go through again. */
  readonly flow: 'scoring' | 'sync' | 'reviews';
  /** The dead-letter topic. */
  readonly letters: string;
  /** What `dlq.source.topic` of its letters says. */
  readonly source: string;
}

/** Dead-letter topics in the order in which they are sent again: a transaction comes before its updates. */
export function letterTopics({ topics }: Pick<Config, 'topics'>): readonly LetterTopic[] {
  const lettersOf = (topic: string): string => `${topic}${topics.deadLetterSuffix}`;
  return [
    { flow: 'scoring', letters: lettersOf(topics.created), source: topics.created },
    { flow: 'sync', letters: lettersOf(topics.authorized), source: topics.authorized },
    { flow: 'reviews', letters: lettersOf(topics.reviews), source: 'webhook' },
  ];
}

/** The dead-letter topic of this name, or of the topic of this name. Throws `USAGE` where there is none. */
export function letterTopicOf(config: Pick<Config, 'topics'>, given: string): LetterTopic {
  const all = letterTopics(config);
  const { deadLetterSuffix } = config.topics;
  const found = all.find(({ letters }) => letters === given || letters === `${given}${deadLetterSuffix}`);
  if (found !== undefined) return found;
  throw new Fault(
    'USAGE',
    `--topic: ${JSON.stringify(given)} is no dead-letter topic of this configuration; there are ${all.map(({ letters }) => letters).join(', ')}.`,
  );
}

/** Whether a letter belongs to its topic: another source has another flow. */
export function isFrom(source: LetterSource, topic: LetterTopic): boolean {
  return source.do === 'webhook' ? topic.flow === 'reviews' : topic.flow !== 'reviews' && source.topic === topic.source;
}
