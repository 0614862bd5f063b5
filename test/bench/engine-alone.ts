import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { Engine } from '../../src/engine/engine.ts';
import {
  type Flow,
  type Reading,
  type Source,
  type SourceEvents,
  type SourceRecord,
  type Step,
} from '../../src/engine/ports.ts';

/** What the engine costs by itself, the making of the records included. */
export interface EngineFigures {
  readonly partitions: number;
  readonly keys: number;
  readonly records: number;
  /** CPU. */
  readonly usPerRecord: number;
  readonly seconds: number;
  readonly rssMb: number;
}

const TOPIC = 'bench';
const BATCH = 500;
const AT_ONCE = 64;
const VALUE = Buffer.alloc(700);

/** Does nothing but one `await`. */
class TrivialFlow implements Flow<SourceRecord, never> {
  readonly name = 'trivial';
  #running = 0;

  attach(): void {}

  read(record: SourceRecord): Reading<SourceRecord> {
    return { do: 'item', item: record };
  }

  lane(_item: SourceRecord, record: SourceRecord): string {
    return record.key?.toString('latin1') ?? '';
  }

  mayStart(): null {
    return null;
  }

  room(): number {
    return AT_ONCE - this.#running;
  }

  async run(): Promise<Step<never>> {
    this.#running += 1;
    await Promise.resolve();
    this.#running -= 1;
    return { do: 'delivered' };
  }

  due(): null {
    return null;
  }

  tick(): void {}

  barrier(): void {}
}

/** Makes records on the spot, as fast as they are taken. */
class SpotSource implements Source {
  readonly #partitions: number;
  readonly paused = new Set<number>();
  events: SourceEvents | null = null;

  constructor(partitions: number) {
    this.#partitions = partitions;
  }

  async start(events: SourceEvents): Promise<void> {
    this.events = events;
    events.assigned(
      Array.from({ length: this.#partitions }, (_, partition) => ({
        topic: TOPIC,
        partition,
        committed: null,
        metadata: '',
        low: 0n,
        high: 0n,
      })),
    );
    await Promise.resolve();
  }

  pause(at: readonly { readonly partition: number }[]): void {
    for (const { partition } of at) this.paused.add(partition);
  }

  resume(at: readonly { readonly partition: number }[]): void {
    for (const { partition } of at) this.paused.delete(partition);
  }

  seek(): void {}

  async commit(): Promise<void> {
    await Promise.resolve();
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }
}

/** Another flow than the trivial one, and what its records hold. */
export interface EngineWork {
  readonly flow: Flow<unknown, unknown>;
  readonly value: Buffer;
}

/** Puts so many records through the engine, in this process. */
export async function measureEngine(
  partitions: number,
  keys: number,
  records: number,
  work: EngineWork = { flow: new TrivialFlow(), value: VALUE },
): Promise<EngineFigures> {
  const source = new SpotSource(partitions);
  const { flow, value } = work;
  const engine = new Engine({
    source,
    flows: new Map([[TOPIC, flow]]),
    deadLetters: { write: async () => await Promise.resolve('written') },
    schemas: { fetch: async () => await Promise.resolve({ do: 'ready' }) },
    clock: systemClock,
    draw: systemDraw,
    emit: () => undefined,
    commitIntervalMs: 250,
    clusterHash: 'AAAAAA',
    nonce: 'bench',
    parked: new Set(),
    onGap: 'earliest',
    barrierMs: 2000,
    pressure: { partitionRecords: 1024, partitionSpan: 1e6, flowRecords: 10_000, flowBytes: 67_108_864 },
  });
  const names = Array.from({ length: keys }, (_, key) => Buffer.from(`cust-${String(key)}`));
  const next = Array.from({ length: partitions }, () => 0);
  const progress = { made: 0 };
  const makeBatch = (partition: number): void => {
    const from = next[partition] ?? 0;
    const batch = Array.from({ length: BATCH }, (_, index) => ({
      topic: TOPIC,
      partition,
      offset: BigInt(from + index),
      timestampMs: 1,
      key: names[(progress.made + index) % keys] ?? null,
      value,
      headers: {},
    }));
    progress.made += BATCH;
    next[partition] = from + BATCH;
    source.events?.records({ topic: TOPIC, partition }, BigInt(from), BigInt(from + BATCH), batch);
  };
  const settled = (): number =>
    Object.values(engine.status().flows[0]?.outcomes ?? {}).reduce((sum, count) => sum + count, 0);
  await engine.start();
  const [cpu, beganMs] = [process.cpuUsage(), performance.now()];
  const isEnough = (): boolean => progress.made >= records;
  while (!isEnough()) {
    for (let partition = 0; partition < partitions && !isEnough(); partition += 1)
      if (!source.paused.has(partition)) makeBatch(partition);
    await nextTurn();
  }
  const { made } = progress;
  while (settled() < made) await nextTurn();
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - beganMs) / 1000;
  await engine.stop(1000);
  const rssMb = process.memoryUsage().rss / 1024 / 1024;
  return { partitions, keys, records: made, usPerRecord: (user + system) / made, seconds, rssMb };
}
