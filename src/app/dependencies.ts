import { type Config } from '../config/config.ts';
import { type BrokerTraffic } from '../edges/kafka/broker-traffic.ts';
import { type KafkaClient } from '../edges/kafka/client.ts';
import { ClusterProbe } from '../edges/kafka/cluster-probe.ts';
import { type SchemaRegistryEdge } from '../edges/schema-registry/registry.ts';
import { type ScreeningApiEdge } from '../edges/screening-api/client.ts';
import { connectError } from '../edges/system/connect.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { type ExchangeReport } from '../kernel/exchange-counts.ts';
import { type ReleaseStack } from '../lifecycle/release-stack.ts';
import { type Dependency, watchDependencies, whenLastRisen } from './dependency-watch.ts';
import { serviceConnectOf } from './flows.ts';
import { type Secrets } from './secrets.ts';

export interface DependencyParts {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly kafka: Pick<KafkaClient, 'settings'>;
  readonly traffic: BrokerTraffic;
  readonly registry: Pick<SchemaRegistryEdge, 'exchanges' | 'probe'>;
  /** Null: nothing is read here, so nothing is sent to the service, and no schema is asked for. */
  readonly api: Pick<ScreeningApiEdge, 'exchanges'> | null;
  readonly clock: Clock;
  readonly emit: Emit;
  /** Where the end of it is put. */
  readonly opened: ReleaseStack;
}

/** Below the time that a probe has, so that one has ended before the next begins. */
const CONNECT_LIMIT_MS = 2500;

/** Watches Kafka and, where records are read, the registry and the service: probes them while they are not used. */
export function followDependencies(parts: DependencyParts): void {
  const { kafka, traffic, registry, api, config, clock, emit, opened } = parts;
  const cluster = new ClusterProbe({
    client: kafka,
    topics: usedTopics(config),
    groupId: api === null ? null : config.kafka.groupId,
    traffic,
  });
  const dependencies: Dependency[] = [
    { cause: 'kafka', answeredAtMs: () => cluster.answeredAtMs(), probe: async () => await cluster.probe() },
  ];
  if (api !== null)
    dependencies.push(
      { cause: 'registry', answeredAtMs: answeredOf(registry, clock), probe: async () => await registry.probe() },
      { cause: 'service_down', answeredAtMs: answeredOf(api, clock), probe: serviceProbe(parts) },
    );
  const end = watchDependencies(dependencies, { clock, emit });
  opened.push('dependencies', async () => {
    end();
    await cluster.close();
  });
}

/** Those that no record can end without; a dead-letter topic is needed only when there is a dead letter. */
function usedTopics({ flows, topics }: Config): readonly string[] {
  const used = new Set<string>();
  if (flows.has('scoring')) used.add(topics.created);
  if (flows.has('scoring') && topics.scores !== null) used.add(topics.scores);
  if (flows.has('sync')) used.add(topics.authorized);
  if (flows.has('reviews')) used.add(topics.reviews);
  return [...used];
}

/** An answer by HTTP, whatever its status, but for failures of the server: those may be of something before it. */
function answeredOf(asked: { exchanges(): readonly ExchangeReport[] }, clock: Clock): () => number | null {
  return whenLastRisen(() => {
    let answers = 0;
    for (const { ends } of asked.exchanges())
      for (const [end, { count }] of ends) if (typeof end === 'number' && end < 500) answers += count;
    return answers;
  }, clock);
}

/** The connection alone: never a login or a payment. */
function serviceProbe({ config, secrets, clock }: DependencyParts): Dependency['probe'] {
  const connectTimeoutMs = Math.min(config.service.connectTimeoutMs, CONNECT_LIMIT_MS);
  const { service } = config;
  const connect = serviceConnectOf({ ...config, service: { ...service, connectTimeoutMs } }, secrets, { clock });
  const url = new URL(service.baseUrl);
  return async () => await connectError(connect, url);
}
