import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { HOLDS } from '../../src/kernel/outcome.ts';
import { anchorsOf, ROOT } from './prose.ts';
import { knownMetrics, matchersIn, metricsIn, recordsIn, unknownIn } from './promql.ts';

interface Rule {
  readonly alert?: string;
  readonly record?: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface RuleTest {
  readonly name: string;
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
}

const FILE = 'deploy/helm/fraud-screening-connector/files/alerts.yaml';
const textOf = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
const { groups } = parse(textOf(FILE)) as {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
const alerts = rules.flatMap((rule) => (rule.alert === undefined ? [] : [{ ...rule, alert: rule.alert }]));
const names = alerts.map(({ alert }) => alert);
const records = new Set(rules.map(({ record }) => record));
const { tests, rule_files, group_eval_order } = parse(textOf('deploy/prometheus/alerts.test.yaml')) as {
  readonly tests: readonly RuleTest[];
  readonly rule_files: readonly string[];
  readonly group_eval_order: readonly string[];
};
const runbook = textOf('docs/runbook.md');
const known = knownMetrics();

describe('the alerts', () => {
  test('have one name each', () => {
    expect(names.length).toBeGreaterThan(20);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(rules.map((rule) => [rule.alert ?? rule.record ?? '', rule] as const))(
    '%s is about metrics and labels that are written',
    (_name, { expr }) => {
      expect(unknownIn(expr, known)).toEqual([]);
      expect(recordsIn(expr).filter((record) => !records.has(record))).toEqual([]);
      expect(metricsIn(expr).length + recordsIn(expr).length).toBeGreaterThan(0);
    },
  );

  test.each(alerts.map((rule) => [rule.alert, rule] as const))(
    '%s says how much it hurries, what it is about, and where to read on',
    (alert, { labels, annotations }) => {
      expect(labels?.['severity']).toMatch(/^(page|ticket)$/);
      expect(annotations?.['summary']).toMatch(/^.{20,140}\.$/);
      const [page, anchor = ''] = (annotations?.['runbook_url'] ?? '').split('#');
      expect(page).toBe('docs/runbook.md');
      expect(anchor).toBe(alert.toLowerCase());
      expect(anchorsOf(runbook)).toContain(anchor);
    },
  );

  test('have each a heading in the runbook, and the runbook has no other', () => {
    const headings = [...runbook.matchAll(/^#+ (FraudConnector\w+)$/gm)].map(([, name]) => name ?? '');
    expect(headings.toSorted()).toEqual(names.toSorted());
  });

  test.each(names)('%s has a test in which it fires, and one in which it is silent', (name) => {
    const own = tests.filter((each) => each.name.startsWith(`${name} `)).flatMap((each) => each.alert_rule_test);
    expect(own.every((each) => each.alertname === name)).toBe(true);
    expect(own.filter((each) => each.exp_alerts.length > 0)).not.toEqual([]);
    expect(own.filter((each) => each.exp_alerts.length === 0)).not.toEqual([]);
  });

  test('are the ones that are tested', () => {
    expect(rule_files.map((file) => path.join('deploy/prometheus', file))).toEqual([FILE]);
    expect(group_eval_order).toEqual(groups.map(({ name }) => name));
  });

  test('are raised by every hold that is no part of normal work, each by one alert, the start without a registry by one more', () => {
    const normal = new Set(['not_scored_yet', 'batch_open']);
    const twice = ['registry'];
    const holds = alerts.flatMap(({ expr }) => matchersIn(expr)).filter(({ metric }) => metric.endsWith('_hold'));
    const causes = holds.filter(({ label }) => label === 'cause').flatMap(({ values }) => values);
    expect(causes.toSorted()).toEqual(
      [...Object.keys(HOLDS).filter((cause) => !normal.has(cause)), ...twice].toSorted(),
    );
  });
});

describe('the runbook', () => {
  const sections = runbook.split(/^#+ (?=FraudConnector)/m).slice(1);

  test.each(alerts.map(({ alert, labels }) => [alert, labels?.['severity'] ?? ''] as const))(
    '%s is a %s there, too',
    (alert, severity) => {
      const section = sections.find((each) => each.startsWith(`${alert}\n`));
      expect(section).toMatch(new RegExp(`^${alert}\n\n${severity}: `));
    },
  );

  test.each(sections.map((section) => [section.split('\n')[0] ?? '', section.split(/^## /m)[0] ?? ''] as const))(
    '%s tells what it means, what is to be seen, how to look, how to mend it, when it is over, and what not to do',
    (_name, section) => {
      const parts = [...section.matchAll(/^\*\*(.+?)\*\*/gm)].map(([, part]) => part);
      expect(parts).toEqual(['Means.', 'See.', 'Look.', 'Mend.', 'Over', 'Do not']);
    },
  );

  test('names metrics that are written', () => {
    const named = runbook.match(/`fraud_connector_\w+`/g) ?? [];
    expect(named.filter((name) => !known.has(name.replaceAll('`', '')))).toEqual([]);
  });

  test('names panels that the dashboard has', () => {
    const dashboard = textOf('deploy/helm/fraud-screening-connector/files/dashboard.json');
    const { panels } = JSON.parse(dashboard) as { panels: readonly { readonly title: string }[] };
    const titles = new Set(panels.map(({ title }) => title));
    const named = [...runbook.matchAll(/panels? ((?:\*[^*]+\*(?:, | and )?)+)/g)].flatMap(([, list = '']) =>
      [...list.matchAll(/\*([^*]+)\*/g)].map(([, title]) => title ?? ''),
    );
    expect(named.length).toBeGreaterThan(sections.length / 2);
    expect(named.filter((title) => !titles.has(title))).toEqual([]);
  });
});
