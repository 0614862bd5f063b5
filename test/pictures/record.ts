import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../support/connector-process.ts';
import { type Line, type Prometheus, type Range } from './prometheus.ts';
import { type Illness } from './story.ts';

/** A panel of the dashboard, as far as it is drawn. */
export interface Panel {
  readonly type: 'row' | 'stat' | 'timeseries';
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit: string;
      readonly max?: number;
      readonly decimals?: number;
      readonly custom?: { readonly stacking: { readonly mode: string }; readonly lineInterpolation: string };
      readonly mappings: readonly { readonly options: Readonly<Record<string, { readonly text: string }>> }[];
      readonly thresholds?: { readonly steps: readonly { readonly color: string; readonly value: number | null }[] };
    };
  };
}

/** A panel with what Prometheus gave for it. */
export interface Recorded {
  readonly panel: Panel;
  readonly lines: readonly (Line & { readonly name: string })[];
}

/** Everything that a picture is drawn from. */
export interface Recording {
  readonly title: string;
  readonly range: Range;
  readonly ill: Illness | null;
  readonly panels: readonly Recorded[];
}

const DASHBOARD = 'deploy/helm/fraud-screening-connector/files/dashboard.json';

/** The panels of the dashboard. */
export function panelsOf(): readonly Panel[] {
  return (JSON.parse(readFileSync(path.join(ROOT, DASHBOARD), 'utf8')) as { panels: readonly Panel[] }).panels;
}

function named(legend: string, labels: Readonly<Record<string, string>>): string {
  return legend.replaceAll(/\{\{(\w+)\}\}/g, (_all, label: string) => labels[label] ?? '').trim();
}

/** Asks Prometheus what each panel asks it, with every account and process chosen. */
export async function recordPanels(
  prometheus: Prometheus,
  range: Range,
  rateSeconds: number,
): Promise<readonly Recorded[]> {
  const recorded: Recorded[] = [];
  for (const panel of panelsOf()) {
    const lines: (Line & { name: string })[] = [];
    for (const { expr, legendFormat } of panel.targets ?? []) {
      const filled = expr
        .replaceAll('$__rate_interval', `${String(rateSeconds)}s`)
        .replaceAll(/"\$(?:account|instance)"/g, '".*"');
      for (const line of await prometheus.query(filled, range))
        lines.push({ ...line, name: named(legendFormat, line.labels) });
    }
    recorded.push({ panel, lines });
  }
  return recorded;
}
