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

/** The schema registry of a configuration; opens nothing. */
export function registryOf({ registry, kafka }: Config, deps: { readonly clock: Clock }): SchemaRegistryEdge {
  return createSchemaRegistry(
    {
      url: registry.url,
      username: registry.username ?? undefined,
      password: registry.password ?? undefined,
      clientId: kafka.clientId,
    },
    deps,
  );
}

/** Where our CloudEvents come from: `ce_source` (CloudEvents 1.0, a URI reference). */
export function eventSource({ account }: Config): string {
  return `/fraud-screening-connector/${encodeURIComponent(account)}`;
}
