import { type Distribution } from '../kernel/bucket-counts.ts';
import { type MetricType, type Sample } from './metric-row.ts';

/** A metric as it is printed. */
export interface Family {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  readonly samples: readonly Sample[];
}

/** A metric in Prometheus' text format (exposition format 0.0.4), with a newline at its end. */
export function expose({ name, type, help, samples }: Family): string {
  const lines = [`# HELP ${name} ${escapedHelp(help)}`, `# TYPE ${name} ${type}`];
  for (const { labels, value } of samples) {
    if (typeof value === 'number') lines.push(`${name}${braced(labelText(labels))} ${numberText(value)}`);
    else lines.push(...distributionLines(name, labelText(labels), value));
  }
  return `${lines.join('\n')}\n`;
}

function distributionLines(name: string, labels: string, { bounds, counts, sum, count }: Distribution): string[] {
  const before = labels === '' ? '' : `${labels},`;
  const lines: string[] = [];
  let below = 0;
  for (const [index, bound] of bounds.entries()) {
    below += counts[index] ?? 0;
    lines.push(`${name}_bucket{${before}le="${numberText(bound)}"} ${String(below)}`);
  }
  lines.push(`${name}_bucket{${before}le="+Inf"} ${String(count)}`);
  lines.push(`${name}_sum${braced(labels)} ${numberText(sum)}`, `${name}_count${braced(labels)} ${String(count)}`);
  return lines;
}

function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}="${escapedValue(value)}"`)
    .join(',');
}

function braced(labels: string): string {
  return labels === '' ? '' : `{${labels}}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}

function escapedHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapedValue(text: string): string {
  return escapedHelp(text).replaceAll('"', '\\"');
}
