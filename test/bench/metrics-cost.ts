import { wireFlows } from '../../src/app/flows.ts';
import { Instruments } from '../../src/app/instruments.ts';
import { registryOf } from '../../src/app/parts.ts';
import { readMapping } from '../../src/app/mapping.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createScreeningApi } from '../../src/edges/screening-api/client.ts';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { Engine } from '../../src/engine/engine.ts';
import { type RecordWriter, type Source, type SourceEvents, type TopicPartition } from '../../src/engine/ports.ts';
import { ScoreCounts } from '../../src/flows/scoring/score-counts.ts';
import { BucketCounts } from '../../src/kernel/bucket-counts.ts';
import { type Clock } from '../../src/kernel/clock.ts';
import { ExchangeCounts } from '../../src/kernel/exchange-counts.ts';
import { FRAUD_SCORE_SCHEMA } from '../../src/screening/avro.generated.ts';
import { MeteredWriter } from '../../src/telemetry/metered-writer.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { keyPlan, nameOfKey, PARTITIONS, valueOf } from './backlog.ts';

/** What one payment cost in one process. */
export interface MetricsCost {
  readonly usPerRecord: number;
  readonly records: number;
  readonly seconds: number;
}

const BATCH = 500;
const WARM_UP = 0.2;
const SCRAPE_MS = 1000;
const TOPIC = 'payments.created';

/** Makes payments on the spot, a batch for a partition as soon as it is read again; so many in all. */
class PaymentSource implements Source {
  readonly #most: number;
  readonly #next = Array.from({ length: PARTITIONS }, () => 0);
  readonly #open = new Set<number>();
  readonly #plan = keyPlan('even');
  #events: SourceEvents | null = null;
  #made = 0;
  #filling = false;

  constructor(most: number) {
    this.#most = most;
  }

  async start(events: SourceEvents): Promise<void> {
    this.#events = events;
    const found = { topic: TOPIC, committed: null, metadata: '', low: 0n, high: 0n };
    events.assigned(this.#next.map((_, partition) => ({ ...found, partition })));
    await Promise.resolve();
  }

  pause(at: readonly TopicPartition[]): void {
    for (const { partition } of at) this.#open.delete(partition);
  }

  resume(at: readonly TopicPartition[]): void {
    for (const { partition } of at) this.#open.add(partition);
    if (this.#filling) return;
    this.#filling = true;
    setImmediate(this.#fill);
  }

  seek(): void {}

  async commit(): Promise<void> {
    await Promise.resolve();
  }

  async stop(): Promise<void> {
    await Promise.resolve();
  }

  readonly #fill = (): void => {
    for (const partition of this.#open) if (this.#made < this.#most) this.#batch(partition);
    this.#filling = this.#open.size > 0 && this.#made < this.#most;
    if (this.#filling) setImmediate(this.#fill);
  };

  #batch(partition: number): void {
    const from = this.#next[partition] ?? 0;
    const timestampMs = Date.now();
    const records = Array.from({ length: BATCH }, (_, index) => {
      const record = this.#made + index;
      const key = this.#plan.keyOf(record);
      return {
        topic: TOPIC,
        partition,
        offset: BigInt(from + index),
        timestampMs,
        key: Buffer.from(nameOfKey(key)),
        value: Buffer.from(valueOf(record, key, false)),
        headers: {},
      };
    });
    this.#made += BATCH;
    this.#next[partition] = from + BATCH;
    this.#events?.records({ topic: TOPIC, partition }, BigInt(from), BigInt(from + BATCH), records);
  }
}

const nothing = (): void => undefined;

/** Takes out all that counts for metrics: what is left is what the connector would cost if it had none. */
function withoutMetrics(): Clock {
  BucketCounts.prototype.add = nothing;
  ExchangeCounts.prototype.ended = nothing;
  ScoreCounts.prototype.scored = nothing;
  const nowMs = Date.now();
  // The wall clock is read for the way of each record, so its reading counts as theirs.
  return { ...systemClock, nowMs: () => nowMs };
}

const WRITER: RecordWriter = {
  write: async () => await Promise.resolve({ do: 'written', partition: 0, offset: 0n }),
};

/** Scores so many payments over HTTP, without Kafka, in this process; with metrics they are read once a second, too. */
export async function measureMetrics(hasMetrics: boolean, serviceUrl: string, records: number): Promise<MetricsCost> {
  const clock = hasMetrics ? systemClock : withoutMetrics();
  const { config } = loadConfig({
    env: {
      FLOWS: 'scoring',
      KAFKA_BROKERS: 'localhost:9092',
      SCHEMA_REGISTRY_URL: 'http://localhost:8081',
      SERVICE_BASE_URL: serviceUrl,
      SERVICE_USERNAME: 'shop',
      SERVICE_PASSWORD: 'made-up-password',
    },
    readFile: () => '',
  });
  const instruments = new Instruments(config.kafka.groupId);
  const metrics = hasMetrics
    ? new Metrics({ version: '0.0.0', configHash: '0', clock, running: () => instruments.running() })
    : null;
  const emit = metrics === null ? nothing : metrics.emit;
  const registry = registryOf(config, { clock });
  const api = createScreeningApi(
    {
      baseUrl: config.service.baseUrl,
      version: '0.0.0',
      scoringConnections: config.scoring.concurrency,
      syncConnections: 1,
      timeoutMs: config.service.timeoutMs,
      syncTimeoutMs: config.sync.timeoutMs,
      connectTimeoutMs: config.service.connectTimeoutMs,
    },
    {
      clock,
      draw: systemDraw,
      emit,
      fence: { mayWrite: () => true },
      credentials: () => ({ username: config.service.username, password: config.service.password }),
    },
  );
  const writer = metrics === null ? WRITER : new MeteredWriter(WRITER, clock);
  const scoreEncoder = registry.encoder(FRAUD_SCORE_SCHEMA, 1);
  const wired = wireFlows(
    { config, mapping: readMapping(config).mapping, registry, writer, scoreEncoder, clock, draw: systemDraw, emit },
    api,
  );
  const engine = new Engine({
    source: new PaymentSource(records),
    flows: wired.byTopic,
    deadLetters: { write: async () => await Promise.resolve('written') },
    schemas: registry,
    clock,
    draw: systemDraw,
    emit,
    commitIntervalMs: config.commitIntervalMs,
    clusterHash: 'AAAAAA',
    nonce: 'bench',
    parked: new Set(),
    onGap: 'earliest',
    barrierMs: 2000,
    pressure: { partitionRecords: 1024, flowRecords: config.buffer.maxRecords, flowBytes: config.buffer.maxBytes },
  });
  Object.assign(instruments, { engine, flows: { ...wired, api }, registry });
  if (writer instanceof MeteredWriter) instruments.writer = writer;
  const scrape = setInterval(() => void metrics?.text(), SCRAPE_MS);
  try {
    await engine.start();
    await ended(engine, records * WARM_UP);
    const [cpu, beganMs] = [process.cpuUsage(), performance.now()];
    const before = delivered(engine);
    await ended(engine, records);
    const { user, system } = process.cpuUsage(cpu);
    const measured = delivered(engine) - before;
    return {
      usPerRecord: (user + system) / measured,
      records: measured,
      seconds: (performance.now() - beganMs) / 1000,
    };
  } finally {
    clearInterval(scrape);
    await engine.stop(1000);
    await api.close();
    await registry.close();
  }
}

function delivered(engine: Engine): number {
  return engine.status().flows[0]?.outcomes['delivered'] ?? 0;
}

async function ended(engine: Engine, records: number): Promise<void> {
  while (delivered(engine) < records) await new Promise((resolve) => setTimeout(resolve, 20));
}
