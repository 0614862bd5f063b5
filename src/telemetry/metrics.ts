import { collectDefaultMetrics, Registry } from 'prom-client';
import { BucketCounts } from '../kernel/bucket-counts.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit, type EventFields } from '../kernel/emit.ts';
import { EventCounts } from './event-counts.ts';
import { expose, type Family } from './exposition.ts';
import { GATE_METRICS } from './gate-metrics.ts';
import { type MetricRow, type Moment, type ReadMetric, type Sample } from './metric-row.ts';
import { OTEL_METRICS } from './otel-metrics.ts';
import { type Running } from './running.ts';
import { SERVICE_METRICS } from './service-metrics.ts';
import { STATE_METRICS } from './state-metrics.ts';

/** Before every name of ours. */
export const METRIC_PREFIX = 'fraud_connector_';

/** The metrics of this process that belong to no table: what waits, and what runs. Without the prefix. */
export const OWN_METRICS = {
  hold: {
    type: 'gauge',
    labels: ['cause', 'scope'],
    means: 'Whether records wait for this cause now or, with the scope `probe`, whether a dependency does not answer.',
    rise: 'Look the cause up in docs/codes.md: it says what to do. Nothing is lost, and it ends by itself once the cause is gone.',
  },
  build_info: {
    type: 'gauge',
    labels: ['version', 'config_hash'],
    means:
      'The version that runs, and the first digits of a SHA-256 of its options without secrets: equal where the configuration is. Always 1.',
    rise: 'It never rises. Missing: the process is gone, or cannot be reached. Two values of `config_hash` in one group: a roll-out has not ended.',
  },
} as const satisfies Record<string, MetricRow>;

export interface MetricsOptions {
  readonly version: string;
  /** Of the configuration, without its secrets. */
  readonly configHash: string;
  readonly clock: Clock;
  /** Asked once for every answer. */
  readonly running: () => Omit<Running, 'webhooks'>;
  /** The path of webhooks; null or absent: none are taken here. */
  readonly webhookPath?: string | null;
  /** Memory, CPU, event loop of this process, too; default: yes. */
  readonly ofProcess?: boolean;
}

const ANSWER_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

/**
 * The metrics of one process: events are counted as they come; all else is counted where it happens, by plain numbers,
 * and read when the metrics are asked for. Labels have few, known values.
 */
export class Metrics {
  readonly #options: MetricsOptions;
  readonly #process = new Registry();
  readonly #events = new EventCounts();
  readonly #holds = new Map<string, Sample>();
  readonly #served = new Map<number, BucketCounts>();
  #serving = 0;

  constructor(options: MetricsOptions) {
    this.#options = options;
    if (options.ofProcess !== false) collectDefaultMetrics({ register: this.#process });
  }

  /** Hears events; give it to `fanOut`. */
  readonly emit: Emit = (event, fields) => {
    this.#events.record(event, fields);
    if (event === 'webhook') this.#serve(fields as EventFields['webhook']);
    else if (event === 'hold_started') this.#hold(fields as EventFields['hold_started'], 1);
    else if (event === 'hold_ended') this.#hold(fields as EventFields['hold_ended'], 0);
  };

  /** Counts a webhook as being worked on until `work` has ended. */
  async serving<T>(work: Promise<T>): Promise<T> {
    this.#serving += 1;
    try {
      return await work;
    } finally {
      this.#serving -= 1;
    }
  }

  /** All metrics in Prometheus' text format. */
  async text(): Promise<string> {
    return this.#families().map(expose).join('') + (await this.#process.metrics());
  }

  #families(): readonly Family[] {
    const { clock, version, configHash } = this.#options;
    const at = { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() };
    const running = this.#running();
    const { engine, gates } = running;
    const holds = [...this.#holds.values()];
    const info = [{ labels: { version, config_hash: configHash }, value: 1 }];
    return [
      ...(engine === null ? empty(METRIC_PREFIX, STATE_METRICS) : read(METRIC_PREFIX, STATE_METRICS, engine, at)),
      ...read(METRIC_PREFIX, GATE_METRICS, gates, at),
      ...read(METRIC_PREFIX, SERVICE_METRICS, running, at),
      ...read('', OTEL_METRICS, running, at),
      toFamily(`${METRIC_PREFIX}hold`, OWN_METRICS.hold, holds),
      toFamily(`${METRIC_PREFIX}build_info`, OWN_METRICS.build_info, info),
      ...this.#events.families(METRIC_PREFIX),
    ];
  }

  #running(): Running {
    const { running, webhookPath = null } = this.#options;
    const webhooks = webhookPath === null ? null : { route: webhookPath, active: this.#serving, ends: this.#served };
    return { ...running(), webhooks };
  }

  #hold({ cause, scope }: EventFields['hold_started' | 'hold_ended'], value: 0 | 1): void {
    this.#holds.set(`${cause} ${scope}`, { labels: { cause, scope }, value });
  }

  #serve({ status, afterMs }: EventFields['webhook']): void {
    let counts = this.#served.get(status);
    if (counts === undefined) this.#served.set(status, (counts = new BucketCounts(ANSWER_SECONDS)));
    counts.add(afterMs / 1000);
  }
}

function toFamily(name: string, { type, means }: MetricRow, samples: readonly Sample[]): Family {
  return { name, type, help: means, samples };
}

function read<State>(
  prefix: string,
  table: Readonly<Record<string, ReadMetric<State>>>,
  state: State,
  at: Moment,
): readonly Family[] {
  return Object.entries(table).map(([name, row]) => toFamily(prefix + name, row, row.samples(state, at)));
}

function empty(prefix: string, table: Readonly<Record<string, MetricRow>>): readonly Family[] {
  return Object.entries(table).map(([name, row]) => toFamily(prefix + name, row, []));
}
