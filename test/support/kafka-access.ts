import { type Config } from '../../src/config/config.ts';

/** What a right is on, of one configuration. */
export type AccessName =
  | 'created'
  | 'authorized'
  | 'scores'
  | 'reviews'
  | 'created letters'
  | 'authorized letters'
  | 'reviews letters'
  | 'group'
  | 'replay groups'
  | 'look groups'
  | 'redrive groups'
  | 'cluster';

export type Operation = 'Read' | 'Write' | 'Describe' | 'Create' | 'Delete' | 'DescribeConfigs';

/** One right that a command needs of Kafka's authorizer. Read, Write and Delete include Describe. */
export interface Access {
  readonly operation: Operation;
  readonly on: AccessName;
  readonly why: string;
  /** The command does its work without it, and says or knows less. */
  readonly isOptional?: true;
}

/** A part of the command line, with the rights of it: all of them, and no others. */
export interface AccessOf {
  readonly command: string;
  readonly rights: readonly Access[];
}

const TOPICS: readonly AccessName[] = [
  'created',
  'created letters',
  'authorized',
  'authorized letters',
  'scores',
  'reviews',
  'reviews letters',
];

function forTopics(names: readonly AccessName[], operation: Operation, why: string): readonly Access[] {
  return names.map((on) => ({ operation, on, why }));
}

const LIVE: Access = {
  operation: 'Describe',
  on: 'group',
  why: 'knows how far the live connector has come, so that no newer update is overwritten',
};

/** The table of rights: docs/kafka-access.md is printed from it, and tests against Kafka's authorizer grant exactly these. */
export const KAFKA_ACCESS: readonly AccessOf[] = [
  {
    command: 'run',
    rights: [
      { operation: 'Read', on: 'created', why: 'scoring: payments' },
      { operation: 'Write', on: 'created letters', why: 'scoring: payments that cannot be scored' },
      { operation: 'Write', on: 'scores', why: 'scoring: scores' },
      { operation: 'Read', on: 'authorized', why: 'sync: status updates' },
      { operation: 'Write', on: 'authorized letters', why: 'sync: updates that cannot be sent' },
      { operation: 'Read', on: 'group', why: 'scoring, sync: joins the group, heartbeats, commits' },
      { operation: 'Write', on: 'reviews', why: 'reviews: manual reviews' },
      { operation: 'Write', on: 'reviews letters', why: 'reviews: webhooks that this version does not know' },
    ],
  },
  {
    command: 'replay',
    rights: [
      { operation: 'Read', on: 'authorized', why: 'reads the range' },
      { operation: 'Write', on: 'authorized letters', why: 'updates that cannot be sent' },
      { operation: 'Read', on: 'replay groups', why: 'joins a group of its own, commits how far it has come' },
      { operation: 'Delete', on: 'replay groups', why: '`replay --remove`: forgets one' },
      LIVE,
    ],
  },
  {
    command: 'dlq list, dlq show',
    rights: [
      ...forTopics(['created letters', 'authorized letters', 'reviews letters'], 'Read', 'reads the letters'),
      { operation: 'Read', on: 'look groups', why: 'joins a group of its own, which commits nothing' },
    ],
  },
  {
    command: 'dlq redrive',
    rights: [
      ...forTopics(['created letters', 'authorized letters', 'reviews letters'], 'Read', 'reads the letters'),
      ...forTopics(
        ['created letters', 'authorized letters', 'reviews letters'],
        'Write',
        'what cannot be sent this time either',
      ),
      { operation: 'Read', on: 'authorized', why: 'looks for newer updates' },
      { operation: 'Write', on: 'scores', why: 'scores of payments that are sent again' },
      { operation: 'Write', on: 'reviews', why: 'webhooks that this version knows' },
      { operation: 'Read', on: 'redrive groups', why: 'joins a group of its own, commits how far it has come' },
      {
        operation: 'Delete',
        on: 'redrive groups',
        why: 'takes away the groups it has looked around with',
        isOptional: true,
      },
      LIVE,
    ],
  },
  { command: 'topics check', rights: forTopics(TOPICS, 'Describe', 'is it there?') },
  {
    command: 'topics create',
    rights: [
      ...forTopics(TOPICS, 'Create', 'makes what is missing'),
      ...forTopics(TOPICS, 'Describe', 'is it there already?'),
    ],
  },
  {
    command: 'check',
    rights: [
      ...forTopics(TOPICS, 'Describe', 'is it there, and how many partitions and copies has it?'),
      ...forTopics(TOPICS, 'DescribeConfigs', 'sizes, retention, `min.insync.replicas`').map(optional),
      { operation: 'Describe', on: 'group', why: 'has it committed anything?' },
      { operation: 'DescribeConfigs', on: 'cluster', why: '`offset.metadata.max.bytes`', isOptional: true },
    ],
  },
];

function optional(right: Access): Access {
  return { ...right, isOptional: true };
}

/** A resource as Kafka's authorizer knows it. */
export interface Resource {
  readonly kind: 'topic' | 'group' | 'cluster';
  readonly name: string;
  readonly pattern: 'literal' | 'prefixed';
}

/** How documentation calls what a right is on: by options. */
export const ACCESS_LABELS: Readonly<Record<AccessName, string>> = {
  created: 'topic `TOPIC_CREATED`',
  authorized: 'topic `TOPIC_AUTHORIZED`',
  scores: 'topic `TOPIC_SCORES`',
  reviews: 'topic `TOPIC_REVIEWS`',
  'created letters': 'topic `TOPIC_CREATED` + `TOPIC_DLQ_SUFFIX`',
  'authorized letters': 'topic `TOPIC_AUTHORIZED` + `TOPIC_DLQ_SUFFIX`',
  'reviews letters': 'topic `TOPIC_REVIEWS` + `TOPIC_DLQ_SUFFIX`',
  group: 'group `KAFKA_GROUP_ID`',
  'replay groups': 'groups that begin with `KAFKA_GROUP_ID` + `-replay-`',
  'look groups': 'groups that begin with `KAFKA_GROUP_ID` + `-dlq-`',
  'redrive groups': 'groups that begin with `KAFKA_GROUP_ID` + `-redrive-`',
  cluster: 'the cluster',
};

function topic(name: string): Resource {
  return { kind: 'topic', name, pattern: 'literal' };
}

/** The same of one configuration. */
export function resourceOf({ topics, kafka }: Pick<Config, 'topics' | 'kafka'>, on: AccessName): Resource {
  const groups = (end: string): Resource => ({ kind: 'group', name: `${kafka.groupId}${end}`, pattern: 'prefixed' });
  switch (on) {
    case 'created':
      return topic(topics.created);
    case 'authorized':
      return topic(topics.authorized);
    case 'scores':
      return topic(topics.scores ?? '');
    case 'reviews':
      return topic(topics.reviews);
    case 'created letters':
      return topic(`${topics.created}${topics.deadLetterSuffix}`);
    case 'authorized letters':
      return topic(`${topics.authorized}${topics.deadLetterSuffix}`);
    case 'reviews letters':
      return topic(`${topics.reviews}${topics.deadLetterSuffix}`);
    case 'group':
      return { kind: 'group', name: kafka.groupId, pattern: 'literal' };
    case 'replay groups':
      return groups('-replay-');
    case 'look groups':
      return groups('-dlq-');
    case 'redrive groups':
      return groups('-redrive-');
    case 'cluster':
      return { kind: 'cluster', name: 'kafka-cluster', pattern: 'literal' };
  }
}
