import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { wireFlows } from '../../src/app/flows.ts';
import { Instruments } from '../../src/app/instruments.ts';
import { readMapping } from '../../src/app/mapping.ts';
import { registryOf } from '../../src/app/parts.ts';
import { type Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createScreeningApi, type ScreeningApiEdge } from '../../src/edges/screening-api/client.ts';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { Engine } from '../../src/engine/engine.ts';
import { type RecordWriter } from '../../src/engine/ports.ts';
import { type Emit } from '../../src/kernel/emit.ts';
import { FRAUD_SCORE_SCHEMA } from '../../src/screening/avro.generated.ts';
import { MeteredWriter } from '../../src/telemetry/metered-writer.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { switchMetrics, type Switch } from './metrics-switch.ts';
import { PaymentSource } from './payment-source.ts';

/** What is measured: how many pairs of slices, each of so many seconds, with score records or without. */
export interface MetricsPlan {
  readonly serviceUrl: string;
  readonly pairs: number;
  readonly sliceSeconds: number;
  readonly scores: boolean;
}

/** What one slice of time cost. */
export interface Slice {
  readonly isOn: boolean;
  /** Records that ended. */
  readonly records: number;
  /** User and system time of the whole process. */
  readonly cpuUs: number;
  readonly ms: number;
}

/** So many records fill the memories of the last 100,000, before which each costs less. */
const WARM_UP_RECORDS = 150_000;
/** And in so many slices of either kind the compiler has seen both. */
const WARM_UP_SLICES = 6;
const WARM_UP_SLICE_MS = 500;
const LOOK_EVERY_MS = 50;
const SCRAPE_EVERY_MS = 1000;

const WRITER: RecordWriter = {
  write: async () => await Promise.resolve({ do: 'written', partition: 0, offset: 0n }),
};

/**
 * Scores payments over HTTP in this process without a break, and measures its CPU in slices by turns with all metrics and
 * with none: on, off, off, on, and so forth. They are read once for each second in which they are on.
 */
export async function measureMetrics(plan: MetricsPlan): Promise<readonly Slice[]> {
  const recording = switchMetrics();
  const config = configOf(plan);
  const instruments = new Instruments(config.kafka.groupId);
  const metrics = new Metrics({
    version: '0.0.0',
    configHash: '0',
    clock: systemClock,
    running: () => instruments.running(),
  });
  const emit: Emit = (event, fields) => {
    if (recording.isOn) metrics.emit(event, fields);
  };
  const api = apiOf(config, emit);
  const registry = registryOf(config, { clock: systemClock });
  const metered = new MeteredWriter(WRITER, systemClock);
  const writer: RecordWriter = {
    write: (record, deadlineMs) => (recording.isOn ? metered : WRITER).write(record, deadlineMs),
  };
  const shared = { clock: systemClock, draw: systemDraw, emit };
  const scoreEncoder = registry.encoder(FRAUD_SCORE_SCHEMA, 1);
  const wired = wireFlows(
    { config, mapping: readMapping(config).mapping, registry, writer, scoreEncoder, ...shared },
    api,
  );
  const engine = new Engine({
    source: new PaymentSource(config.topics.created),
    flows: wired.byTopic,
    deadLetters: { write: async () => await Promise.resolve('written') },
    schemas: registry,
    ...shared,
    commitIntervalMs: config.commitIntervalMs,
    clusterHash: 'AAAAAA',
    nonce: 'bench',
    parked: new Set(),
    onGap: 'earliest',
    barrierMs: 2000,
    pressure: {
      partitionRecords: 1024,
      partitionSpan: config.buffer.maxSpan,
      flowRecords: config.buffer.maxRecords,
      flowBytes: config.buffer.maxBytes,
    },
  });
  Object.assign(instruments, { engine, flows: { ...wired, api }, registry, writer: metered });
  try {
    await engine.start();
    return await slices(plan, { engine, recording, scrape: scraperOf(metrics) });
  } finally {
    await engine.stop(1000);
    await api.close();
    await registry.close();
  }
}

interface Stage {
  readonly engine: Engine;
  readonly recording: Switch;
  /** To be called once in a slice of so long with metrics. */
  readonly scrape: (ms: number) => Promise<void>;
}

async function slices({ pairs, sliceSeconds }: MetricsPlan, stage: Stage): Promise<readonly Slice[]> {
  while (ended(stage.engine) < WARM_UP_RECORDS) await sleep(LOOK_EVERY_MS);
  for (let slice = 0; slice < WARM_UP_SLICES; slice += 1) await measured(slice % 2 === 0, WARM_UP_SLICE_MS, stage);
  const found: Slice[] = [];
  for (let pair = 0; pair < pairs; pair += 1)
    for (const isOn of pair % 2 === 0 ? [true, false] : [false, true])
      found.push(await measured(isOn, 1000 * sliceSeconds, stage));
  return found;
}

/** Reads the metrics once for each second that has passed in slices. */
function scraperOf(metrics: Metrics): Stage['scrape'] {
  let dueMs = SCRAPE_EVERY_MS;
  return async (ms) => {
    dueMs -= ms;
    if (dueMs > 0) return;
    dueMs += SCRAPE_EVERY_MS;
    await metrics.text();
  };
}

async function measured(isOn: boolean, ms: number, { engine, recording, scrape }: Stage): Promise<Slice> {
  recording.set(isOn);
  const [from, cpu, beganMs] = [ended(engine), process.cpuUsage(), performance.now()];
  await sleep(ms / 2);
  if (isOn) await scrape(ms);
  await sleep(Math.max(0, ms - (performance.now() - beganMs)));
  const { user, system } = process.cpuUsage(cpu);
  return { isOn, records: ended(engine) - from, cpuUs: user + system, ms: performance.now() - beganMs };
}

function ended(engine: Engine): number {
  const [flow] = engine.status().flows;
  return flow === undefined ? 0 : flow.consumed - flow.buffered;
}

function configOf({ serviceUrl, scores }: MetricsPlan): Config {
  const { config } = loadConfig({
    env: {
      FLOWS: 'scoring',
      KAFKA_BROKERS: 'localhost:9092',
      SCHEMA_REGISTRY_URL: 'http://localhost:8081',
      SERVICE_BASE_URL: serviceUrl,
      SERVICE_USERNAME: 'shop',
      SERVICE_PASSWORD: 'made-up-password',
      ...(scores ? {} : { TOPIC_SCORES: '' }),
    },
    readFile: () => '',
  });
  return config;
}

function apiOf({ service, scoring, sync }: Config, emit: Emit): ScreeningApiEdge {
  return createScreeningApi(
    {
      baseUrl: service.baseUrl,
      version: '0.0.0',
      scoringConnections: scoring.concurrency,
      syncConnections: 1,
      timeoutMs: service.timeoutMs,
      syncTimeoutMs: sync.timeoutMs,
      connectTimeoutMs: service.connectTimeoutMs,
    },
    {
      clock: systemClock,
      draw: systemDraw,
      emit,
      fence: { mayWrite: () => true },
      credentials: () => ({ username: service.username, password: service.password }),
    },
  );
}
