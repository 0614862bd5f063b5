import { eventMetrics } from './event-counts.ts';
import { GATE_METRICS } from './gate-metrics.ts';
import { type MetricRow } from './metric-row.ts';
import { METRIC_PREFIX, OWN_METRICS } from './metrics.ts';
import { OTEL_METRICS } from './otel-metrics.ts';
import { PROCESS_METRICS } from './process-metrics.ts';
import { SERVICE_METRICS } from './service-metrics.ts';
import { STATE_METRICS } from './state-metrics.ts';

/** A metric by its whole name, with its row. */
export interface NamedMetric extends MetricRow {
  readonly name: string;
}

/** A part of the catalogue, as docs/metrics.md shows it. */
export interface MetricGroup {
  readonly title: string;
  readonly intro: string | null;
  readonly metrics: readonly NamedMetric[];
}

function toNamed(name: string, { type, labels, means, rise }: MetricRow): NamedMetric {
  return { name, type, labels, means, rise };
}

function named(prefix: string, rows: Readonly<Record<string, MetricRow>>): readonly NamedMetric[] {
  return Object.entries(rows).map(([name, row]) => toNamed(prefix + name, row));
}

/** Every metric there is, by groups: what docs/metrics.md is printed from, and what deploy/ may use. */
export const METRIC_GROUPS: readonly MetricGroup[] = [
  {
    title: 'Records, lag and commits',
    intro:
      'Read from the engine; without samples where neither scoring nor sync runs, and until the first join begins.',
    metrics: named(METRIC_PREFIX, STATE_METRICS),
  },
  { title: 'Holds and versions', intro: null, metrics: named(METRIC_PREFIX, OWN_METRICS) },
  {
    title: 'Breaker, dead-letter guard and rate',
    intro: 'What keeps calls of a flow from going out.',
    metrics: named(METRIC_PREFIX, GATE_METRICS),
  },
  { title: 'Session, scores, registry and group', intro: null, metrics: named(METRIC_PREFIX, SERVICE_METRICS) },
  {
    title: "Calls and messages under OpenTelemetry's names",
    intro: 'Names and labels are those of the semantic conventions, as Prometheus writes them.',
    metrics: named('', OTEL_METRICS),
  },
  {
    title: 'What has happened',
    intro: 'Counted from the events of docs/events.md.',
    metrics: eventMetrics().map((row) => toNamed(METRIC_PREFIX + row.name, row)),
  },
  {
    title: 'The process',
    intro: 'Taken by the metrics library; there are more of them, these are worth a look.',
    metrics: named('', PROCESS_METRICS),
  },
];

/** Every metric there is. */
export const METRICS: readonly NamedMetric[] = METRIC_GROUPS.flatMap(({ metrics }) => metrics);
