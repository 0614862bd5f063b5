import kafkajs from 'kafkajs';
import { type BrokerTraffic } from './broker-traffic.ts';
import { type KafkaClient } from './client.ts';
import { type Cluster, createCluster, type PooledBroker, type TopicMetadata } from './cluster-internals.ts';
import { isMissingRight, kafkaErrorName } from './errors.ts';
import { connectionConfig } from './settings.ts';
import { brokerAt } from './sockets.ts';

/** For one connection, one login or one request: below the time that a probe has. */
const STEP_MS = 2500;
const METADATA_MAX_AGE_MS = 300_000;
const NO_COORDINATOR = -1;

export interface ClusterProbeOptions {
  readonly client: Pick<KafkaClient, 'settings'>;
  /** Those that are read or written. */
  readonly topics: readonly string[];
  /** Null: this process is in no group. */
  readonly groupId: string | null;
  readonly traffic: BrokerTraffic;
}

/** What one broker made of a metadata request. */
type Answer =
  | { readonly do: 'metadata'; readonly broker: PooledBroker; readonly metadata: TopicMetadata }
  /** It answers, and names what is wrong. */
  | { readonly do: 'refused'; readonly error: string }
  | { readonly do: 'silent'; readonly error: string };

/**
 * Asks the brokers that this process needs, each for itself, whether they answer: the leaders of its topics and the
 * coordinator of its group. An answer of another broker proves nothing about them, and the silence of another one harms
 * nobody. One metadata request for each, on a connection that stays open, and one for the coordinator. Needs no right
 * that reading and writing the topics does not need; one that is missing is an answer.
 */
export class ClusterProbe {
  readonly #options: ClusterProbeOptions;
  #cluster: Cluster | null;
  /** The brokers that were needed when all of them last answered, by node id; empty: not known. */
  #needed: ReadonlyMap<string, string> = new Map();

  constructor(options: ClusterProbeOptions) {
    this.#options = options;
    this.#cluster = this.#create();
  }

  /** When every broker that is needed was last heard by the client itself; null: not known. */
  answeredAtMs(): number | null {
    return this.#options.traffic.allHeardAtMs([...this.#needed.values()]);
  }

  /** Null: all that are needed answer; else the name of why one did not. Calls must not overlap. */
  async probe(): Promise<string | null> {
    const cluster = this.#cluster;
    if (cluster === null) return null;
    try {
      if (cluster.brokerPool.getNodeIds().length === 0) await this.#meet(cluster);
      return await this.#askAll(cluster);
    } catch (error) {
      const name = errorName(error);
      return isMissingRight(name) ? null : name;
    }
  }

  async close(): Promise<void> {
    const cluster = this.#cluster;
    this.#cluster = null;
    await cluster?.disconnect().catch(() => undefined);
  }

  /** kafkajs says nothing of these connections: what is wrong with them is the result of the probe. */
  #create(): Cluster | null {
    const config = connectionConfig({
      ...this.#options.client.settings,
      connectionTimeoutMs: STEP_MS,
      heard: undefined,
    });
    const kafka = new kafkajs.Kafka({
      ...config,
      authenticationTimeout: STEP_MS,
      requestTimeout: STEP_MS,
      logLevel: kafkajs.logLevel.NOTHING,
      retry: { retries: 0 },
    });
    return createCluster(kafka, METADATA_MAX_AGE_MS);
  }

  /** Has one of KAFKA_BROKERS name the others; after a failure the next attempt takes another one. */
  async #meet(cluster: Cluster): Promise<void> {
    await cluster.connect();
    await cluster.brokerPool.refreshMetadata(this.#options.topics);
  }

  async #askAll(cluster: Cluster): Promise<string | null> {
    const known = cluster.brokerPool.getNodeIds();
    const first = known.filter((nodeId) => this.#needed.has(nodeId));
    const answers = new Map<string, Answer>();
    await this.#ask(cluster, first.length === 0 ? known : first, answers);
    // Until all that are needed have answered, everybody is asked: a leader may have moved.
    this.#needed = new Map();
    const told = [...answers.values()].find((answer) => answer.do === 'metadata');
    if (told === undefined) {
      await this.#startAnewIfSilent(cluster, known, answers);
      return worst([...answers.values()]);
    }
    const needed = await this.#neededBy(told);
    const others = [...needed.keys()].filter((nodeId) => !answers.has(nodeId));
    if (others.some((nodeId) => !known.includes(nodeId)))
      await cluster.brokerPool.refreshMetadata(this.#options.topics);
    await this.#ask(cluster, others, answers);
    const error = worst([...needed.keys()].flatMap((nodeId) => answers.get(nodeId) ?? []));
    if (error === null) this.#needed = needed;
    // The next attempt goes to wherever the cluster says by now that they are.
    else await cluster.brokerPool.refreshMetadata(this.#options.topics).catch(() => undefined);
    return error;
  }

  async #ask(cluster: Cluster, nodeIds: readonly string[], answers: Map<string, Answer>): Promise<void> {
    await Promise.all(
      nodeIds.map(async (nodeId) => {
        answers.set(nodeId, await this.#askOne(cluster, nodeId));
      }),
    );
  }

  async #askOne(cluster: Cluster, nodeId: string): Promise<Answer> {
    try {
      const broker = await cluster.brokerPool.findBroker({ nodeId });
      return { do: 'metadata', broker, metadata: await broker.metadata(this.#options.topics) };
    } catch (error) {
      const answered = error instanceof Error && error.name === 'KafkaJSProtocolError';
      return { do: answered ? 'refused' : 'silent', error: errorName(error) };
    }
  }

  /** The leaders of all partitions, and the coordinator, as one broker names them: addresses by node id. */
  async #neededBy({ broker, metadata }: Answer & { readonly do: 'metadata' }): Promise<ReadonlyMap<string, string>> {
    const { groupId } = this.#options;
    const leaders = metadata.topicMetadata.flatMap(({ partitionMetadata }) => partitionMetadata.map((at) => at.leader));
    const coordinator = groupId === null ? NO_COORDINATOR : await coordinatorOf(broker, groupId);
    const needed = new Set([...leaders, coordinator]);
    const brokers = metadata.brokers.filter(({ nodeId }) => needed.has(nodeId));
    return new Map(brokers.map((at) => [String(at.nodeId), brokerAt(at)]));
  }

  /** Where no broker that was ever named answers, others may have taken their places: KAFKA_BROKERS are asked again. */
  async #startAnewIfSilent(
    cluster: Cluster,
    known: readonly string[],
    answers: ReadonlyMap<string, Answer>,
  ): Promise<void> {
    if (known.some((nodeId) => answers.get(nodeId)?.do !== 'silent') || this.#cluster === null) return;
    await cluster.disconnect();
    this.#cluster = this.#create();
  }
}

async function coordinatorOf(broker: PooledBroker, groupId: string): Promise<number> {
  try {
    return (await broker.findGroupCoordinator({ groupId })).coordinator.nodeId;
  } catch (error) {
    // Who may not ask for it does not wait for it either.
    if (isMissingRight(errorName(error))) return NO_COORDINATOR;
    throw error;
  }
}

/** kafkajs packs what went wrong into an error about attempts, of which there is one here. */
function errorName(error: unknown): string {
  const packed = error instanceof Error && error.name === 'KafkaJSNumberOfRetriesExceeded' ? error.cause : undefined;
  return kafkaErrorName(packed ?? error);
}

/** Silence first; a missing right is no failure, and has a block reason of its own. Null: all is well. */
function worst(answers: readonly Answer[]): string | null {
  const failed = answers.filter((answer) => answer.do !== 'metadata' && !isMissingRight(answer.error));
  const found = failed.find((answer) => answer.do === 'silent') ?? failed[0];
  return found === undefined || found.do === 'metadata' ? null : found.error;
}
