import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Archive } from './archive.ts';
import { type Cache } from './cache.ts';
import { CHILD_ENV, type Child } from './child.ts';
import { type KafkaVersion } from './downloads.ts';
import { type Jdk } from './jdk.ts';
import { saysPortTaken } from './ports.ts';
import { CLUSTER_ID, nodeProperties, type NodePorts, type Security } from './properties.ts';
import { type Run } from './run.ts';

/** One process of the cluster, to be killed, stopped (SIGSTOP) and started again by tests. */
export interface KafkaNode {
  readonly id: number;
  /** Of the process that runs now, or ran last. */
  readonly pid: number;
  /** The ports of its further listeners, in the order in which they were asked for. */
  readonly detours: readonly number[];
  /** The ports of its listeners of `Security`, by name. */
  readonly secured: ReadonlyMap<string, number>;
  /** Sends `signal`; after SIGKILL or SIGTERM, resolves when the process has ended. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again, on its port and with its data; resolves when it is ready. Nothing when it runs. */
  start(): Promise<void>;
}

/** What the nodes of one cluster share. */
export interface NodeSetup {
  readonly run: Run;
  readonly cache: Cache;
  readonly jdk: Jdk;
  readonly version: KafkaVersion;
  readonly classPath: string;
  /** The option of Java's that names the logger's settings. */
  readonly logging: string;
  readonly ports: readonly NodePorts[];
  readonly security?: Security | undefined;
  /** Of Kafka's classes: loading them is half of a start. */
  readonly archive: Archive;
  readonly say: (line: string) => void;
}

const READY_LIMIT_MS = 90_000;
const READY = 'Kafka Server started';
const SMALL = ['-Xss512k', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];

/** A broker and controller in one process. */
export class Node implements KafkaNode {
  readonly id: number;
  /** `host:port` of its broker. */
  readonly address: string;
  readonly #setup: NodeSetup;
  readonly #folder: string;
  #child: Child | undefined;
  #wanted = false;

  private constructor(id: number, setup: NodeSetup) {
    const port = String(setup.ports[id - 1]?.broker);
    this.id = id;
    this.address = `127.0.0.1:${port}`;
    this.#setup = setup;
    this.#folder = join(setup.run.folder, `node-${String(id)}-${port}`);
  }

  /** Makes the node's folder, with a formatted data folder; starts nothing yet. */
  static async create(id: number, setup: NodeSetup): Promise<Node> {
    const node = new Node(id, setup);
    const { cache, version, ports } = setup;
    const template = await cache.obtain(
      `kafka-${version}-node-${String(id)}-of-${String(ports.length)}`,
      async (draft) => {
        await node.#format(draft);
      },
    );
    await mkdir(node.#folder);
    await cp(join(template, 'data'), join(node.#folder, 'data'), { recursive: true });
    await node.#writeProperties(node.#folder, setup.security);
    return node;
  }

  get detours(): readonly number[] {
    return (this.#setup.ports[this.id - 1]?.detours ?? []).map(({ port }) => port);
  }

  get secured(): ReadonlyMap<string, number> {
    const { ports, security } = this.#setup;
    const own = ports[this.id - 1]?.secured ?? [];
    return new Map((security?.listeners ?? []).map(({ name }, index) => [name, own[index] ?? 0]));
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async start(): Promise<void> {
    if (this.#child?.alive === true) return;
    const { run, jdk, classPath, logging, archive, say, security } = this.#setup;
    this.#wanted = true;
    const memory = ['-Xms96m', '-Xmx320m', ...SMALL, '-XX:+ExitOnOutOfMemoryError', ...(security?.java ?? [])];
    const program = [logging, '-cp', classPath, 'kafka.Kafka', join(this.#folder, 'server.properties')];
    const child = await archive.starting(async ({ options, ...grace }) => {
      this.#child = await run.start({
        name: `Kafka node ${String(this.id)}`,
        command: jdk.java,
        args: [...memory, ...options, ...program],
        cwd: this.#folder,
        env: CHILD_ENV,
        ...grace,
      });
      await this.#child.untilReady((output) => output.includes(READY), READY_LIMIT_MS);
      return this.#child;
    });
    void child.ended.then(({ code, signal }) => {
      if (this.#wanted && !run.isClosing()) say(`${child.name} ended by itself (${signal ?? `exit ${String(code)}`})`);
    });
  }

  async kill(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    const ends = signal === 'SIGKILL' || signal === 'SIGTERM';
    if (ends) this.#wanted = false;
    child.kill(signal);
    if (ends) await child.ended;
  }

  /** Whether it failed because somebody else took its port. */
  async lostRace(): Promise<boolean> {
    return this.#child !== undefined && saysPortTaken(await this.#child.output());
  }

  async #format(draft: string): Promise<void> {
    const { run, jdk, classPath, logging } = this.#setup;
    // Formatting asks for less than running: the folder is the same, whoever may come in.
    const properties = await this.#writeProperties(draft, undefined);
    const child = await run.start({
      name: `Kafka format ${String(this.id)}`,
      command: jdk.java,
      args: [
        '-Xmx128m',
        ...SMALL,
        logging,
        '-cp',
        classPath,
        'kafka.tools.StorageTool',
        'format',
        '-t',
        CLUSTER_ID,
        '-c',
        properties,
      ],
      cwd: draft,
      env: CHILD_ENV,
    });
    const { code } = await child.ended;
    if (code !== 0) throw await child.failed('could not make a data folder');
    await rm(properties);
  }

  async #writeProperties(folder: string, security: Security | undefined): Promise<string> {
    const file = join(folder, 'server.properties');
    const { ports } = this.#setup;
    await writeFile(file, nodeProperties({ id: this.id, ports, dataFolder: join(folder, 'data'), security }));
    return file;
  }
}
