import { type RunnableFlow } from './kinds.ts';
import { type TracingSecretName, type TracingValues } from './tracing.ts';

export type Ordering = 'key' | 'transaction';
export type ScoringLimit = 'fixed' | 'adaptive';
export type SignatureForm = 'hex' | 'base64';
export type TimestampForm = 'rfc3339' | 'unix_s' | 'unix_ms';
/** Of SASL (RFC 4422), by the names of KIP-43, KIP-84 and KIP-255. */
export type SaslMechanism = 'plain' | 'scram-sha-256' | 'scram-sha-512' | 'oauthbearer';
export type UnknownMethod = 'card' | 'send';
export type DeclineReasonRequired = 'always' | 'card' | 'never';
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';

/** Every option by its name in the environment, with the type of its value. */
export interface Values extends TracingValues {
  readonly ACCOUNT: string;
  readonly FLOWS: readonly RunnableFlow[];
  readonly LOG_LEVEL: LogLevel;
  readonly CONFIG_STRICT: boolean;
  readonly KAFKA_BROKERS: readonly string[];
  readonly KAFKA_CLIENT_ID: string;
  readonly KAFKA_GROUP_ID: string;
  readonly KAFKA_ALLOW_PLAINTEXT: boolean;
  readonly KAFKA_TLS: boolean;
  readonly KAFKA_TLS_CA_FILE: string | null;
  readonly KAFKA_TLS_CERT_FILE: string | null;
  readonly KAFKA_TLS_KEY_FILE: string | null;
  readonly KAFKA_SASL_MECHANISM: SaslMechanism | 'none';
  readonly KAFKA_SASL_USERNAME: string;
  readonly KAFKA_SASL_PASSWORD: string;
  readonly KAFKA_SASL_OAUTH_TOKEN_URL: string;
  readonly KAFKA_SASL_OAUTH_CLIENT_ID: string;
  readonly KAFKA_SASL_OAUTH_CLIENT_SECRET: string;
  readonly KAFKA_SASL_OAUTH_SCOPE: string;
  readonly KAFKA_SESSION_TIMEOUT_MS: number;
  readonly KAFKA_START_FROM: string;
  readonly KAFKA_ASSIGNOR: 'co-partitioned-sticky' | 'round-robin';
  readonly KAFKA_OFFSET_GAP: 'earliest' | 'stop';
  readonly DEAD_LETTER_OFFSETS: readonly string[];
  readonly TOPIC_CREATED: string;
  readonly TOPIC_AUTHORIZED: string;
  readonly TOPIC_REVIEWS: string;
  readonly TOPIC_SCORES: string;
  readonly TOPIC_DLQ_SUFFIX: string;
  readonly SCHEMA_REGISTRY_URL: string;
  readonly SCHEMA_REGISTRY_USERNAME: string;
  readonly SCHEMA_REGISTRY_PASSWORD: string;
  readonly SCHEMA_REGISTRY_TLS_CA_FILE: string | null;
  readonly SERVICE_BASE_URL: string;
  readonly SERVICE_USERNAME: string;
  readonly SERVICE_PASSWORD: string;
  readonly SERVICE_ALLOW_HTTP: boolean;
  readonly SERVICE_TLS_CA_FILE: string | null;
  readonly SERVICE_TLS_CERT_FILE: string | null;
  readonly SERVICE_TLS_KEY_FILE: string | null;
  readonly SERVICE_PROXY_URL: string;
  readonly SERVICE_TIMEOUT_MS: number | null;
  readonly SERVICE_CONNECT_TIMEOUT_MS: number;
  readonly SERVICE_MAX_REQUESTS_PER_SECOND: number | null;
  readonly SERVICE_FORWARD_IP: boolean;
  readonly SERVICE_IDEMPOTENCY_HEADER: string | null;
  readonly SCORING_CONCURRENCY: number;
  readonly SCORING_LIMIT: ScoringLimit;
  readonly SCORING_ORDERING: Ordering;
  readonly SCORING_MAX_ATTEMPTS: number;
  readonly SCORING_REFUSE_AFTER_MS: number;
  readonly DEAD_LETTER_MAX_SHARE: number;
  readonly SCORE_ON_REFUSAL: boolean;
  readonly RECORD_MAX_BYTES: number;
  readonly BATCH_MAX_BYTES: number;
  readonly MAPPING_FILE: string | null;
  readonly CARD_GUARD_EXEMPT: readonly string[];
  readonly SYNC_TIMEOUT_MS: number | null;
  readonly SYNC_BATCH_MAX_RECORDS: number;
  readonly SYNC_BATCH_MAX_BYTES: number;
  readonly SYNC_BATCH_MAX_AGE_MS: number;
  readonly SYNC_BATCHES_IN_FLIGHT: number;
  readonly SYNC_SCORE_WAIT_MS: number;
  readonly SYNC_CHARGEBACK_PROTECTION: boolean;
  readonly SYNC_CARD_METHODS: readonly string[];
  readonly SYNC_UNKNOWN_METHOD: UnknownMethod;
  readonly SYNC_DECLINE_REASON_REQUIRED: DeclineReasonRequired;
  readonly SYNC_ISSUER_REASON_CODES_FILE: ReadonlySet<string> | null;
  readonly SYNC_EXEMPTION_AS_ARRAY: boolean;
  readonly BUFFER_MAX_RECORDS: number;
  readonly BUFFER_MAX_BYTES: number;
  readonly PARTITION_MAX_SPAN: number;
  readonly COMMIT_INTERVAL_MS: number;
  readonly DRAIN_TIMEOUT_MS: number;
  readonly WEBHOOK_HOST: string;
  readonly WEBHOOK_PORT: number;
  readonly WEBHOOK_PATH: string;
  readonly WEBHOOK_TLS_CERT_FILE: string | null;
  readonly WEBHOOK_TLS_KEY_FILE: string | null;
  readonly WEBHOOK_SECRETS: readonly string[];
  readonly WEBHOOK_SIGNATURE_FORMS: readonly SignatureForm[];
  readonly WEBHOOK_TIMESTAMP_FORMS: readonly TimestampForm[];
  readonly WEBHOOK_TOLERANCE_SECONDS: number;
  readonly WEBHOOK_MAX_BYTES: number;
  readonly WEBHOOK_PUBLISH_TIMEOUT_MS: number;
  readonly OPS_HOST: string;
  readonly OPS_PORT: number;
}

export type OptionName = keyof Values;

/** Secrets: each may stand in a file of its own, named by `<NAME>_FILE`. */
export type SecretName =
  | 'KAFKA_SASL_PASSWORD'
  | 'KAFKA_SASL_OAUTH_CLIENT_SECRET'
  | 'SCHEMA_REGISTRY_PASSWORD'
  | 'SERVICE_PASSWORD'
  | 'SERVICE_PROXY_URL'
  | 'WEBHOOK_SECRETS'
  | TracingSecretName;
