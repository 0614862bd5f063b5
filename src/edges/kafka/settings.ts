import { type ConsumerConfig, type KafkaConfig, type RetryOptions } from 'kafkajs';
import { type KafkaSasl, saslOptions } from './sasl.ts';
import { type Heard, type KafkaTls, socketFactory } from './sockets.ts';

/** How to reach the brokers, and how patient to be with them. */
export interface KafkaSettings {
  /** `host:port` each. */
  readonly brokers: readonly string[];
  readonly clientId: string;
  /** After this long without a heartbeat the group gives a member's partitions to others. */
  readonly sessionTimeoutMs: number;
  /** Default 3000. */
  readonly connectionTimeoutMs?: number;
  /** Asked at each connection. Absent: plain text. */
  readonly tls?: (() => KafkaTls) | undefined;
  /** Absent: nobody says who they are, but perhaps by a certificate. */
  readonly sasl?: KafkaSasl | undefined;
  /** Absent: nobody wants to know what comes in. */
  readonly heard?: Heard | undefined;
}

const STEEP_MS = 200;
const FLAT_MS = 2000;
/** 200 + 400 + 800 + 1600: the waits before they are all `FLAT_MS`. */
const STEEP_RETRIES = 4;
const STEEP_SPAN_MS = 3000;

/**
 * The retries inside kafkajs for a member of a group. Heartbeats stay with a dead coordinator until a rejoin, so their
 * span has to outlast the election of another one (brokers give a node up after 9 s): else all members crash at once
 * and the group waits for their ghosts. Beyond that it stays below the session.
 */
export function groupRetry(sessionTimeoutMs: number): Required<Omit<RetryOptions, 'restartOnFailure'>> {
  const flat = Math.floor((0.65 * sessionTimeoutMs - STEEP_SPAN_MS) / FLAT_MS);
  return {
    initialRetryTime: STEEP_MS,
    maxRetryTime: FLAT_MS,
    factor: 0.2,
    multiplier: 2,
    retries: STEEP_RETRIES + Math.max(6, flat),
  };
}

/** Few retries inside kafkajs: the writer and the readers of offsets have their own. */
export const PLAIN_RETRY: Required<Omit<RetryOptions, 'restartOnFailure'>> = {
  initialRetryTime: STEEP_MS,
  maxRetryTime: 1000,
  factor: 0.2,
  multiplier: 2,
  retries: 2,
};

/** How long an answer to a write may take before the attempt counts as failed. */
export const WRITE_TIMEOUT_MS = 10_000;
/** What the brokers are told of it: less, so that a write that replicas hold up is answered, and its connection kept. */
export const BROKER_WRITE_TIMEOUT_MS = 8000;

/** What every connection has in common. */
export function connectionConfig(settings: KafkaSettings): KafkaConfig {
  const { brokers, clientId, connectionTimeoutMs = 3000, tls, sasl, heard } = settings;
  return {
    brokers: [...brokers],
    clientId,
    connectionTimeout: connectionTimeoutMs,
    socketFactory: socketFactory(tls ?? null, heard),
    ...(sasl === undefined ? {} : { sasl: saslOptions(sasl) }),
  };
}

/** A third of the session is the barrier's, so heartbeats are ten to a session. */
export function heartbeatMs(sessionTimeoutMs: number): number {
  return Math.floor(sessionTimeoutMs / 10);
}

/** The member's part of the configuration. */
export function consumerConfig(options: {
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  readonly metadataMaxAgeMs: number;
}): ConsumerConfig {
  const { groupId, sessionTimeoutMs, metadataMaxAgeMs } = options;
  return {
    groupId,
    sessionTimeout: sessionTimeoutMs,
    heartbeatInterval: heartbeatMs(sessionTimeoutMs),
    rebalanceTimeout: Math.max(2 * sessionTimeoutMs, 20_000),
    // How soon a pause, a resume or a rebalance is noticed.
    maxWaitTimeInMs: 250,
    minBytes: 1,
    // What one fetch brings is in memory twice, before the engine can pause anything: small fetches keep it small. A batch
    // that is larger comes all the same (KIP-74), but alone: then no other partition has a part in that fetch. So a
    // partition's part holds what busy producers write at once, and 16 partitions have theirs in one fetch.
    maxBytesPerPartition: 262_144,
    maxBytes: 4_194_304,
    allowAutoTopicCreation: false,
    metadataMaxAge: metadataMaxAgeMs,
    // kafkajs would restart a consumer that has been disconnected meanwhile; the source builds a new one instead.
    retry: { ...groupRetry(sessionTimeoutMs), restartOnFailure: async () => await Promise.resolve(false) },
  };
}
