import { BucketCounts } from '../kernel/bucket-counts.ts';
import { type EventFields, type EventName } from '../kernel/emit.ts';
import { EVENT_METRICS } from './event-metrics.ts';
import { type FieldOf } from './event-row.ts';
import { EVENTS } from './events.ts';
import { type Family } from './exposition.ts';
import { type MetricType } from './metric-row.ts';

/** A field's name as a label: `closedBy` is `closed_by`. */
export function labelOf(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A metric that is kept from the events of one name. */
export interface EventMetric {
  /** Without the prefix. */
  readonly name: string;
  readonly type: MetricType;
  readonly labels: readonly string[];
  readonly means: string;
  readonly rise: string;
}

interface Cell<Value> {
  readonly labels: Readonly<Record<string, string>>;
  value: Value;
}

/** One value for each combination of labels that has come, of which there are few: found by the values alone, made once. */
class Cells<N extends EventName, Value> {
  readonly #fields: readonly FieldOf<N>[];
  readonly #first: () => Value;
  readonly #cells = new Map<string, Cell<Value>>();

  constructor(fields: readonly FieldOf<N>[], first: () => Value) {
    this.#fields = fields;
    this.#first = first;
    // What has no labels is shown from the start: a counter that appears with its first event looks as if it never rose.
    if (fields.length === 0) this.#cells.set('', { labels: {}, value: first() });
  }

  of(fields: EventFields[N]): Cell<Value> {
    let key = '';
    for (const name of this.#fields) key += `${String(fields[name])}\n`;
    const known = this.#cells.get(key);
    if (known !== undefined) return known;
    const labels = Object.fromEntries(this.#fields.map((name) => [labelOf(name), String(fields[name])]));
    const cell = { labels, value: this.#first() };
    this.#cells.set(key, cell);
    return cell;
  }

  list(): readonly Cell<Value>[] {
    return [...this.#cells.values()];
  }
}

interface Kept<N extends EventName> {
  readonly metric: EventMetric;
  record(fields: EventFields[N]): void;
  samples(): Family['samples'];
}

function keptSum<N extends EventName>(
  metric: Omit<EventMetric, 'type' | 'labels'>,
  fields: readonly FieldOf<N>[],
  amount: (fields: EventFields[N]) => number,
): Kept<N> {
  const cells = new Cells<N, number>(fields, () => 0);
  return {
    metric: { ...metric, type: 'counter', labels: fields.map(labelOf) },
    record: (event) => {
      cells.of(event).value += amount(event);
    },
    samples: () => cells.list(),
  };
}

/** All metrics of one event. */
function keptOf<N extends EventName>(event: N): readonly Kept<N>[] {
  const { counter, means } = EVENTS[event];
  const { rise = '', sum, histograms = [] } = EVENT_METRICS[event] ?? {};
  const kept: Kept<N>[] = [];
  if (counter !== null) kept.push(keptSum({ name: counter.name, means, rise }, counter.labels, () => 1));
  if (sum !== undefined) kept.push(keptSum(sum, sum.labels, (fields) => Number(fields[sum.field])));
  for (const { field, per, labels, buckets, ...told } of histograms) {
    const cells = new Cells<N, BucketCounts>(labels, () => new BucketCounts(buckets));
    kept.push({
      metric: { name: told.name, means: told.means, rise: told.rise, type: 'histogram', labels: labels.map(labelOf) },
      record: (fields) => {
        cells.of(fields).value.add(Number(fields[field]) / per);
      },
      samples: () => cells.list(),
    });
  }
  return kept;
}

const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

/** Every metric that is kept from events, in the order of the catalogue. */
export function eventMetrics(): readonly EventMetric[] {
  return EVENT_NAMES.flatMap((event) => keptOf(event).map(({ metric }) => metric));
}

/** Counts events as their rows say. */
export class EventCounts {
  readonly #kept = new Map<EventName, readonly Kept<EventName>[]>();

  constructor() {
    for (const event of EVENT_NAMES) this.#kept.set(event, keptOf(event));
  }

  record<N extends EventName>(event: N, fields: EventFields[N]): void {
    for (const kept of this.#kept.get(event) ?? []) kept.record(fields);
  }

  /** @param prefix of every name. */
  families(prefix: string): readonly Family[] {
    return [...this.#kept.values()].flat().map((kept) => {
      const { name, type, means } = kept.metric;
      return { name: prefix + name, type, help: means, samples: kept.samples() };
    });
  }
}
