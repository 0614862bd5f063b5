import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './prose.ts';

/** What the page of metrics says of one. */
export interface Known {
  readonly type: string;
  readonly labels: readonly string[];
}

/** Labels that the scrape adds. */
const OF_TARGET: readonly string[] = ['account', 'instance', 'job', 'namespace'];
/** Metrics of Prometheus itself. */
const OF_PROMETHEUS: ReadonlySet<string> = new Set(['up']);
const METRIC = /(?<![\w:.$])(?:(?:fraud_connector|messaging|http|nodejs|process)_\w+|up\b)(?![\w(:])/g;
/** What in an expression is about labels. */
const LABELS = /\{[^}]*\}|\b(?:by|on|without|ignoring) \([^)]*\)/g;
const RECORD = /(?<![\w:.$"])fraud_connector:[\w:]+/g;

/** Every metric of docs/metrics.md, which is printed from the tables of the code. */
export function knownMetrics(): ReadonlyMap<string, Known> {
  const page = readFileSync(path.join(ROOT, 'docs/metrics.md'), 'utf8');
  const rows = page.matchAll(/^\| `([a-z_0-9]+)` \| (counter|gauge|histogram|summary) \| ([^|]*) \|/gm);
  return new Map(
    [...rows].map(([, name = '', type = '', labels = '']) => [
      name,
      { type, labels: [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label ?? '') },
    ]),
  );
}

/** Names of metrics in an expression. */
export function metricsIn(expression: string): readonly string[] {
  return [...new Set(expression.replaceAll(LABELS, '').match(METRIC) ?? [])];
}

/** Names of recorded series in an expression. */
export function recordsIn(expression: string): readonly string[] {
  return [...new Set(expression.match(RECORD) ?? [])];
}

/** A label that is compared in an expression, with what with. */
export interface Matcher {
  readonly metric: string;
  readonly label: string;
  readonly values: readonly string[];
}

/** Every comparison of a label of a metric: `m{l=~"a|b"}`. */
export function matchersIn(expression: string): readonly Matcher[] {
  return [...expression.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g)].flatMap(([, metric = '', inside = '']) =>
    [...inside.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/g)].map(([, label = '', values = '']) => ({
      metric,
      label,
      values: values.split('|'),
    })),
  );
}

/** Labels that an expression groups by. */
export function groupingsIn(expression: string): readonly string[] {
  return [...expression.matchAll(/\b(?:by|on) \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/));
}

/** The metric behind a series: that of a histogram behind its buckets. */
function metricOf(series: string, known: ReadonlyMap<string, Known>): Known | null {
  const own = known.get(series);
  if (own !== undefined) return own;
  const of = known.get(series.replace(/_(bucket|sum|count)$/, ''));
  if (of?.type !== 'histogram') return null;
  return series.endsWith('_bucket') ? { ...of, labels: [...of.labels, 'le'] } : of;
}

/** What an expression names that nothing writes: metrics, and labels they do not have. */
export function unknownIn(expression: string, known: ReadonlyMap<string, Known>): readonly string[] {
  const metrics = metricsIn(expression).filter((name) => !OF_PROMETHEUS.has(name));
  const unknown = metrics.filter((name) => metricOf(name, known) === null);
  const labels = metrics.flatMap((name) => metricOf(name, known)?.labels ?? []);
  const all = new Set([...OF_TARGET, ...labels]);
  const compared = matchersIn(expression).filter(
    ({ metric, label }) => ![...OF_TARGET, ...(metricOf(metric, known)?.labels ?? [])].includes(label),
  );
  return [
    ...unknown,
    ...compared.map(({ metric, label }) => `${metric}{${label}}`),
    ...groupingsIn(expression).filter((label) => !all.has(label)),
  ];
}
