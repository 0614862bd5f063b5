import { type Config } from '../config/config.ts';
import { type PressureLimits } from '../engine/pressure.ts';
import { createKafkaClient, type KafkaClient } from '../edges/kafka/client.ts';
import { type ReadLimits } from '../edges/kafka/fetched-partition.ts';
import { OauthTokens } from '../edges/kafka/oauth-token.ts';
import { type KafkaSasl } from '../edges/kafka/sasl.ts';
import { type Heard } from '../edges/kafka/sockets.ts';
import { createSchemaRegistry, type SchemaRegistryEdge } from '../edges/schema-registry/registry.ts';
import { systemClock } from '../edges/system/clock.ts';
import { ownVersion } from '../edges/system/package-info.ts';
import { type Emit } from '../kernel/emit.ts';
import { type ConnectingParts, connectTo } from './connecting.ts';
import { Secrets } from './secrets.ts';

/** For one request, connecting included. */
const REGISTRY_TIMEOUT_MS = 3000;

/**
 * The Kafka client of a configuration; opens nothing. `secrets` as they are followed; unless given, those read at start.
 * `heard`: told of whatever comes in.
 */
export function kafkaOf(
  config: Config,
  emit: Emit,
  secrets: Secrets = new Secrets(config),
  heard?: Heard,
): KafkaClient {
  const { brokers, clientId, sessionTimeoutMs } = config.kafka;
  const tls = secrets.kafkaTls?.now;
  return createKafkaClient({ brokers, clientId, sessionTimeoutMs, tls, sasl: saslOf(config, secrets), heard }, emit);
}

/** What the records of a configuration's topics may come to. */
export function readLimitsOf({ recordMaxBytes, batchMaxBytes }: Config): ReadLimits {
  return { recordMaxBytes, batchMaxBytes };
}

function saslOf({ kafka: { sasl } }: Config, secrets: Secrets): KafkaSasl | undefined {
  if (sasl === null) return undefined;
  const secret = (): string => secrets.kafkaSecret();
  if (sasl.mechanism !== 'oauthbearer') return { mechanism: sasl.mechanism, username: sasl.username, password: secret };
  const { mechanism, tokenUrl: url, clientId, scope } = sasl;
  const userAgent = `fraud-screening-connector/${ownVersion()}`;
  return { mechanism, tokens: new OauthTokens({ url, clientId, clientSecret: secret, scope, userAgent }, systemClock) };
}

/** The schema registry of a configuration; opens nothing. `secrets` as they are followed; unless given, those read at start. */
export function registryOf(
  config: Config,
  parts: ConnectingParts,
  secrets: Secrets = new Secrets(config),
): SchemaRegistryEdge {
  const { registry, kafka } = config;
  const limitMs = REGISTRY_TIMEOUT_MS;
  return createSchemaRegistry(
    {
      url: registry.url,
      username: registry.username ?? undefined,
      password: () => secrets.registryPassword(),
      timeoutMs: limitMs,
      connect: connectTo('registry', { limitMs, tls: secrets.registryTls.now, proxy: () => null }, parts),
      clientId: kafka.clientId,
    },
    parts,
  );
}

/** How long one write of a score or a letter may take; it is repeated afterwards. A step has to end before a barrier does. */
export function writeDeadlineMs({ kafka }: Config): number {
  return Math.min(10_000, barrierMs(kafka.sessionTimeoutMs));
}

/** How long a barrier before a join may take: nobody sends heartbeats meanwhile. */
export function barrierMs(sessionTimeoutMs: number): number {
  return Math.floor(sessionTimeoutMs / 3);
}

/** Where our CloudEvents come from: `ce_source` (CloudEvents 1.0, a URI reference). */
export function eventSource({ account }: Config): string {
  return `/fraud-screening-connector/${encodeURIComponent(account)}`;
}

/** How many records of one partition are held before it is read no further. */
const PARTITION_RECORDS = 1024;

/** When reading pauses. */
export function pressureOf({ buffer, scoring }: Config): PressureLimits {
  return {
    partitionRecords: PARTITION_RECORDS,
    partitionSpan: buffer.maxSpan,
    flowRecords: Math.max(buffer.maxRecords, 2 * scoring.concurrency),
    flowBytes: buffer.maxBytes,
  };
}
