import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import kafkajs from 'kafkajs';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { type ReplayReport } from '../../src/replay/report.ts';
import { type Child } from '../../src/sandbox/broker/child.ts';
import { Run } from '../../src/sandbox/broker/run.ts';
import { startKafka } from '../../src/sandbox/broker/start.ts';
import { seededDraw } from '../../src/sandbox/service/chance.ts';
import { BulkProducer } from './bulk-producer.ts';
import { PARTITIONS } from './backlog.ts';
import { BatchBuilder } from './record-batch.ts';
import { type BenchResult, type Job } from './result.ts';
import { percentile } from './statistics.ts';
import { StatusSink } from './status-sink.ts';

const LAUNCHER = fileURLToPath(new URL('../../src/bin.mjs', import.meta.url));
const TOPIC = 'bench.authorized';
const GROUP = 'bench-live';
const BATCH_BYTES = 256 * 1024;
/** Of the records: how many transactions they belong to. */
const ID_SHARE = 0.4;
/** Of the updates that are to be sent: when the replay is killed. */
const KILL_SHARE = 0.5;
const TICK_MS = 50;
/** How long the live updates run before the replay begins. */
const ALONE_MS = 20_000;
const LOOK_EVERY_MS = 250;
const LIMIT_MS = 30 * 60_000;
const SEED = 20_261_121;

interface World {
  readonly broker: string;
  readonly sink: StatusSink;
  readonly run: Run;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Number of the newest update of each transaction. */
  readonly newest: Uint32Array;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}

/** A replay of many updates, killed in the middle and resumed, beside live updates of the same transactions. */
export const replay: Job = async ({ records, rate }, { say, signal }) => {
  const opened = new ReleaseStack();
  try {
    const world = await setWorld({ records, opened, say, signal });
    const live = await start(world, 'live', ['run', '--flows', 'sync'], { KAFKA_START_FROM: 'latest' });
    const shops = new LiveShops(world, records, rate);
    await shops.open();
    opened.push('live updates', async () => {
      await shops.close();
    });
    await until(world, 'the live group sends', () => world.sink.came > 0 || !live.alive);
    const alone = await shops.delaysOf(async () => {
      await sleep(ALONE_MS, undefined, { signal }).catch(() => undefined);
    });
    const starts: [Start, Start][] = [];
    const beside = await shops.delaysOf(async () => {
      starts.push(await carryOut(world));
    });
    await shops.close();
    await until(world, 'the live group has come to its end', () => wrongOf(world) === 0, 60_000);
    await live.end();
    const [first, second] = starts[0]!;
    return resultOf({ world, records, first, second, live: shops.written, alone, beside });
  } finally {
    for (const { what, error } of await opened.release()) say(`${what} could not be closed: ${error}`);
  }
};

async function setWorld(parts: {
  readonly records: number;
  readonly opened: ReleaseStack;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
}): Promise<World> {
  const { records, opened, say, signal } = parts;
  const { KAFKA_BROKERS: _, SCHEMA_REGISTRY_URL: __, ...own } = process.env;
  const kafka = await startKafka({ env: own, say });
  opened.push('broker', async () => {
    await kafka.stop();
  });
  const [broker = ''] = kafka.brokers;
  await createTopics(broker);
  const ids = Math.ceil(records * ID_SHARE);
  const newest = await fill(broker, records, ids);
  say(`${String(records)} updates of ${String(ids)} transactions are there.`);
  const sink = await StatusSink.open(ids);
  opened.push('sink', async () => {
    await sink.close();
  });
  const run = await Run.open();
  opened.push('connectors', async () => {
    await run.close();
  });
  const env = {
    PATH: process.env['PATH'],
    KAFKA_BROKERS: broker,
    KAFKA_GROUP_ID: GROUP,
    KAFKA_SESSION_TIMEOUT_MS: '6000',
    TOPIC_AUTHORIZED: TOPIC,
    SCHEMA_REGISTRY_URL: kafka.registryUrl,
    SERVICE_BASE_URL: `http://127.0.0.1:${String(sink.port)}`,
    SERVICE_USERNAME: 'bench',
    SERVICE_PASSWORD: 'bench',
    OPS_PORT: '0',
  };
  return { broker, sink, run, env, newest, say, signal };
}

/** One start of the replay. */
interface Start {
  readonly seconds: number;
  readonly code: number | null;
  /** Updates that came meanwhile, live ones included. */
  readonly came: number;
  readonly report: ReplayReport | null;
  /** Highest resident memory. */
  readonly peakMb: number;
}

async function carryOut(world: World): Promise<[Start, Start]> {
  const { sink, say } = world;
  const toSend = world.newest.length;
  const first = await timed(world, 1, async (child) => {
    await until(world, 'half is sent', () => sink.came > toSend * KILL_SHARE || !child.alive);
    if (child.pid !== undefined) process.kill(child.pid, 'SIGKILL');
  });
  say(`Killed after ${first.seconds.toFixed(0)} s; ${String(first.came)} updates had come.`);
  const second = await timed(world, 2, async (child) => {
    await until(world, 'the end', () => !child.alive);
  });
  say(`Resumed, and ended with ${String(second.code)} after ${second.seconds.toFixed(0)} s.`);
  return [first, second];
}

async function timed(world: World, number: number, work: (child: Child) => Promise<void>): Promise<Start> {
  const { sink, run } = world;
  const before = sink.came;
  const startedMs = performance.now();
  const file = join(run.folder, `report-${String(number)}.json`);
  const child = await start(world, `replay ${String(number)}`, ['replay', '--id', 'bench', '--report', file]);
  const memory = new PeakMemory(child.pid);
  await work(child);
  const { code } = await child.ended;
  const peakMb = memory.end();
  const seconds = (performance.now() - startedMs) / 1000;
  const text = await readFile(file, 'utf8').catch(() => '');
  const report = text === '' ? null : (JSON.parse(text) as ReplayReport);
  return { seconds, code, came: sink.came - before, report, peakMb };
}

async function start(
  { run, env }: World,
  name: string,
  args: readonly string[],
  over: Readonly<Record<string, string>> = {},
): Promise<Child> {
  return await run.start({
    name,
    command: process.execPath,
    args: [LAUNCHER, ...args],
    cwd: run.folder,
    env: { ...env, ...over },
  });
}

/** The highest resident memory of a process, looked at until it ends. */
class PeakMemory {
  #peakMb = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(pid: number | undefined) {
    this.#timer = setInterval(() => {
      try {
        const status = readFileSync(`/proc/${String(pid)}/status`, 'utf8');
        this.#peakMb = Math.max(this.#peakMb, Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
      } catch {
        // It has ended.
      }
    }, LOOK_EVERY_MS);
  }

  end(): number {
    clearInterval(this.#timer);
    return this.#peakMb;
  }
}

/** Live updates of the same transactions, evenly spread over the time. */
class LiveShops {
  readonly #world: World;
  readonly #rate: number;
  readonly #draw = seededDraw(SEED);
  readonly #producer: kafkajs.Producer;
  #next: number;
  #isOpen = true;
  #life: Promise<void> = Promise.resolve();
  /** When an update was made that has not come yet, by its number. */
  readonly #made = new Map<number, number>();
  #delays: number[] = [];
  written = 0;

  constructor(world: World, firstNumber: number, rate: number) {
    this.#world = world;
    this.#rate = rate;
    this.#next = firstNumber + 1;
    const kafka = new kafkajs.Kafka({ brokers: [world.broker], logLevel: kafkajs.logLevel.NOTHING });
    this.#producer = kafka.producer({ maxInFlightRequests: 1, idempotent: true });
    world.sink.onUpdate = (number) => {
      const madeMs = this.#made.get(number);
      if (madeMs === undefined) return;
      this.#made.delete(number);
      this.#delays.push(performance.now() - madeMs);
    };
  }

  /** Milliseconds from the making of live updates to their first coming to the service, of those that come during `work`; ascending. */
  async delaysOf(work: () => Promise<void>): Promise<readonly number[]> {
    this.#delays = [];
    await work();
    return this.#delays.toSorted((a, b) => a - b);
  }

  async open(): Promise<void> {
    await this.#producer.connect();
    this.#life = this.#live();
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#life;
    await this.#producer.disconnect();
  }

  async #live(): Promise<void> {
    const startedMs = performance.now();
    while (this.#isOpen) {
      const due = Math.floor(((performance.now() - startedMs) / 1000) * this.#rate) - this.written;
      const messages = Array.from({ length: due }, () => this.#update());
      if (messages.length > 0) await this.#producer.send({ topic: TOPIC, messages });
      this.written += messages.length;
      await sleep(TICK_MS);
    }
  }

  #update(): { readonly key: string; readonly value: string; readonly partition: number } {
    const { newest } = this.#world;
    const id = Math.floor(this.#draw() * newest.length);
    const number = this.#next;
    this.#next += 1;
    newest[id] = number;
    this.#made.set(number, performance.now());
    return { key: nameOf(id), value: valueOf(id, number), partition: id % PARTITIONS };
  }
}

/** The updates, each transaction in one partition; answers the number of the newest of each. Numbers begin at 1. */
async function fill(broker: string, records: number, ids: number): Promise<Uint32Array> {
  const newest = new Uint32Array(ids);
  const draw = seededDraw(SEED);
  const producer = await BulkProducer.open(broker);
  const builders = Array.from({ length: PARTITIONS }, () => new BatchBuilder(BATCH_BYTES));
  const nowMs = Date.now();
  try {
    for (let number = 1; number <= records; number += 1) {
      // Each once, then any of them again.
      const id = number <= ids ? number - 1 : Math.floor(draw() * ids);
      newest[id] = number;
      const partition = id % PARTITIONS;
      const builder = builders[partition]!;
      if (builder.add(nameOf(id), valueOf(id, number))) continue;
      await producer.send(TOPIC, partition, builder.take(nowMs));
      builder.add(nameOf(id), valueOf(id, number));
    }
    for (const [partition, builder] of builders.entries())
      if (builder.count > 0) await producer.send(TOPIC, partition, builder.take(nowMs));
  } finally {
    producer.close();
  }
  return newest;
}

function nameOf(id: number): string {
  return `b${String(id)}`;
}

function valueOf(id: number, number: number): string {
  return `{"trans_id":"${nameOf(id)}","status":"approved","ts":"2026-03-01T09:30:00Z","acq_ref_id":"${String(number)}"}`;
}

/** Transactions whose newest update is not the last that the service was sent. */
function wrongOf({ newest, sink }: Pick<World, 'newest' | 'sink'>): number {
  let wrong = 0;
  for (const [id, number] of newest.entries()) if (sink.last[id] !== number) wrong += 1;
  return wrong;
}

async function until({ signal, say }: World, what: string, isSo: () => boolean, limitMs = LIMIT_MS): Promise<void> {
  const untilMs = performance.now() + limitMs;
  while (!isSo()) {
    if (signal.aborted) throw new Error('interrupted');
    if (performance.now() > untilMs) {
      say(`In ${String(limitMs / 1000)} s it did not come to this: ${what}.`);
      return;
    }
    await sleep(100);
  }
}

async function createTopics(broker: string): Promise<void> {
  const admin = new kafkajs.Kafka({ brokers: [broker], logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const topics = [TOPIC, `${TOPIC}.dlq`].map((topic) => ({ topic, numPartitions: PARTITIONS, replicationFactor: 1 }));
    await admin.createTopics({ waitForLeaders: true, topics });
  } finally {
    await admin.disconnect();
  }
}

interface Outcome {
  readonly world: World;
  readonly records: number;
  readonly first: Start;
  readonly second: Start;
  readonly live: number;
  readonly alone: readonly number[];
  readonly beside: readonly number[];
}

function resultOf({ world, records, first, second, live, alone, beside }: Outcome): BenchResult {
  const { sink, newest } = world;
  const wrong = wrongOf(world);
  const { report } = second;
  // All that came but one for each transaction and live update.
  const doubled = sink.came - newest.length - live;
  const seconds = first.seconds + second.seconds;
  return {
    columns: ['replay', 'figure'],
    rows: [
      ['updates in the range', String(records)],
      ['transactions', String(newest.length)],
      ['live updates meanwhile', String(live)],
      ['seconds, both starts', seconds.toFixed(0)],
      ['offsets per second', (records / seconds).toFixed(0)],
      ['came in batches of', (sink.came / Math.max(1, sink.batches)).toFixed(1)],
      ['sent twice or repaired', String(doubled)],
      ['repaired, second start', String(report?.repaired ?? '-')],
      ['not the newest at the end', String(wrong)],
      ['MB at most, of either start', Math.max(first.peakMb, second.peakMb).toFixed(0)],
      ['live update, p50 and p99 ms, alone', delays(alone)],
      ['live update, p50 and p99 ms, beside it', delays(beside)],
    ],
    figures: {
      records,
      transactions: newest.length,
      live,
      first,
      second,
      came: sink.came,
      doubled,
      wrong,
      aloneMs: { p50: percentile(alone, 0.5), p99: percentile(alone, 0.99) },
      besideMs: { p50: percentile(beside, 0.5), p99: percentile(beside, 0.99) },
    },
    missed: [
      ...(wrong === 0 ? [] : [`${String(wrong)} transactions do not have their newest status`]),
      ...(second.code === 0 ? [] : [`the resumed replay ended with ${String(second.code)}`]),
      ...(report?.resumed === true ? [] : ['the second start did not resume the first']),
    ],
  };
}

function delays(sorted: readonly number[]): string {
  return [0.5, 0.99].map((share) => percentile(sorted, share).toFixed(0)).join(' and ');
}
