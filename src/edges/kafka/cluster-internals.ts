import { type Kafka } from 'kafkajs';

/** What kafkajs makes the connections of an admin, a producer or a consumer with; a symbol of its own. */
const CREATE_CLUSTER = 'private:Kafka:createCluster';

/** One broker of kafkajs' pool, once `findBroker` has connected it. */
export interface PooledBroker {
  metadata(topics: readonly string[]): Promise<TopicMetadata>;
  findGroupCoordinator(of: {
    readonly groupId: string;
  }): Promise<{ readonly coordinator: { readonly nodeId: number } }>;
}

/** The answer to a metadata request, as far as it is read here. */
export interface TopicMetadata {
  readonly brokers: readonly { readonly nodeId: number; readonly host: string; readonly port: number }[];
  readonly topicMetadata: readonly { readonly partitionMetadata: readonly { readonly leader: number }[] }[];
}

/** kafkajs' connections to a cluster. Each broker has one for requests, opened when it is first needed. */
export interface Cluster {
  readonly brokerPool: {
    /** Of all brokers that the cluster has named; none before the first answer. */
    getNodeIds(): string[];
    refreshMetadata(topics: readonly string[]): Promise<void>;
    findBroker(at: { readonly nodeId: string }): Promise<PooledBroker>;
  };
  connect(): Promise<void>;
  disconnect(): Promise<void>;
}

type CreateCluster = (options: object) => Cluster;

/** Makes a client make its connections another way. Of another version than 2.2.4 nothing is changed. */
export function wrapCreateCluster(kafka: Kafka, wrap: (create: CreateCluster) => CreateCluster): void {
  const found = findCreateCluster(kafka);
  if (found !== null) Reflect.set(kafka, found.symbol, wrap(found.create));
}

/** Connections of a client's own, opened by `connect`, that never create a topic; null: of another version than 2.2.4. */
export function createCluster(kafka: Kafka, metadataMaxAge: number): Cluster | null {
  return findCreateCluster(kafka)?.create({ metadataMaxAge, allowAutoTopicCreation: false }) ?? null;
}

function findCreateCluster(kafka: Kafka): { readonly symbol: symbol; readonly create: CreateCluster } | null {
  for (const symbol of Object.getOwnPropertySymbols(kafka)) {
    const create: unknown = Reflect.get(kafka, symbol);
    if (symbol.description === CREATE_CLUSTER && typeof create === 'function')
      return { symbol, create: create as CreateCluster };
  }
  return null;
}
