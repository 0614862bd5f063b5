import { Fault, isFault, nameOf } from '../../kernel/fault.ts';
import { Cache, cacheFolder } from './cache.ts';
import { cacheName, DOWNLOAD_MB, type KafkaVersion, REGISTRY_VERSION } from './downloads.ts';
import { IMAGES_MB, startOnDocker } from './docker.ts';
import { dockerAddress, type DockerAddress, whyNoDocker } from './docker-probe.ts';
import { startOnJava } from './java.ts';
import { findJdk, findMaven, type Jdk, OLDEST_JAVA } from './jdk.ts';
import { type KafkaNode } from './node.ts';
import { type Security } from './properties.ts';

export interface KafkaOptions {
  /** 1 unless told. Three nodes are for tests that kill some: they are always started here, with Java. */
  readonly nodes?: 1 | 3;
  readonly kafkaVersion?: KafkaVersion;
  /** Where progress is told: a download or a start takes a while. */
  readonly say: (line: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** False: only Kafka. */
  readonly registry?: boolean;
  /**
   * For each of three nodes further listeners, each advertised with one of these ports of the loopback address: those of
   * proxies, which pass connections on to the ports in `detours` of the node.
   */
  readonly detours?: readonly (readonly number[])[];
  /** Further listeners, and who may do what: for tests of security. Always started here, with Java. */
  readonly security?: Security;
}

export interface KafkaAndRegistry {
  /** `host:port` of each node. */
  readonly brokers: string[];
  /** The registry's Confluent-compatible interface, with its path; empty when none was asked for. */
  readonly registryUrl: string;
  readonly how: 'given' | 'docker' | 'java';
  /** The nodes as processes of this machine; empty unless `how` is `java`. */
  readonly nodes: KafkaNode[];
  /** Ends what was started, and nothing that was given. Calling it again waits for the first call. */
  stop(): Promise<void>;
}

/** What the way with Java finds here. */
interface JavaParts {
  readonly jdk: Jdk | undefined;
  readonly maven: string | undefined;
  /** Whether everything was downloaded before, so that no Maven is needed. */
  readonly isCached: boolean;
}

/**
 * A real Kafka and a real schema registry: those given by KAFKA_BROKERS and SCHEMA_REGISTRY_URL, else two containers,
 * else two programs that are downloaded once and started with Java.
 * @throws Fault `NO_BROKER` with what is missing, `DOWNLOAD_FAILED`, `CHILD_FAILED`
 */
export async function startKafka(options: KafkaOptions): Promise<KafkaAndRegistry> {
  const { env, say, nodes = 1, kafkaVersion = '4.3.1', registry = true, detours = [], security } = options;
  const isOwn = isStartedHere(options);
  const given = isOwn ? undefined : givenIn(env, registry);
  if (given !== undefined) return given;

  const docker = dockerAddress(env);
  let whyNotDocker = isOwn
    ? 'three nodes, or ones with security, are started with Java only'
    : await whyNoDocker(docker);
  if (whyNotDocker === undefined) {
    try {
      const started = await startOnDocker({ version: kafkaVersion, registry, say });
      return { ...started, how: 'docker', nodes: [] };
    } catch (error) {
      whyNotDocker = `the containers did not start: ${isFault(error) ? error.message : nameOf(error)}`;
      say(`Docker: ${whyNotDocker}`);
    }
  }

  const { jdk, maven, isCached } = await javaParts(options);
  if (jdk !== undefined && jdk.major >= OLDEST_JAVA && (maven !== undefined || isCached)) {
    const started = await startOnJava({
      jdk,
      maven,
      version: kafkaVersion,
      nodes,
      registry,
      detours,
      security,
      say,
      env,
    });
    return { ...started, how: 'java' };
  }
  throw new Fault('NO_BROKER', whatIsNeeded({ env, docker, whyNotDocker, jdk, maven }));
}

/** Whether neither what is given nor Docker will do. */
function isStartedHere({ nodes = 1, security }: KafkaOptions): boolean {
  return nodes !== 1 || security !== undefined;
}

function givenIn(env: KafkaOptions['env'], registry: boolean): KafkaAndRegistry | undefined {
  const brokers = (env['KAFKA_BROKERS'] ?? '')
    .split(',')
    .map((broker) => broker.trim())
    .filter((broker) => broker !== '');
  const registryUrl = env['SCHEMA_REGISTRY_URL'] ?? '';
  if (brokers.length === 0 || (registry && registryUrl === '')) return undefined;
  return { brokers, registryUrl, how: 'given', nodes: [], stop: async () => await Promise.resolve() };
}

async function javaParts({ env, kafkaVersion = '4.3.1', registry = true }: KafkaOptions): Promise<JavaParts> {
  const cache = new Cache(cacheFolder(env));
  const [jdk, maven, kafkaFolder, registryFolder] = await Promise.all([
    findJdk(env),
    findMaven(env),
    cache.find(cacheName('kafka', kafkaVersion)),
    registry ? cache.find(cacheName('registry', REGISTRY_VERSION)) : '',
  ]);
  return { jdk, maven, isCached: kafkaFolder !== undefined && registryFolder !== undefined };
}

/** The one message for a machine without any of the three ways: what each would need, and what is missing here. */
export function whatIsNeeded(found: {
  readonly env: KafkaOptions['env'];
  readonly docker: DockerAddress;
  readonly whyNotDocker: string;
  readonly jdk: Jdk | undefined;
  readonly maven: string | undefined;
}): string {
  const { env, jdk, maven } = found;
  const unset = ['KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL'].filter((name) => (env[name] ?? '') === '');
  const java =
    jdk === undefined
      ? 'no Java found'
      : `Java ${jdk.version} found at ${jdk.home}${jdk.major < OLDEST_JAVA ? `, ${String(OLDEST_JAVA)} or newer is needed` : ''}`;
  return [
    'A Kafka and a schema registry are needed. One of three ways:',
    `  1. Those you have: set KAFKA_BROKERS and SCHEMA_REGISTRY_URL. Here: ${unset.length === 0 ? 'both set, but not used for three nodes' : `${unset.join(' and ')} not set`}.`,
    `  2. Docker (images of about ${String(IMAGES_MB)} MB, once). Here: ${found.whyNotDocker}.`,
    `  3. Java ${String(OLDEST_JAVA)} or newer and Maven (downloads of ${String(DOWNLOAD_MB.kafka)} and ${String(DOWNLOAD_MB.registry)} MB, once). Here: ${java}; ${maven === undefined ? 'no Maven (mvn) found' : `Maven found at ${maven}`}.`,
  ].join('\n');
}
