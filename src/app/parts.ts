import { type Config } from '../config/config.ts';
import { createKafkaClient, type KafkaClient } from '../edges/kafka/client.ts';
import { createSchemaRegistry, type SchemaRegistryEdge } from '../edges/schema-registry/registry.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';

/** The Kafka client of a configuration; opens nothing. */
export function kafkaOf({ kafka }: Config, emit: Emit): KafkaClient {
  const { brokers, clientId, sessionTimeoutMs } = kafka;
  return createKafkaClient({ brokers, clientId, sessionTimeoutMs }, emit);
}

/** The schema registry of a configuration; opens nothing. `password` null: the one that was read at start. */
export function registryOf(
  { registry, kafka }: Config,
  deps: { readonly clock: Clock },
  password: (() => string | null) | null = null,
): SchemaRegistryEdge {
  return createSchemaRegistry(
    {
      url: registry.url,
      username: registry.username ?? undefined,
      password: password ?? ((): string | null => registry.password),
      clientId: kafka.clientId,
    },
    deps,
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
