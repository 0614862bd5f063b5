import { describe, expect, test } from 'vitest';
import { type Finding, linesOf } from '../../../../src/app/doctor/finding.ts';
import { certificateFinding, findingsOf } from '../../../../src/app/doctor/findings.ts';
import { type ClusterSeen, type Seen, type TopicRole, type TopicSeen } from '../../../../src/app/doctor/seen.ts';
import { type Config } from '../../../../src/config/config.ts';
import { loadConfig } from '../../../../src/config/load.ts';

function configOf(env: Readonly<Record<string, string>> = {}): Config {
  const all = {
    KAFKA_BROKERS: 'localhost:9092',
    SCHEMA_REGISTRY_URL: 'http://localhost:8081',
    SERVICE_BASE_URL: 'https://service.example',
    SERVICE_USERNAME: 'shop',
    SERVICE_PASSWORD: 'canary-password',
    WEBHOOK_SECRETS: 'canary-secret-0123456789-0123456789',
    ...env,
  };
  return loadConfig({ env: all, readFile: () => '' }).config;
}

function topicOf(topic: string, role: TopicRole, over: Partial<TopicSeen> = {}): TopicSeen {
  return {
    topic,
    for: 'something',
    role,
    needsBytes: role === 'read' ? null : 1_048_576,
    needsOption: role === 'read' ? null : 'RECORD_MAX_BYTES',
    partitions: 12,
    replicas: 3,
    minInsync: 2,
    maxMessageBytes: 1_048_588,
    retentionMs: 604_800_000,
    cleanupPolicy: 'delete',
    ...over,
  };
}

const CLUSTER: ClusterSeen = {
  id: 'cluster-1',
  brokers: [
    { address: 'b1:9092', error: null },
    { address: 'b2:9092', error: null },
    { address: 'b3:9092', error: null },
  ],
  topics: [
    topicOf('payments.created', 'read'),
    topicOf('payments.created.dlq', 'letters'),
    topicOf('fraud.scores', 'written'),
    topicOf('fraud.reviews', 'written'),
    topicOf('payments.authorized', 'read'),
  ],
  starts: [{ topic: 'payments.created', committed: true, undecided: 0n }],
  offsetMetadataMaxBytes: 4096,
};

/** All is well; a test breaks one thing. */
const WELL: Seen = {
  kafka: { bootstrap: [{ address: 'localhost:9092', error: null }], cluster: CLUSTER },
  registry: [{ subject: 'fraud.scores-value', standing: 'registered', level: 'BACKWARD' }],
  service: { status: 200, hasToken: true, aheadMs: 400 },
  ports: [{ option: 'WEBHOOK_PORT', host: '0.0.0.0', port: 8080, error: null }],
  connectorRuns: false,
};

/** What is not well. */
function bad(seen: Partial<Seen>, config: Config = configOf()): readonly Finding[] {
  return findingsOf(config, { ...WELL, ...seen }).filter(({ state }) => state !== 'ok');
}

function cluster(over: Partial<ClusterSeen>): Partial<Seen> {
  return { kafka: { ...WELL.kafka, cluster: { ...CLUSTER, ...over } } };
}

function changed(topic: string, over: Partial<TopicSeen>): Partial<Seen> {
  const topics = [...CLUSTER.topics];
  const at = topics.findIndex((each) => each.topic === topic);
  const found = topics[at];
  if (found === undefined) throw new Error(`no ${topic}`);
  topics[at] = { ...found, ...over };
  return cluster({ topics });
}

test('where all is well everything is said to be so', () => {
  expect(bad({})).toEqual([]);
  expect(findingsOf(configOf(), WELL).length).toBeGreaterThan(8);
});

test.each<[string, Partial<Seen>, string, string]>([
  [
    'brokers of which none answers',
    {
      kafka: { bootstrap: [{ address: 'localhost:9092', error: 'ECONNREFUSED' }], cluster: { failed: 'none of them' } },
    },
    'localhost:9092 cannot be reached: ECONNREFUSED',
    'look at the broker',
  ],
  [
    'a broker that speaks TLS where we do not',
    {
      kafka: {
        bootstrap: [{ address: 'localhost:9093', error: 'PEER_SPEAKS_TLS' }],
        cluster: { failed: 'none of them' },
      },
    },
    'localhost:9093 cannot be used: it speaks TLS: PEER_SPEAKS_TLS',
    'set KAFKA_TLS=true',
  ],
  [
    'a broker whose authority is not trusted',
    {
      kafka: {
        bootstrap: [{ address: 'localhost:9093', error: 'SELF_SIGNED_CERT_IN_CHAIN' }],
        cluster: { failed: 'none of them' },
      },
    },
    'localhost:9093 cannot be used: its certificate is of an authority that is not trusted here',
    'KAFKA_TLS_CA_FILE',
  ],
  ...(
    [
      ['KafkaJSProtocolError TOPIC_AUTHORIZATION_FAILED (missing ACL: Describe on topic a)', 'docs/kafka-access.md'],
      ['KafkaJSSASLAuthenticationError SASL_AUTHENTICATION_FAILED', 'KAFKA_SASL_USERNAME'],
      ['KafkaJSProtocolError UNSUPPORTED_SASL_MECHANISM', 'sasl.enabled.mechanisms'],
      ['KafkaJSProtocolError ILLEGAL_SASL_STATE', 'leave KAFKA_SASL_MECHANISM out'],
      ['KafkaJSNumberOfRetriesExceeded OAUTH_TOKEN_REFUSED', 'KAFKA_SASL_OAUTH_CLIENT_SECRET'],
      ['KafkaJSConnectionClosedError', 'they may ask who we are (KAFKA_SASL_MECHANISM)'],
      ['KafkaJSNumberOfRetriesExceeded CERT_HAS_EXPIRED', 'clock of this machine'],
      ['KafkaJSNumberOfRetriesExceeded ECONNRESET', 'look at KAFKA_BROKERS'],
    ] as const
  ).map(([error, mend]): [string, Partial<Seen>, string, string] => [
    `brokers that answer ${error}`,
    { kafka: { ...WELL.kafka, cluster: { failed: `Kafka at h:1: reading topics failed: ${error}.` } } },
    `Kafka does not answer as it should: Kafka at h:1: reading topics failed: ${error}.`,
    mend,
  ]),
  [
    'a broker that the cluster names and that cannot be reached',
    cluster({ brokers: [{ address: 'inside:9092', error: 'ENOTFOUND' }] }),
    'it sends clients to inside:9092',
    'advertised.listeners',
  ],
  [
    'a topic that is missing',
    changed('fraud.scores', { partitions: 0, replicas: 0 }),
    'topic fraud.scores is missing',
    'npx fraud-connector topics create --partitions 12',
  ],
  [
    'partition counts that differ',
    changed('payments.authorized', { partitions: 6 }),
    'payments.created has 12 partitions, payments.authorized 6',
    'the same number',
  ],
  [
    'one broker alone that acknowledges what is written',
    changed('fraud.scores', { minInsync: 1 }),
    'topic fraud.scores: min.insync.replicas is 1',
    '--add-config min.insync.replicas=2',
  ],
  [
    'letters that are compacted',
    changed('payments.created.dlq', { cleanupPolicy: 'compact,delete' }),
    'topic payments.created.dlq is compacted',
    'cleanup.policy=delete',
  ],
  [
    'reviews that are compacted',
    changed('fraud.reviews', { cleanupPolicy: 'compact' }),
    'topic fraud.reviews is compacted: a late delivery of an older review removes the newest decision',
    'cleanup.policy=delete',
  ],
  [
    'a group that would wait to be told where to begin',
    cluster({ starts: [{ topic: 'payments.created', committed: false, undecided: 5000n }] }),
    '5000 records are there',
    'KAFKA_START_FROM',
  ],
  ['a registry that is away', { registry: { failed: 'timeout' } }, 'does not answer: timeout', 'SCHEMA_REGISTRY_URL'],
  [
    'a schema that is not registered',
    { registry: [{ subject: 'fraud.scores-value', standing: 'new', level: 'NONE' }] },
    'schema of fraud.scores-value: nothing',
    'npx fraud-connector schemas register',
  ],
  [
    'an older schema',
    { registry: [{ subject: 'fraud.scores-value', standing: 'older', level: null }] },
    'an older one is registered',
    'npx fraud-connector schemas register',
  ],
  [
    'a schema that does not fit',
    { registry: [{ subject: 'fraud.scores-value', standing: 'refused', level: 'FULL' }] },
    'does not go with ours',
    'docs/schemas.md',
  ],
  [
    'a service that is away',
    { service: { failed: 'timeout' } },
    'service does not answer: timeout',
    'SERVICE_BASE_URL',
  ],
  [
    'a login that is refused',
    { service: { status: 401, hasToken: false, aheadMs: 0 } },
    'refused (status 401)',
    'PASSWORD',
  ],
  ['a login elsewhere', { service: { status: 404, hasToken: false, aheadMs: 0 } }, 'status 404', 'path'],
  ['a service that is ill', { service: { status: 503, hasToken: false, aheadMs: 0 } }, 'status 503', 'later'],
  ['a login without a token', { service: { status: 200, hasToken: false, aheadMs: 0 } }, 'without a token', 'path'],
  [
    'a clock so far out that webhooks are refused',
    { service: { status: 200, hasToken: true, aheadMs: -301_000 } },
    "clock: 301 s ahead of the service's: webhooks are refused",
    'NTP',
  ],
  [
    'a port that is taken',
    { ports: [{ option: 'WEBHOOK_PORT', host: '0.0.0.0', port: 8080, error: 'EADDRINUSE' }] },
    'WEBHOOK_PORT: 0.0.0.0:8080 cannot be listened on: EADDRINUSE',
    'give another WEBHOOK_PORT',
  ],
])('finds %s, and says what to do', (_, seen, text, mend) => {
  const wrongs = bad(seen).filter(({ state }) => state === 'wrong');
  expect(wrongs.map((finding) => finding.text).join('\n')).toContain(text);
  expect(wrongs.map((finding) => finding.mend).join('\n')).toContain(mend);
  for (const finding of bad(seen)) expect(JSON.stringify(finding)).not.toContain('canary');
});

describe('warns, and does not fail, where', () => {
  test.each<[string, Partial<Seen>, string]>([
    [
      'one of several addresses is dead',
      {
        kafka: {
          ...WELL.kafka,
          bootstrap: [...WELL.kafka.bootstrap, { address: 'gone:9092', error: 'ENOTFOUND' }],
        },
      },
      'gone:9092',
    ],
    [
      'there is one copy',
      changed('fraud.scores', { replicas: 1, minInsync: 1 }),
      'fewer than 3 copies: fraud.scores (1)',
    ],
    ['every copy must acknowledge', changed('fraud.scores', { minInsync: 3 }), 'one broker away stops'],
    ['a topic that others write is not safe', changed('payments.created', { minInsync: 1 }), 'payments.created'],
    ['letters are too large', changed('payments.created.dlq', { maxMessageBytes: 1000 }), 'takes 1000 bytes'],
    ['letters do not stay long', changed('payments.created.dlq', { retentionMs: 3_600_000 }), 'for 1 h'],
    [
      'scores are compacted',
      changed('fraud.scores', { cleanupPolicy: 'compact,delete' }),
      'topic fraud.scores is compacted: a later record with a failure removes the decision before it',
    ],
    [
      'a subject takes whatever is registered',
      { registry: [{ subject: 'fraud.scores-value', standing: 'registered', level: 'NONE' }] },
      'subject fraud.scores-value: compatibility NONE',
    ],
    [
      'a subject takes what cannot read older records',
      { registry: [{ subject: 'fraud.scores-value', standing: 'registered', level: 'FORWARD_TRANSITIVE' }] },
      'compatibility FORWARD_TRANSITIVE',
    ],
    ['commits hold little', cluster({ offsetMetadataMaxBytes: 1024 }), '1024 bytes with a commit'],
    ['the clock is out a little', { service: { status: 200, hasToken: true, aheadMs: 60_000 } }, '60 s behind'],
  ])('%s', (_, seen, text) => {
    const found = bad(seen);
    expect(found.map(({ state }) => state)).toEqual(['warning']);
    expect(found[0]?.text).toContain(text);
  });

  test.each(['BACKWARD', 'BACKWARD_TRANSITIVE', 'FULL', 'FULL_TRANSITIVE', null] as const)(
    'but not of the compatibility level %s',
    (level) => {
      expect(bad({ registry: [{ subject: 'fraud.scores-value', standing: 'registered', level }] })).toEqual([]);
    },
  );

  test('the operations port can be reached from elsewhere', () => {
    const found = bad({}, configOf({ OPS_HOST: '0.0.0.0' }));
    expect(found).toMatchObject([{ check: 'ops_host', state: 'warning' }]);
  });
});

describe('says what it did not look at, where', () => {
  const dead = { bootstrap: [{ address: 'localhost:9092', error: 'timeout' }], cluster: { failed: 'x' } };
  const away = { ...WELL.kafka, cluster: { failed: 'x' } };
  test.each<[string, Partial<Seen>, string]>([
    ['Kafka is away', { kafka: away }, 'topics, group (Kafka does not answer)'],
    ['no broker can be reached', { kafka: dead }, 'cluster, topics, group (no broker can be reached)'],
    ['the registry is away', { registry: { failed: 'x' } }, 'schemas (the registry does not answer)'],
    ['the service is away', { service: { failed: 'x' } }, 'clock (the service does not answer)'],
    ['a topic is missing', changed('payments.created', { partitions: 0 }), 'partition counts (a topic is missing)'],
    ['brokers do not show their options', cluster({ offsetMetadataMaxBytes: null }), 'offset.metadata.max.bytes'],
    ['nor those of a topic', changed('fraud.scores', { minInsync: null, maxMessageBytes: null }), 'max.message.bytes'],
    ['the service does not tell the time', { service: { status: 200, hasToken: true, aheadMs: null } }, 'clock'],
    ['reviews run alone', { service: null, registry: null }, 'reviews alone needs none'],
  ])('%s', (_, seen, text) => {
    const texts = bad(seen).flatMap((finding) => (finding.state === 'skipped' ? [finding.text] : []));
    expect(texts.join('\n')).toContain(text);
  });
});

test('a port that a running connector has is no fault', () => {
  const ports = [{ option: 'WEBHOOK_PORT', host: '0.0.0.0', port: 8080, error: 'EADDRINUSE' }] as const;
  expect(bad({ ports, connectorRuns: true })).toEqual([]);
});

test('a clock that is far out is only a warning where no webhooks come', () => {
  const service = { status: 200, hasToken: true, aheadMs: 900_000 };
  expect(bad({ service }, configOf({ FLOWS: 'scoring,sync' }))).toMatchObject([{ state: 'warning' }]);
});

test('what is mended alike and stands in a row is told how once', () => {
  const missing = { check: 'topics', state: 'wrong', mend: 'create them' } as const;
  expect(
    linesOf([
      { ...missing, text: 'a' },
      { ...missing, text: 'b' },
    ]),
  ).toEqual(['✗ a', '✗ b', '  → create them']);
});

test('a finding is a line with its mark, and below it what to do', () => {
  expect(
    linesOf([
      { check: 'a', state: 'ok', text: 'fine', mend: null },
      { check: 'a', state: 'wrong', text: 'broken', mend: 'mend it' },
      { check: 'a', state: 'warning', text: 'odd', mend: null },
      { check: 'a', state: 'skipped', text: 'skipped: not seen', mend: null },
    ]),
  ).toEqual(['✓ fine', '✗ broken', '  → mend it', '! odd', '– skipped: not seen']);
});

test.each([
  [-1, 'wrong', 'has expired'],
  [0, 'warning', 'expires in 0 days'],
  [13, 'warning', 'expires in 13 days'],
  [14, 'ok', 'expires in 14 days'],
])('of a certificate with %i days left it says %s', (days, state, text) => {
  expect(certificateFinding(days)).toMatchObject({ state });
  expect(certificateFinding(days).text).toContain(text);
});
