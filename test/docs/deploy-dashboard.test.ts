import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { OPTIONS } from '../../src/config/options.ts';
import { ROOT } from './prose.ts';
import { knownMetrics, metricsIn, unknownIn } from './promql.ts';

interface Panel {
  readonly type: string;
  readonly id: number;
  readonly title: string;
  readonly description?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Variable {
  readonly name: string;
  readonly definition?: string;
}

const textOf = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
const dashboard = JSON.parse(textOf('deploy/helm/fraud-screening-connector/files/dashboard.json')) as {
  readonly panels: readonly Panel[];
  readonly templating: { readonly list: readonly Variable[] };
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
};
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const targets = panels.flatMap(({ title, targets: own = [] }) => own.map((target) => [title, target] as const));
const known = knownMetrics();
/** What Grafana puts in itself. */
const filled = (expr: string): string => expr.replaceAll('$__rate_interval', '1m');

describe('the dashboard', () => {
  test.each(targets)('%s asks for metrics and labels that are written', (_title, { expr }) => {
    expect(metricsIn(filled(expr)).length).toBeGreaterThan(0);
    expect(unknownIn(filled(expr), known)).toEqual([]);
  });

  test.each(targets)('%s is narrowed to the account and the process that are chosen', (_title, { expr }) => {
    const selectors = expr.match(/\{[^}]*\}/g) ?? [];
    expect(selectors.length).toBeGreaterThan(0);
    for (const selector of selectors) expect(selector).toContain('account=~"$account", instance=~"$instance"');
  });

  test.each(targets)('%s names its lines by labels that they have', (_title, { expr, legendFormat }) => {
    const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label]) => label ?? '');
    const by = [...expr.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(/,\s*/));
    const grouped = new Set(['instance', ...by]);
    expect(labels.filter((label) => !grouped.has(label))).toEqual([]);
  });

  test.each(panels.map((panel) => [panel.title, panel] as const))(
    '%s says what it shows',
    (_title, { description }) => {
      expect(description).toMatch(/^.{9,200}\.$/);
    },
  );

  test('has a place of its own for each panel, and an id', () => {
    const { panels: all } = dashboard;
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const cells = all.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${String(x + (index % w))} ${String(y + Math.floor(index / w))}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });

  test('chooses by account and process', () => {
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'account', 'instance']);
    for (const { definition } of dashboard.templating.list.slice(1))
      expect(unknownIn(definition ?? '', known)).toEqual([]);
    for (const { expr } of dashboard.annotations.list) expect(unknownIn(expr, known)).toEqual([]);
  });

  test('shows every state metric that says whether it is well', () => {
    const all = targets.map(([, { expr }]) => expr).join('\n');
    for (const name of ['hold', 'phase', 'breaker_state', 'dead_letter_guard_state', 'oldest_uncommitted_age_seconds'])
      expect(all).toContain(`fraud_connector_${name}{`);
  });
});

describe('the compose file, to watch', () => {
  interface Service {
    readonly image: string;
    readonly profiles?: readonly string[];
    readonly read_only?: boolean;
    readonly volumes: readonly string[];
    readonly command?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
  }
  const { services } = parse(textOf('deploy/docker-compose.yaml'), { merge: true }) as {
    services: Readonly<Record<string, Service>>;
  };
  const { prometheus, grafana } = services;

  test('starts Prometheus and Grafana only when asked to, by their whole versions, on a read-only root', () => {
    for (const service of [prometheus, grafana]) {
      expect(service).toMatchObject({ profiles: ['observe'], read_only: true });
      expect(service?.image).toMatch(/:v?\d+\.\d+\.\d+$/);
    }
  });

  test('reads the connector on the port it listens on, under the name that alerts and dashboard know', () => {
    const [job] = (
      parse(textOf('deploy/prometheus/prometheus.yaml')) as {
        scrape_configs: readonly {
          job_name: string;
          static_configs: readonly { targets: readonly string[]; labels: Readonly<Record<string, string>> }[];
        }[];
      }
    ).scrape_configs;
    expect(job?.job_name).toBe('fraud-screening-connector');
    expect(job?.static_configs).toEqual([
      {
        targets: [`connector:${OPTIONS.OPS_PORT.shownDefault}`],
        labels: { account: services['connector']?.environment?.['ACCOUNT'] },
      },
    ]);
  });

  test('gives them the alerts and the dashboard of the chart, where their configuration looks', () => {
    const mounts = [...(prometheus?.volumes ?? []), ...(grafana?.volumes ?? [])].map((volume) => volume.split(':'));
    const inside = new Map(mounts.map(([from = '', to = '']) => [to, from]));
    expect(prometheus?.command).toContain('--config.file=/etc/prometheus/prometheus.yaml');
    expect(inside.get('/etc/prometheus/prometheus.yaml')).toBe('./prometheus/prometheus.yaml');
    const { rule_files } = parse(textOf('deploy/prometheus/prometheus.yaml')) as { rule_files: readonly string[] };
    expect(rule_files.map((file) => inside.get(file))).toEqual(['./helm/fraud-screening-connector/files/alerts.yaml']);
    const home = grafana?.environment?.['GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH'] ?? '';
    expect(inside.get(home)).toBe('./helm/fraud-screening-connector/files/dashboard.json');
    expect(textOf('deploy/grafana/dashboards.yaml')).toContain(`path: ${path.posix.dirname(home)} `);
    expect(textOf('deploy/grafana/datasources.yaml')).toContain('url: http://prometheus:9090');
  });
});
