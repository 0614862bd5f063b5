import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { type EngineStatus } from '../engine/ports.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit, type EventFields, type EventName } from '../kernel/emit.ts';
import { type EventRow, EVENTS } from './events.ts';
import { STATE_METRICS, type Sample, type StateMetricName } from './state-metrics.ts';

/** Before every name of ours. */
export const METRIC_PREFIX = 'fraud_connector_';

/** A field's name as a label: `closedBy` is `closed_by`. */
export function labelOf(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export interface MetricsOptions {
  readonly version: string;
  readonly clock: Clock;
  /** Null as long as (or where) no engine runs. */
  readonly status: () => EngineStatus | null;
  /** Memory, CPU, event loop of this process, too; default: yes. */
  readonly ofProcess?: boolean;
}

type Recorder<N extends EventName> = (fields: EventFields[N]) => void;

/** The labels of an event; made once for the same values, of which there are few, because some events come often. */
function labeller<N extends EventName>(
  names: readonly (keyof EventFields[N] & string)[],
): (fields: EventFields[N]) => Record<string, string> {
  const known = new Map<string, Record<string, string>>();
  return (fields) => {
    let values = '';
    for (const name of names) values += `${String(fields[name])}\n`;
    let labels = known.get(values);
    if (labels === undefined) {
      labels = Object.fromEntries(names.map((name) => [labelOf(name), String(fields[name])]));
      known.set(values, labels);
    }
    return labels;
  };
}

/**
 * The metrics of one process: events are counted as they come, the engine's state is read when the metrics are asked
 * for. Labels have few, known values.
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #recorders = new Map<EventName, (fields: never) => void>();
  readonly #holds: Gauge;

  constructor(options: MetricsOptions) {
    const { version, ofProcess = true } = options;
    for (const name of Object.keys(EVENTS) as EventName[]) this.#recorders.set(name, this.#recorderOf(name));
    for (const name of Object.keys(STATE_METRICS) as StateMetricName[]) this.#observe(name, options);
    this.#holds = new Gauge({
      ...this.#named('hold', 'Whether records wait for this cause now.'),
      labelNames: ['cause', 'scope'],
    });
    new Gauge({ ...this.#named('build_info', 'The version that runs.'), labelNames: ['version'] }).set({ version }, 1);
    if (ofProcess) collectDefaultMetrics({ register: this.#registry });
  }

  /** Hears events; give it to `fanOut`. */
  readonly emit: Emit = (event, fields) => {
    const record = this.#recorders.get(event) as Recorder<typeof event> | undefined;
    record?.(fields);
    if (event === 'hold_started' || event === 'hold_ended') {
      const { cause, scope } = fields as EventFields['hold_started' | 'hold_ended'];
      this.#holds.set({ cause, scope }, event === 'hold_started' ? 1 : 0);
    }
  };

  /** All metrics in Prometheus' text format. */
  async text(): Promise<string> {
    return await this.#registry.metrics();
  }

  #named(name: string, help: string): { name: string; help: string; registers: Registry[] } {
    return { name: METRIC_PREFIX + name, help, registers: [this.#registry] };
  }

  #recorderOf<N extends EventName>(event: N): Recorder<N> {
    const row: EventRow<N> = EVENTS[event];
    const recorders: Recorder<N>[] = [];
    const { counter, histogram } = row;
    if (counter !== null) {
      const metric = new Counter({ ...this.#named(counter.name, row.means), labelNames: counter.labels.map(labelOf) });
      const labelsOf = labeller<N>(counter.labels);
      recorders.push((fields) => {
        metric.inc(labelsOf(fields));
      });
    }
    if (histogram !== undefined) {
      const { name, field, per, labels, buckets } = histogram;
      const help = `${row.means} Here: ${row.fields[field]}.`;
      const metric = new Histogram({
        ...this.#named(name, help),
        labelNames: labels.map(labelOf),
        buckets: [...buckets],
      });
      const labelsOf = labeller<N>(labels);
      recorders.push((fields) => {
        metric.observe(labelsOf(fields), Number(fields[field]) / per);
      });
    }
    return (fields) => {
      for (const record of recorders) record(fields);
    };
  }

  #observe(name: StateMetricName, { status, clock }: MetricsOptions): void {
    const { type, labels, means, samples } = STATE_METRICS[name];
    const read = (): readonly Sample[] => {
      const state = status();
      return state === null ? [] : samples(state, { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() });
    };
    const common = { name: METRIC_PREFIX + name, help: means, labelNames: [...labels], registers: [] };
    const metric =
      type === 'gauge'
        ? new Gauge({
            ...common,
            collect() {
              this.reset();
              for (const sample of read()) this.set(sample.labels, sample.value);
            },
          })
        : new Counter({
            ...common,
            collect() {
              // The engine counts; this only shows its figures.
              this.reset();
              for (const sample of read()) this.inc(sample.labels, sample.value);
            },
          });
    this.#registry.registerMetric(metric);
  }
}
