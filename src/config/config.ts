import { type KafkaSecurity, kafkaSecurityOf } from './kafka-security.ts';
import { type RunnableFlow } from './kinds.ts';
import { REGISTRY_TLS, SERVICE_TLS, type TlsFiles, tlsFilesOf, WEBHOOK_TLS } from './tls.ts';
import { toTracing, type TracingSettings } from './tracing.ts';
import {
  type DeclineReasonRequired,
  type OptionName,
  type LogLevel,
  type Ordering,
  type ScoringLimit,
  type SecretName,
  type SignatureForm,
  type TimestampForm,
  type UnknownMethod,
  type Values,
} from './values.ts';

/** The two texts of `WEBHOOK_TLS_CERT_FILE` and `WEBHOOK_TLS_KEY_FILE`, not judged yet, with the files they are from. */
export interface WebhookTls {
  readonly certificate: string;
  readonly certificateFile: string;
  readonly key: string;
  readonly keyFile: string;
}

/** What is to be read again while the connector runs. */
export interface ConfigFiles {
  /** The files that secrets were read from: path by option. */
  readonly secrets: ReadonlyMap<SecretName, string>;
  /** The files whose text is the value of an option: path by option. */
  readonly texts: ReadonlyMap<OptionName, string>;
}

/** The configuration of one process: checked as a whole, in the units its names tell. */
export interface Config {
  readonly account: string;
  readonly flows: ReadonlySet<RunnableFlow>;
  readonly kafka: KafkaSecurity & {
    readonly brokers: readonly string[];
    readonly clientId: string;
    readonly groupId: string;
    readonly sessionTimeoutMs: number;
    /** Null: a new group holds where a topic has old records. */
    readonly startFrom: string | null;
    readonly assignor: 'co-partitioned-sticky' | 'round-robin';
    readonly onOffsetGap: 'earliest' | 'stop';
  };
  /** `topic:partition:offset` of records that become dead letters when they are read. */
  readonly deadLetterOffsets: ReadonlySet<string>;
  readonly topics: {
    readonly created: string;
    readonly authorized: string;
    readonly reviews: string;
    /** Null: no score records. */
    readonly scores: string | null;
    readonly deadLetterSuffix: string;
  };
  readonly registry: {
    /** Without a slash at its end. */
    readonly url: string;
    /** Both given or both null. */
    readonly username: string | null;
    readonly password: string | null;
    readonly tls: TlsFiles;
  };
  /** The texts are empty where neither scoring nor sync runs and they were not given. */
  readonly service: {
    /** Without a slash at its end. */
    readonly baseUrl: string;
    readonly username: string;
    readonly password: string;
    readonly timeoutMs: number;
    readonly connectTimeoutMs: number;
    readonly tls: TlsFiles;
    /** Perhaps with user info; null: none. */
    readonly proxyUrl: string | null;
    /** Null: no limit. */
    readonly maxRequestsPerSecond: number | null;
    readonly forwardIp: boolean;
    /** Null: none is sent. */
    readonly idempotencyHeader: string | null;
  };
  readonly scoring: {
    readonly concurrency: number;
    readonly limit: ScoringLimit;
    readonly ordering: Ordering;
    readonly scoreOnRefusal: boolean;
    readonly maxAttempts: number;
    readonly refuseAfterMs: number;
  };
  /** Of dead letters among all that ends; 1: no guard. */
  readonly deadLetterMaxShare: number;
  readonly sync: {
    readonly batchMaxRecords: number;
    readonly batchMaxBytes: number;
    readonly batchMaxAgeMs: number;
    readonly batchesInFlight: number;
    readonly timeoutMs: number;
    /** 0: updates never wait for scores. */
    readonly scoreWaitMs: number;
    readonly chargebackProtection: boolean;
    /** Empty: every method counts as card. */
    readonly cardMethods: readonly string[];
    readonly unknownMethod: UnknownMethod;
    readonly declineReasonRequired: DeclineReasonRequired;
    /** Null: every code goes out. */
    readonly reasonCodes: ReadonlySet<string> | null;
    readonly exemptionAsArray: boolean;
  };
  readonly recordMaxBytes: number;
  readonly batchMaxBytes: number;
  /** The text of the mapping file; null: records are not mapped. */
  readonly mapping: string | null;
  /** Names of datapoints, beside the ids. */
  readonly cardGuardExempt: readonly string[];
  /** Per flow. */
  readonly buffer: { readonly maxRecords: number; readonly maxBytes: number; readonly maxSpan: number };
  readonly commitIntervalMs: number;
  readonly drainTimeoutMs: number;
  readonly webhook: {
    readonly host: string;
    readonly port: number;
    readonly path: string;
    /** Newest first; empty where reviews does not run. */
    readonly secrets: readonly string[];
    readonly signatureForms: readonly SignatureForm[];
    readonly timestampForms: readonly TimestampForm[];
    readonly toleranceSeconds: number;
    readonly maxBytes: number;
    readonly publishTimeoutMs: number;
    /** Null: the port speaks plain HTTP. */
    readonly tls: WebhookTls | null;
  };
  readonly ops: { readonly host: string; readonly port: number };
  /** Null: off. */
  readonly tracing: TracingSettings | null;
  /** The files that secrets were read from, to be read again: path by option. */
  readonly secretFiles: ReadonlyMap<SecretName, string>;
  readonly logLevel: LogLevel;
}

/** An attempt may take at most this share of the session, so that it ends before a rebalance has to cut it off. */
const SHARE_OF_SESSION = 0.3;

/** The longest time-out of an attempt that a session of this length allows. */
export function longestTimeoutMs(sessionTimeoutMs: number): number {
  return Math.floor(SHARE_OF_SESSION * sessionTimeoutMs);
}

/** Fills in the defaults that follow from other options. */
export function withDerived(values: Values): Values {
  const longestMs = longestTimeoutMs(values.KAFKA_SESSION_TIMEOUT_MS);
  return {
    ...values,
    SERVICE_TIMEOUT_MS: values.SERVICE_TIMEOUT_MS ?? Math.min(5000, longestMs),
    SYNC_TIMEOUT_MS: values.SYNC_TIMEOUT_MS ?? Math.min(8000, longestMs),
  };
}

/** The configuration that checked values make. */
export function toConfig(given: Values, files: ConfigFiles): Config {
  const values = withDerived(given);
  const registryUser = values.SCHEMA_REGISTRY_USERNAME;
  return {
    account: values.ACCOUNT,
    flows: new Set(values.FLOWS),
    kafka: {
      brokers: values.KAFKA_BROKERS,
      clientId: values.KAFKA_CLIENT_ID,
      groupId: values.KAFKA_GROUP_ID,
      sessionTimeoutMs: values.KAFKA_SESSION_TIMEOUT_MS,
      startFrom: values.KAFKA_START_FROM === '' ? null : values.KAFKA_START_FROM,
      assignor: values.KAFKA_ASSIGNOR,
      onOffsetGap: values.KAFKA_OFFSET_GAP,
      ...kafkaSecurityOf(values, files.texts),
    },
    deadLetterOffsets: new Set(values.DEAD_LETTER_OFFSETS),
    topics: {
      created: values.TOPIC_CREATED,
      authorized: values.TOPIC_AUTHORIZED,
      reviews: values.TOPIC_REVIEWS,
      scores: values.TOPIC_SCORES === '' ? null : values.TOPIC_SCORES,
      deadLetterSuffix: values.TOPIC_DLQ_SUFFIX,
    },
    registry: {
      url: values.SCHEMA_REGISTRY_URL,
      username: registryUser === '' ? null : registryUser,
      password: registryUser === '' ? null : values.SCHEMA_REGISTRY_PASSWORD,
      tls: tlsFilesOf(values, files.texts, REGISTRY_TLS),
    },
    service: {
      baseUrl: values.SERVICE_BASE_URL,
      username: values.SERVICE_USERNAME,
      password: values.SERVICE_PASSWORD,
      timeoutMs: values.SERVICE_TIMEOUT_MS ?? 0,
      connectTimeoutMs: values.SERVICE_CONNECT_TIMEOUT_MS,
      tls: tlsFilesOf(values, files.texts, SERVICE_TLS),
      proxyUrl: values.SERVICE_PROXY_URL === '' ? null : values.SERVICE_PROXY_URL,
      maxRequestsPerSecond: values.SERVICE_MAX_REQUESTS_PER_SECOND,
      forwardIp: values.SERVICE_FORWARD_IP,
      idempotencyHeader: values.SERVICE_IDEMPOTENCY_HEADER,
    },
    scoring: {
      concurrency: values.SCORING_CONCURRENCY,
      limit: values.SCORING_LIMIT,
      ordering: values.SCORING_ORDERING,
      scoreOnRefusal: values.SCORE_ON_REFUSAL,
      maxAttempts: values.SCORING_MAX_ATTEMPTS,
      refuseAfterMs: values.SCORING_REFUSE_AFTER_MS,
    },
    deadLetterMaxShare: values.DEAD_LETTER_MAX_SHARE,
    sync: syncOf(values),
    recordMaxBytes: values.RECORD_MAX_BYTES,
    batchMaxBytes: values.BATCH_MAX_BYTES,
    mapping: values.MAPPING_FILE,
    cardGuardExempt: values.CARD_GUARD_EXEMPT,
    buffer: {
      maxRecords: values.BUFFER_MAX_RECORDS,
      maxBytes: values.BUFFER_MAX_BYTES,
      maxSpan: values.PARTITION_MAX_SPAN,
    },
    commitIntervalMs: values.COMMIT_INTERVAL_MS,
    drainTimeoutMs: values.DRAIN_TIMEOUT_MS,
    webhook: webhookOf(values, files),
    ops: { host: values.OPS_HOST, port: values.OPS_PORT },
    tracing: toTracing(values),
    secretFiles: files.secrets,
    logLevel: values.LOG_LEVEL,
  };
}

function syncOf(values: Values): Config['sync'] {
  return {
    batchMaxRecords: values.SYNC_BATCH_MAX_RECORDS,
    batchMaxBytes: values.SYNC_BATCH_MAX_BYTES,
    batchMaxAgeMs: values.SYNC_BATCH_MAX_AGE_MS,
    batchesInFlight: values.SYNC_BATCHES_IN_FLIGHT,
    timeoutMs: values.SYNC_TIMEOUT_MS ?? 0,
    scoreWaitMs: values.SYNC_SCORE_WAIT_MS,
    chargebackProtection: values.SYNC_CHARGEBACK_PROTECTION,
    cardMethods: values.SYNC_CARD_METHODS,
    unknownMethod: values.SYNC_UNKNOWN_METHOD,
    declineReasonRequired: values.SYNC_DECLINE_REASON_REQUIRED,
    reasonCodes: values.SYNC_ISSUER_REASON_CODES_FILE,
    exemptionAsArray: values.SYNC_EXEMPTION_AS_ARRAY,
  };
}

function webhookOf(values: Values, files: ConfigFiles): Config['webhook'] {
  return {
    host: values.WEBHOOK_HOST,
    port: values.WEBHOOK_PORT,
    path: values.WEBHOOK_PATH,
    secrets: values.WEBHOOK_SECRETS,
    signatureForms: values.WEBHOOK_SIGNATURE_FORMS,
    timestampForms: values.WEBHOOK_TIMESTAMP_FORMS,
    toleranceSeconds: values.WEBHOOK_TOLERANCE_SECONDS,
    maxBytes: values.WEBHOOK_MAX_BYTES,
    publishTimeoutMs: values.WEBHOOK_PUBLISH_TIMEOUT_MS,
    tls: webhookTls(values, files),
  };
}

function webhookTls(values: Values, files: ConfigFiles): WebhookTls | null {
  const { certificate, key } = tlsFilesOf(values, files.texts, WEBHOOK_TLS);
  if (certificate === null || key === null) return null;
  return { certificate: certificate.text, certificateFile: certificate.path, key: key.text, keyFile: key.path };
}
