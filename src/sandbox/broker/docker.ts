import { hostname } from 'node:os';
import { type Readable } from 'node:stream';
import type * as testcontainers from 'testcontainers';
import { Fault, nameOf } from '../../kernel/fault.ts';
import { lastLines } from './child.ts';
import { type KafkaVersion, REGISTRY_VERSION } from './downloads.ts';
import { CLUSTER_ID, environmentOf, sharedSettings } from './properties.ts';
import { isAlive } from './run.ts';
import { untilUsable } from './usable.ts';

// By `import type` alone: an import of nothing but inline types still loads its module, and this one need not be there.
type Testcontainers = typeof testcontainers;
type GenericContainer = testcontainers.GenericContainer;
type StartedTestContainer = testcontainers.StartedTestContainer;

export interface DockerOptions {
  readonly version: KafkaVersion;
  readonly registry: boolean;
  readonly say: (line: string) => void;
  /** For a container to become healthy; 120 s unless told. */
  readonly readyLimitMs?: number;
}

export interface OnDocker {
  readonly brokers: string[];
  readonly registryUrl: string;
  stop(): Promise<void>;
}

/** What both images need on the disk at the first start, roughly. */
export const IMAGES_MB = 500;

const OWNER = 'fraud-screening-connector.owner';
const READY_LIMIT_MS = 120_000;
const STOP_LIMIT_MS = 10_000;
const BROKER_PORT = 9092;
const REGISTRY_PORT = 8080;
const SCRIPT = '/tmp/start-kafka.sh';
const WAITING = 'waiting for the address';

/** Starts Kafka and the registry as containers, after those left behind by runs that have died were removed. */
export async function startOnDocker({
  version,
  registry,
  say,
  readyLimitMs = READY_LIMIT_MS,
}: DockerOptions): Promise<OnDocker> {
  const library = await load();
  await removeLeftOvers(library);
  say(
    `Docker: starting Kafka ${version}${registry ? ' and the registry' : ''} (the first time, about ${String(IMAGES_MB)} MB of images are pulled)`,
  );
  const started: StartedTestContainer[] = [];
  const keep = (container: StartedTestContainer): StartedTestContainer => {
    started.push(container);
    return container;
  };
  let ended: Promise<void> | undefined;
  const stop = async (): Promise<void> => {
    ended ??= removeAll(started);
    await ended;
  };
  const both = [
    startBroker(library, { version, readyLimitMs, keep }),
    registry ? startRegistryContainer(library, { readyLimitMs, keep }) : Promise.resolve(''),
  ] as const;
  try {
    const [broker, registryUrl] = await Promise.all(both);
    await untilUsable([broker]);
    return { brokers: [broker], registryUrl, stop };
  } catch (error) {
    await Promise.allSettled(both);
    // The first failure is the one to tell of: an engine that has gone away cannot remove anything either. What it leaves
    // behind is removed at the next start.
    await stop().catch(() => undefined);
    throw error;
  }
}

/** Testcontainers is a tool of development: an installed package does not have it. */
async function load(): Promise<Testcontainers> {
  try {
    return await import('testcontainers');
  } catch (error) {
    throw new Fault('NO_BROKER', 'the package testcontainers is not installed', { cause: error });
  }
}

interface Starting {
  readonly readyLimitMs: number;
  /** Notes a container that has to be removed. */
  readonly keep: (container: StartedTestContainer) => StartedTestContainer;
}

/** The advertised address holds a port that is known only after the start: the container waits for it. */
async function startBroker(
  { GenericContainer, Wait }: Testcontainers,
  { version, readyLimitMs, keep }: Starting & { readonly version: KafkaVersion },
): Promise<string> {
  const { promise: up, resolve } = Promise.withResolvers<true>();
  const output: string[] = [];
  const container = keep(
    await labelled(new GenericContainer(`apache/kafka:${version}`))
      .withExposedPorts(BROKER_PORT)
      .withEnvironment(brokerEnvironment())
      .withEntrypoint(['sh'])
      .withCommand(['-c', `echo ${WAITING}; while [ ! -f ${SCRIPT} ]; do sleep 0.1; done; exec sh ${SCRIPT}`])
      .withWaitStrategy(Wait.forLogMessage(WAITING))
      .withStartupTimeout(readyLimitMs)
      .withLogConsumer((stream: Readable) => {
        stream.on('data', (piece: Buffer) => {
          output.push(String(piece));
          if (output.length > 200) output.shift();
          if (output.slice(-2).join('').includes('Kafka Server started')) resolve(true);
        });
      })
      .start(),
  );
  const address = addressOf(container.getHost(), container.getMappedPort(BROKER_PORT));
  const content = startScript(address);
  await container.copyContentToContainer([{ target: SCRIPT, mode: 0o755, content }]);
  if (!(await soon(up, readyLimitMs))) {
    throw new Fault('CHILD_FAILED', `Kafka's container was not ready in time:\n${lastLines(output.join(''), 15)}`);
  }
  return address;
}

async function startRegistryContainer(
  { GenericContainer, Wait }: Testcontainers,
  { readyLimitMs, keep }: Starting,
): Promise<string> {
  const container = keep(
    await labelled(new GenericContainer(`apicurio/apicurio-registry:${REGISTRY_VERSION}`))
      .withExposedPorts(REGISTRY_PORT)
      .withEnvironment({ APICURIO_RULES_GLOBAL_COMPATIBILITY: 'BACKWARD' })
      .withWaitStrategy(Wait.forHttp('/apis/ccompat/v7/subjects', REGISTRY_PORT))
      .withStartupTimeout(readyLimitMs)
      .start(),
  );
  return `http://${addressOf(container.getHost(), container.getMappedPort(REGISTRY_PORT))}/apis/ccompat/v7`;
}

/** The variables of the broker's image. It has one node, and a second listener for itself. */
export function brokerEnvironment(): Record<string, string> {
  return {
    CLUSTER_ID,
    ...environmentOf({
      'process.roles': 'broker,controller',
      'node.id': 1,
      listeners: `PLAINTEXT://0.0.0.0:${String(BROKER_PORT)},BROKER://0.0.0.0:9093,CONTROLLER://0.0.0.0:9094`,
      'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT',
      'inter.broker.listener.name': 'BROKER',
      'controller.listener.names': 'CONTROLLER',
      'controller.quorum.voters': '1@localhost:9094',
      ...sharedSettings(1),
    }),
  };
}

/** What runs in the container once the address is known under which it is reached from outside. */
export function startScript(address: string): string {
  return `export KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://${address},BROKER://localhost:9093\nexec /etc/kafka/docker/run\n`;
}

/** `localhost` may mean ::1, where no port is published. */
export function addressOf(host: string, port: number): string {
  return `${host === 'localhost' ? '127.0.0.1' : host}:${String(port)}`;
}

/** Whose container it is: this process of this machine. */
export function ownerLabel(machine: string, pid: number): string {
  return `${machine} ${String(pid)}`;
}

/** Whether the process that a label names was one of `machine` and has died. */
export function isLeftOver(label: string | undefined, machine: string, alive: (pid: number) => boolean): boolean {
  const [owner, pid] = (label ?? '').split(' ');
  return owner === machine && Number.isSafeInteger(Number(pid)) && Number(pid) > 0 && !alive(Number(pid));
}

function labelled(container: GenericContainer): GenericContainer {
  return container.withLabels({ [OWNER]: ownerLabel(hostname(), process.pid) });
}

/** A run that was killed leaves its containers where nothing else of the engine's removes them. */
async function removeLeftOvers({ getContainerRuntimeClient }: Testcontainers): Promise<void> {
  const { container: engine } = await getContainerRuntimeClient();
  const all = await engine.list();
  const left = all.filter((each) => isLeftOver(each.Labels[OWNER], hostname(), isAlive));
  await Promise.allSettled(
    left.map(async (each) => {
      await engine.getById(each.Id).remove({ force: true, v: true });
    }),
  );
}

async function removeAll(containers: readonly StartedTestContainer[]): Promise<void> {
  const removed = await Promise.allSettled(
    containers.map(async (each) => await each.stop({ timeout: STOP_LIMIT_MS, remove: true, removeVolumes: true })),
  );
  const failure = removed.find((each) => each.status === 'rejected');
  if (failure !== undefined) {
    throw new Fault('CHILD_FAILED', `A container could not be removed (${nameOf(failure.reason)}).`);
  }
}

async function soon(up: Promise<true>, limitMs: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => {
    resolve(false);
  }, limitMs);
  try {
    return await Promise.race([up, late]);
  } finally {
    clearTimeout(timer);
  }
}
