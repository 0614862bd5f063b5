import { type Buffer } from 'node:buffer';
import { type KafkaMessage } from 'kafkajs';
import { decodeFetch, type FetchAnswer } from './fetch-response.ts';
import { fetchBudget, type ReadParts, readPartition, type ReadRecords } from './fetched-partition.ts';

interface FetchRequest {
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { readonly partition: number; readonly fetchOffset: string }[];
  }[];
}

interface ProtocolRequest {
  readonly request: { readonly apiName: string; readonly apiVersion: number };
  readonly response: { readonly decode: (payload: Buffer) => Promise<unknown>; readonly parse: unknown };
}

/** A connection to a broker as kafkajs' consumers use it; none of this is in its types. */
export interface FetchedBroker {
  fetch(this: FetchedBroker, request: FetchRequest): Promise<unknown>;
  readonly connectionPool: { send(protocol: ProtocolRequest): Promise<unknown> };
}

/** What a consumer's fetchers get their brokers from. */
export interface FetchingCluster {
  findBroker(of: { readonly nodeId: string }): Promise<unknown>;
}

/** What kafkajs takes for one message: all that was read of one partition. */
type Carrier = Readonly<Pick<KafkaMessage, 'offset'>>;

const carried = new WeakMap<object, ReadRecords>();
const repaired = new WeakSet<object>();

/**
 * Has the fetches of one consumer read by `readPartition`. kafkajs decodes all of a fetch at once and without any limit,
 * so that a batch of some kilobytes can take gigabytes, and it leaves out the wrong records where transactions overlap.
 * What is read comes as one message for each partition (`readOf`), whose offset is the last one that was looked at: so
 * kafkajs goes on behind markers and aborted records as behind any other.
 */
export function readFetches(cluster: FetchingCluster, parts: ReadParts): void {
  const find = cluster.findBroker.bind(cluster);
  cluster.findBroker = async (of) => {
    const broker = (await find(of)) as FetchedBroker;
    if (!repaired.has(broker)) repair(broker, parts);
    repaired.add(broker);
    return broker;
  };
}

/** What was read of a partition, by the only message of its batch. */
export function readOf(message: Carrier | undefined): ReadRecords | null {
  return message === undefined ? null : (carried.get(message) ?? null);
}

function repair(broker: FetchedBroker, parts: ReadParts): void {
  const { connectionPool } = broker;
  const send = connectionPool.send.bind(connectionPool);
  connectionPool.send = async (protocol) => {
    const { request, response } = protocol;
    if (request.apiName !== 'Fetch') return await send(protocol);
    const decode = async (payload: Buffer): Promise<FetchAnswer> =>
      await Promise.resolve(decodeFetch(payload, request.apiVersion));
    return await send({ ...protocol, response: { ...response, decode } });
  };
  const fetch = broker.fetch.bind(broker);
  broker.fetch = async (request) => await readAnswer((await fetch(request)) as FetchAnswer, request, parts);
}

async function readAnswer(answer: FetchAnswer, request: FetchRequest, parts: ReadParts): Promise<unknown> {
  const budget = fetchBudget();
  const responses: unknown[] = [];
  for (const { topicName: topic, partitions } of answer.responses) {
    const decoded: unknown[] = [];
    for (const { bytes, abortedTransactions: aborted, ...partition } of partitions) {
      const at = { topic, partition: partition.partition };
      const from = offsetOf(request, at);
      const found = await readPartition({ at, from, bytes, aborted }, parts, budget);
      decoded.push({ ...partition, abortedTransactions: [], messages: found.next > from ? [carrier(found)] : [] });
    }
    responses.push({ topicName: topic, partitions: decoded });
  }
  return { ...answer, responses };
}

function offsetOf(request: FetchRequest, at: { readonly topic: string; readonly partition: number }): bigint {
  const partitions = request.topics.filter(({ topic }) => topic === at.topic).flatMap((of) => of.partitions);
  return BigInt(partitions.find(({ partition }) => partition === at.partition)?.fetchOffset ?? 0);
}

function carrier(read: ReadRecords): Carrier {
  const message = { offset: String(read.next - 1n) };
  carried.set(message, read);
  return message;
}
