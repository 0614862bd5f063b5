import {
  choice,
  choices,
  derivedInteger,
  EVERY_FLOW,
  flag,
  integer,
  linesFile,
  list,
  type Option,
  optionalText,
  proxyUrl,
  type RunnableFlow,
  secret,
  secrets,
  share,
  text,
  textFile,
  url,
} from './kinds.ts';
import { TRACING_OPTIONS } from './tracing.ts';
import { KAFKA_SECURITY_OPTIONS } from './kafka-security-options.ts';
import { type OptionName, type SecretName, type Values } from './values.ts';

const CALLING_FLOWS: readonly RunnableFlow[] = ['scoring', 'sync'];
const NAME = { accepts: '1 to 100 letters, digits, dots, dashes or underscores', pattern: /^[\w.-]{1,100}$/ };
const TOPIC = {
  accepts: 'a topic name: 1 to 249 letters, digits, dots, dashes or underscores',
  pattern: /^(?!\.{1,2}$)[\w.-]{1,249}$/,
};
const HOST = { accepts: 'a host name or an address', pattern: /^[A-Za-z0-9.:_-]{1,255}$/ };
const PORT = String.raw`([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])`;
const PRINTABLE = { accepts: 'a text of printable characters', pattern: /^\P{Cc}{1,255}$/u };
/** A name of RFC 9110 (section 5.1, token), and none of those that the client or HTTP itself sets. */
const HEADER =
  /^(?!(?:accept|authorization|connection|content-length|content-type|date|expect|host|keep-alive|te|traceparent|tracestate|trailer|transfer-encoding|upgrade|user-agent|x-forwarded-for)$)[!#$%&'*+.^_`|~0-9a-z-]{1,100}$/i;
const PORTS = { min: 0, max: 65_535 };
const UP_TO_A_MINUTE = { min: 100, max: 60_000, unit: 'milliseconds' } as const;
const MIB = 1_048_576;

/** The one table of options: loading, printing, checking and documenting them follow it. Order is that of the docs. */
export const OPTIONS: { readonly [N in OptionName]: Option<Values[N]> } = {
  ACCOUNT: text({
    ...NAME,
    absent: 'default',
    doc: 'The service account this process serves: written into scores, reviews, `ce_source` and dead letters.',
  }),
  FLOWS: choices({
    of: ['scoring', 'sync', 'reviews'],
    absent: ['scoring', 'sync', 'reviews'],
    doc: 'What to run. Scoring and sync belong in one process; one without the other needs a group id of its own.',
  }),
  LOG_LEVEL: choice({
    of: ['debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    absent: 'info',
    doc: 'The least level that is logged.',
  }),
  CONFIG_STRICT: flag({
    absent: false,
    doc: 'Any unknown name with one of our prefixes is an error, not only one that looks misspelt.',
  }),

  KAFKA_BROKERS: list({
    accepts: '`host:port`, comma separated',
    pattern: new RegExp(String.raw`^([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):${PORT}$`),
    neededBy: EVERY_FLOW,
    doc: 'Brokers to learn the cluster from.',
  }),
  KAFKA_CLIENT_ID: text({ ...NAME, absent: 'fraud-connector', doc: 'How the brokers name this client.' }),
  KAFKA_GROUP_ID: text({ ...PRINTABLE, absent: 'fraud-connector', doc: 'The consumer group.' }),
  KAFKA_ALLOW_PLAINTEXT: flag({
    absent: false,
    doc: 'Brokers off this machine are used without TLS, and passwords and tokens are shown without it. Payment data then crosses the network readable.',
  }),
  ...KAFKA_SECURITY_OPTIONS,
  KAFKA_SESSION_TIMEOUT_MS: integer({
    min: 6000,
    max: 1_800_000,
    unit: 'milliseconds',
    absent: 30_000,
    doc: 'How long the group waits for a silent member. A third of it is the time to finish work before a rebalance.',
  }),
  KAFKA_START_FROM: text({
    accepts: '`earliest`, `latest`, a time such as `2026-03-01T00:00:00Z`, or a span back from now such as `-24h`',
    pattern:
      /^(earliest|latest|-\d{1,9}[smhd]|\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d))$/,
    doc: 'Where a group that has committed nothing of a topic begins. Without it, such a group holds when the topic has records older than an hour, naming how many would be sent. A group that is known goes on where it was.',
  }),
  KAFKA_ASSIGNOR: choice({
    of: ['co-partitioned-sticky', 'round-robin'],
    absent: 'co-partitioned-sticky',
    doc: 'How the group shares its partitions: partition p of both topics to one process, which keeps what it had. `round-robin` only while a group is changed over from another assignor, process by process.',
  }),
  KAFKA_OFFSET_GAP: choice({
    of: ['earliest', 'stop'],
    absent: 'earliest',
    doc: 'Where the log of a partition does not hold the next offset to be read any more: read on, or hold that partition until somebody has looked. Both report what is missing; what was read before goes on either way.',
  }),
  DEAD_LETTER_OFFSETS: list({
    accepts: '`topic:partition:offset`, comma separated',
    pattern: /^[\w.-]{1,249}:\d{1,9}:\d{1,19}$/,
    doc: 'Records that an operator wants out of the way: they become dead letters when they are read.',
  }),

  TOPIC_CREATED: text({ ...TOPIC, absent: 'payments.created', doc: 'Read by scoring.' }),
  TOPIC_AUTHORIZED: text({ ...TOPIC, absent: 'payments.authorized', doc: 'Read by sync and replay.' }),
  TOPIC_REVIEWS: text({ ...TOPIC, absent: 'fraud.reviews', doc: 'Written by the webhook bridge.' }),
  TOPIC_SCORES: text({
    ...TOPIC,
    absent: 'fraud.scores',
    emptyCounts: true,
    doc: 'Written by scoring. Empty (`TOPIC_SCORES=`): no score records.',
  }),
  TOPIC_DLQ_SUFFIX: text({
    ...TOPIC,
    absent: '.dlq',
    doc: "A dead-letter topic is its source's name with this behind.",
  }),

  SCHEMA_REGISTRY_URL: url({
    neededBy: EVERY_FLOW,
    doc: 'A registry with the Confluent API; its path is kept (`/apis/ccompat/v7`).',
  }),
  SCHEMA_REGISTRY_USERNAME: text({ ...PRINTABLE, quotable: false, doc: 'For a registry that asks for a password.' }),
  SCHEMA_REGISTRY_PASSWORD: secret({ doc: 'Belongs to `SCHEMA_REGISTRY_USERNAME`.' }),
  SCHEMA_REGISTRY_TLS_CA_FILE: textFile({
    doc: 'Certificates in PEM of the authorities that the registry is believed by. Read again when the file changes. None: those that Node brings.',
  }),

  SERVICE_BASE_URL: url({
    neededBy: CALLING_FLOWS,
    doc: 'The screening service; its path is kept. https, or http to this machine.',
  }),
  SERVICE_USERNAME: text({
    accepts: 'a text of printable characters without a colon',
    pattern: /^[^\p{Cc}:]{1,255}$/u,
    quotable: false,
    neededBy: CALLING_FLOWS,
    doc: 'The user of the service account.',
  }),
  SERVICE_PASSWORD: secret({ neededBy: CALLING_FLOWS, doc: 'Belongs to `SERVICE_USERNAME`.' }),
  SERVICE_ALLOW_HTTP: flag({
    absent: false,
    doc: 'An http `SERVICE_BASE_URL` off this machine is used. Credentials and payment data then cross the network readable.',
  }),
  SERVICE_TLS_CA_FILE: textFile({
    doc: 'Certificates in PEM of the authorities that the service is believed by. Read again when the file changes. None: those that Node brings.',
  }),
  SERVICE_TLS_CERT_FILE: textFile({
    doc: 'Certificate in PEM that is shown to a service that asks for one: its own first, then those that lead to its authority. Read again when the file changes.',
  }),
  SERVICE_TLS_KEY_FILE: textFile({
    doc: 'Private key of that certificate in PEM, not encrypted. Read again when the file changes.',
  }),
  SERVICE_PROXY_URL: proxyUrl({
    doc: 'A proxy that the service is reached through, by CONNECT, such as `http://proxy:3128`. `HTTPS_PROXY` and its like are not read.',
  }),
  SERVICE_TIMEOUT_MS: derivedInteger({
    ...UP_TO_A_MINUTE,
    shownDefault: 'min(5000, 0.3 × `KAFKA_SESSION_TIMEOUT_MS`)',
    doc: 'For one whole attempt of scoring. At most 0.3 of the session, so that a rebalance need not cut it off.',
  }),
  SERVICE_CONNECT_TIMEOUT_MS: integer({
    ...UP_TO_A_MINUTE,
    absent: 2000,
    doc: 'For a connection with its TLS handshake.',
  }),
  SERVICE_MAX_REQUESTS_PER_SECOND: derivedInteger({
    min: 1,
    max: 100_000,
    shownDefault: 'none',
    doc: 'Requests a second at most, per process. None: as many as the concurrency allows.',
  }),
  SERVICE_FORWARD_IP: flag({
    absent: false,
    doc: "A payment's `ip`, where it is a valid address, also goes out as the header `X-Forwarded-For`.",
  }),
  SERVICE_IDEMPOTENCY_HEADER: optionalText({
    accepts: 'the name of a header that is not set otherwise, such as `Idempotency-Key`',
    pattern: HEADER,
    doc: 'A header that is the same for every attempt to score one record: a SHA-256 of its position and trans_id.',
  }),

  SCORING_CONCURRENCY: integer({ min: 1, max: 1024, absent: 64, doc: 'Scoring requests at once, per process.' }),
  SCORING_LIMIT: choice({
    of: ['fixed', 'adaptive'],
    absent: 'fixed',
    doc: '`adaptive`: as many requests at once as the service takes, found out from its answers; at most SCORING_CONCURRENCY.',
  }),
  SCORING_ORDERING: choice({
    of: ['key', 'transaction'],
    absent: 'key',
    doc: 'What is kept in order: records of one key (without a key, of one trans_id), or of one trans_id whatever the key.',
  }),
  SCORING_MAX_ATTEMPTS: integer({
    min: 1,
    max: 1000,
    absent: 8,
    doc: 'A record that the service answers with 500 or `error_msg` becomes a dead letter after this many attempts, if others succeed meanwhile.',
  }),
  SCORING_REFUSE_AFTER_MS: integer({
    min: 0,
    max: 86_400_000,
    unit: 'milliseconds',
    absent: 300_000,
    doc: 'And not before those attempts have gone on for this long.',
  }),
  DEAD_LETTER_MAX_SHARE: share({
    absent: 0.05,
    doc: 'The share of records that may become dead letters by a single answer, or because they cannot be read: every success earns it, and 40 may follow one another (20 after a start). Beyond it none does for 5 minutes; other records go on. 1: no limit.',
  }),
  SCORE_ON_REFUSAL: flag({
    absent: true,
    doc: 'A payment that the service refuses still yields a score record: decision unknown, with `failure`.',
  }),
  RECORD_MAX_BYTES: integer({
    min: 1024,
    max: 64 * MIB,
    unit: 'bytes',
    absent: MIB,
    doc: 'A larger record (key, value and headers, as they stand in their batch) becomes the dead letter `record_too_large`, a pointer; its bytes are never held.',
  }),
  BATCH_MAX_BYTES: integer({
    min: MIB,
    max: 1024 * MIB,
    unit: 'bytes',
    absent: 256 * MIB,
    doc: 'Of a compressed batch that unpacks to more, every record becomes the dead letter `record_too_large`, a pointer. It is unpacked part by part: this bounds work, not memory.',
  }),
  MAPPING_FILE: textFile({
    doc: 'How records of other shapes become datapoints (docs/mapping.md). None: records have the names and values of the service.',
  }),
  CARD_GUARD_EXEMPT: list({
    accepts: 'names of datapoints, comma separated',
    pattern: /^\w{1,64}$/,
    doc: 'Datapoints that may hold what looks like a card number, at whatever depth they stand; beside the ids, which always may.',
  }),

  SYNC_TIMEOUT_MS: derivedInteger({
    ...UP_TO_A_MINUTE,
    shownDefault: 'min(8000, 0.3 × `KAFKA_SESSION_TIMEOUT_MS`)',
    doc: 'For one whole attempt to send a batch of status updates. At most 0.3 of the session.',
  }),
  SYNC_BATCH_MAX_RECORDS: integer({ min: 1, max: 10_000, absent: 100, doc: 'A batch with this many updates is sent.' }),
  SYNC_BATCH_MAX_BYTES: integer({
    min: 1024,
    max: 16 * MIB,
    unit: 'bytes',
    absent: 262_144,
    doc: 'A batch is sent before its body would be larger.',
  }),
  SYNC_BATCH_MAX_AGE_MS: integer({
    min: 0,
    max: 60_000,
    unit: 'milliseconds',
    absent: 500,
    doc: 'A batch is sent when its first update has waited this long.',
  }),
  SYNC_BATCHES_IN_FLIGHT: integer({ min: 1, max: 64, absent: 4, doc: 'Batches at the service at once, per process.' }),
  SYNC_SCORE_WAIT_MS: integer({
    min: 0,
    max: 3_600_000,
    unit: 'milliseconds',
    absent: 30_000,
    doc: 'How long an update waits for a score this process cannot know of. 0: updates never wait for scores.',
  }),
  SYNC_CHARGEBACK_PROTECTION: flag({
    absent: false,
    doc: 'An approved card payment without `acq_ref_id` becomes a dead letter instead of going out without it.',
  }),
  SYNC_CARD_METHODS: list({
    accepts: 'values of `pmt_method`, comma separated',
    pattern: /^\P{Cc}{1,100}$/u,
    doc: 'Payment methods that are cards, for the two options below. None listed: every method counts as card.',
  }),
  SYNC_UNKNOWN_METHOD: choice({
    of: ['card', 'send'],
    absent: 'card',
    doc: 'What an update without `pmt_method` counts as. `card`: as a card, unless this process scored the payment and remembers another method. `send`: never as a card, so that the same update always ends alike.',
  }),
  SYNC_DECLINE_REASON_REQUIRED: choice({
    of: ['always', 'card', 'never'],
    absent: 'always',
    doc: 'Which declined payments become dead letters without a reason of the issuer; the others go out without one.',
  }),
  SYNC_ISSUER_REASON_CODES_FILE: linesFile({
    doc: 'Issuer reason codes the service knows, one a line. A code outside goes out as text. None: every code goes out.',
  }),
  SYNC_EXEMPTION_AS_ARRAY: flag({
    absent: false,
    doc: '`exemption_type_raised` with several values goes out as an array, not as its first value.',
  }),

  BUFFER_MAX_RECORDS: integer({
    min: 100,
    max: 1_000_000,
    absent: 10_000,
    doc: 'Records read and not settled, per flow; at that many its partitions pause, at half of it they go on.',
  }),
  BUFFER_MAX_BYTES: integer({
    min: MIB,
    max: 8192 * MIB,
    unit: 'bytes',
    absent: 64 * MIB,
    doc: 'The same by the size of the records.',
  }),
  PARTITION_MAX_SPAN: integer({
    min: 10_000,
    max: 1_000_000_000,
    absent: 1_000_000,
    doc: 'Offsets that are read of a partition behind a record that has not ended; then its partition pauses (`span_full`). A restart reads them again and passes over what has ended.',
  }),
  COMMIT_INTERVAL_MS: integer({
    min: 50,
    max: 60_000,
    unit: 'milliseconds',
    absent: 250,
    doc: 'Time between two commits: what ends in it is repeated after a crash.',
  }),
  DRAIN_TIMEOUT_MS: integer({
    min: 0,
    max: 600_000,
    unit: 'milliseconds',
    absent: 20_000,
    doc: 'For finishing at shutdown, leaving the group included.',
  }),

  WEBHOOK_HOST: text({ ...HOST, absent: '0.0.0.0', doc: 'Where webhooks are listened for.' }),
  WEBHOOK_PORT: integer({ ...PORTS, absent: 8080, doc: 'Its port; 0: any free one.' }),
  WEBHOOK_PATH: text({
    accepts: 'a path: `/` and letters, digits, `-._~/`',
    pattern: /^\/[\w\-.~/]{0,200}$/,
    absent: '/webhooks/fraud',
    doc: 'Its path.',
  }),
  WEBHOOK_TLS_CERT_FILE: textFile({
    doc: 'Certificate of the webhook port in PEM: its own first, then those that lead to its authority. Read again when the file changes. None: the port speaks plain HTTP.',
  }),
  WEBHOOK_TLS_KEY_FILE: textFile({
    doc: 'Private key of that certificate in PEM, not encrypted. Read again when the file changes.',
  }),
  WEBHOOK_SECRETS: secrets({
    most: 3,
    neededBy: ['reviews'],
    doc: 'Keys of the webhook signature: the bytes of the text as the service shows it, never decoded; of any length, with a warning below 24 bytes. Several while one replaces another. One that holds a comma belongs into the file.',
  }),
  WEBHOOK_SIGNATURE_FORMS: choices({
    of: ['hex', 'base64'],
    absent: ['hex', 'base64'],
    doc: 'Forms of the signature that are taken. Narrow them once the metrics show what is sent.',
  }),
  WEBHOOK_TIMESTAMP_FORMS: choices({
    of: ['rfc3339', 'unix_s', 'unix_ms'],
    absent: ['rfc3339', 'unix_s', 'unix_ms'],
    doc: 'Forms of the timestamp that are taken.',
  }),
  WEBHOOK_TOLERANCE_SECONDS: integer({
    min: 1,
    max: 86_400,
    unit: 'seconds',
    absent: 300,
    doc: 'How far the timestamp may be from now, both ways.',
  }),
  WEBHOOK_MAX_BYTES: integer({
    min: 1024,
    max: 16 * MIB,
    unit: 'bytes',
    absent: 262_144,
    doc: 'A larger body gets 413.',
  }),
  WEBHOOK_PUBLISH_TIMEOUT_MS: integer({
    ...UP_TO_A_MINUTE,
    absent: 3000,
    doc: 'A review that Kafka has not acknowledged by then is answered 503, so that the sender repeats it.',
  }),

  OPS_HOST: text({
    ...HOST,
    absent: '127.0.0.1',
    doc: 'Where `/livez`, `/readyz`, `/status` and `/metrics` are listened for.',
  }),
  OPS_PORT: integer({ ...PORTS, absent: 9464, doc: 'Its port; 0: any free one.' }),

  ...TRACING_OPTIONS,
};

/** The names of the table, in its order. */
export const OPTION_NAMES: readonly OptionName[] = Object.keys(OPTIONS) as OptionName[];

/** Whether an option is a secret, which may stand in a file of its own. */
export function isSecretName(name: OptionName): name is SecretName {
  return OPTIONS[name].secret;
}
