import { type Config } from '../../config/config.ts';
import { hostOf } from '../../config/loopback.ts';
import { createKafkaAdmin, type KafkaAdmin } from '../../edges/kafka/admin.ts';
import { brokerError } from '../../edges/kafka/probe.ts';
import { type KafkaTls } from '../../edges/kafka/sockets.ts';
import { tryLogin } from '../../edges/screening-api/try-login.ts';
import { fetchLocalJson } from '../../edges/system/local-http.ts';
import { listenError } from '../../edges/system/ports.ts';
import { type Clock, within } from '../../kernel/clock.ts';
import { Fault, isFault, nameOf } from '../../kernel/fault.ts';
import { type SchemaRegistryEdge } from '../../edges/schema-registry/registry.ts';
import { serviceConnectOf } from '../flows.ts';
import { kafkaOf, registryOf } from '../parts.ts';
import { Secrets } from '../secrets.ts';
import { type Subject, writtenSubjects } from '../schemas.ts';
import { undecidedRecords } from '../start-from.ts';
import { neededTopics } from '../topics.ts';
import {
  type AddressSeen,
  type ClusterSeen,
  type KafkaSeen,
  type LoginSeen,
  type NotSeen,
  type PortSeen,
  type Seen,
  type StartSeen,
  type SubjectSeen,
  type TopicSeen,
} from './seen.ts';

export interface LookParts {
  readonly config: Config;
  readonly userAgent: string;
  readonly clock: Clock;
}

/** What one neighbour may take altogether. */
const LIMIT_MS = 5000;
const CONNECT_MS = 3000;
const CLOSE_MS = 500;
const TOPIC_OPTIONS = ['max.message.bytes', 'retention.ms', 'cleanup.policy'];

/** Looks at all neighbours at once; writes to no topic, scores nothing, and rejects never. */
export async function look(parts: LookParts): Promise<Seen> {
  const [kafka, registry, service, ports, connectorRuns] = await Promise.all([
    lookAtKafka(parts),
    lookAtRegistry(parts),
    lookAtService(parts),
    lookAtPorts(parts.config),
    findConnector(parts.config),
  ]);
  return { kafka, registry, service, ports, connectorRuns };
}

async function bounded<T>(clock: Clock, work: () => Promise<T>): Promise<T | NotSeen> {
  try {
    const done = await within(clock, LIMIT_MS, work());
    return done === 'late' ? { failed: `no answer within ${String(LIMIT_MS / 1000)} s` } : done;
  } catch (error) {
    return { failed: isFault(error) ? error.message : nameOf(error) };
  }
}

async function reach(address: string, tls: KafkaTls | null): Promise<AddressSeen> {
  const port = Number(address.slice(address.lastIndexOf(':') + 1));
  return { address, error: await brokerError({ host: hostOf(address), port }, tls, CONNECT_MS) };
}

async function lookAtKafka({ config, clock }: LookParts): Promise<KafkaSeen> {
  const secrets = new Secrets(config);
  const tls = secrets.kafkaTls?.now() ?? null;
  const bootstrap = await Promise.all(config.kafka.brokers.map(async (address) => await reach(address, tls)));
  if (bootstrap.every(({ error }) => error !== null))
    return { bootstrap, cluster: { failed: 'none of KAFKA_BROKERS can be reached' } };
  const admin = createKafkaAdmin(kafkaOf(config, () => undefined, secrets));
  const cluster = await bounded(clock, async () => await lookAtCluster(admin, tls, { config, clock }));
  // A client that still tries to connect is not waited for.
  await within(clock, CLOSE_MS, admin.close());
  return { bootstrap, cluster };
}

async function lookAtCluster(
  admin: KafkaAdmin,
  tls: KafkaTls | null,
  { config, clock }: Pick<LookParts, 'config' | 'clock'>,
): Promise<ClusterSeen> {
  const [id, brokers] = [await admin.clusterId(), await admin.brokers()];
  const [addresses, topics, offsetMetadataMaxBytes] = await Promise.all([
    Promise.all(brokers.map(async ({ host, port }) => await reach(`${host}:${String(port)}`, tls))),
    lookAtTopics(admin, config),
    metadataLimit(admin, brokers[0]?.id),
  ]);
  const readable = topics.filter(({ role, partitions }) => role === 'read' && partitions > 0);
  const starts = await Promise.all(
    readable.map(async ({ topic }) => await lookAtStart(admin, config, topic, clock.nowMs())),
  );
  return { id, brokers: addresses, topics, starts, offsetMetadataMaxBytes };
}

async function lookAtTopics(admin: KafkaAdmin, config: Config): Promise<readonly TopicSeen[]> {
  const needed = neededTopics(config);
  const found = await admin.topics(needed.map(({ topic }) => topic));
  return await Promise.all(
    needed.map(async ({ topic, for: use }, index): Promise<TopicSeen> => {
      const { role, needsBytes, needsOption } = needsOf(config, topic);
      const info = found[index];
      const exists = info?.exists === true;
      const options = exists ? await admin.topicConfig(topic, TOPIC_OPTIONS) : new Map<string, string>();
      return {
        topic,
        for: use,
        role,
        needsBytes,
        needsOption,
        partitions: exists ? info.partitions : 0,
        replicas: exists ? info.replicas : 0,
        minInsync: exists ? info.minInsync : null,
        maxMessageBytes: numberIn(options, 'max.message.bytes'),
        retentionMs: numberIn(options, 'retention.ms'),
        cleanupPolicy: options.get('cleanup.policy') ?? null,
      };
    }),
  );
}

function numberIn(options: ReadonlyMap<string, string>, name: string): number | null {
  const text = options.get(name);
  return text !== undefined && /^-?\d+$/.test(text) ? Number(text) : null;
}

function needsOf(
  { topics, recordMaxBytes, webhook }: Config,
  topic: string,
): Pick<TopicSeen, 'role' | 'needsBytes' | 'needsOption'> {
  const isLetters = topic.endsWith(topics.deadLetterSuffix) && topic !== topics.reviews && topic !== topics.scores;
  if (topic === topics.created || topic === topics.authorized)
    return { role: 'read', needsBytes: null, needsOption: null };
  const role = isLetters ? 'letters' : 'written';
  return topic === topics.reviews || topic === `${topics.reviews}${topics.deadLetterSuffix}`
    ? { role, needsBytes: webhook.maxBytes, needsOption: 'WEBHOOK_MAX_BYTES' }
    : { role, needsBytes: recordMaxBytes, needsOption: 'RECORD_MAX_BYTES' };
}

async function metadataLimit(admin: KafkaAdmin, brokerId: number | undefined): Promise<number | null> {
  const name = 'offset.metadata.max.bytes';
  return brokerId === undefined ? null : numberIn(await admin.brokerConfig(brokerId, [name]), name);
}

async function lookAtStart(admin: KafkaAdmin, { kafka }: Config, topic: string, nowMs: number): Promise<StartSeen> {
  const committed = await admin.hasCommitted(kafka.groupId, topic);
  const isDecided = committed || kafka.startFrom !== null;
  return { topic, committed, undecided: isDecided ? 0n : await undecidedRecords(admin, topic, nowMs) };
}

async function lookAtRegistry({ config, clock }: LookParts): Promise<readonly SubjectSeen[] | NotSeen | null> {
  const subjects = writtenSubjects(config);
  if (subjects.length === 0) return null;
  const registry = registryOf(config, { clock });
  const seen = await bounded(
    clock,
    async () => await Promise.all(subjects.map(async (subject) => await lookAtSubject(registry, subject))),
  );
  await registry.close();
  return seen;
}

async function lookAtSubject(registry: SchemaRegistryEdge, { subject, schema }: Subject): Promise<SubjectSeen> {
  const found = await registry.idOf(subject, schema);
  if (found.do === 'unreachable') throw new Fault('REGISTRY_FAILED', found.error);
  const level = await registry.level(subject);
  if (found.do === 'found') return { subject, standing: 'registered', level };
  const standing = await registry.check(subject, schema);
  return { subject, standing: standing.do === 'fits' ? 'older' : standing.do, level };
}

async function lookAtService({ config, clock, userAgent }: LookParts): Promise<LoginSeen | NotSeen | null> {
  if (!config.flows.has('scoring') && !config.flows.has('sync')) return null;
  const { baseUrl, username, password } = config.service;
  const connect = serviceConnectOf(config, new Secrets(config), { clock });
  const tried = await tryLogin({ baseUrl, userAgent, limitMs: LIMIT_MS, connect }, { username, password }, clock);
  return tried.do === 'failed' ? { failed: tried.error } : tried;
}

async function lookAtPorts({ flows, webhook, ops }: Config): Promise<readonly PortSeen[]> {
  const webhookPort = flows.has('reviews') ? [lookAtPort('WEBHOOK_PORT', webhook)] : [];
  return await Promise.all([...webhookPort, lookAtPort('OPS_PORT', ops)]);
}

async function lookAtPort(
  option: PortSeen['option'],
  { host, port }: { readonly host: string; readonly port: number },
): Promise<PortSeen> {
  return { option, host, port, error: await listenError(host, port) };
}

const EVERY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Whether what has OPS_PORT is a connector: its status says so. */
async function findConnector({ ops }: Config): Promise<boolean> {
  if (ops.port === 0) return false;
  const host = EVERY_ADDRESS.has(ops.host) ? '127.0.0.1' : ops.host;
  const status = await fetchLocalJson(`http://${host.includes(':') ? `[${host}]` : host}:${String(ops.port)}/status`);
  return typeof status === 'object' && status !== null && 'account' in status && 'phase' in status;
}
