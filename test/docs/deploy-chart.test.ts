import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { OPTION_NAMES, OPTIONS } from '../../src/config/options.ts';
import { ROOT } from './prose.ts';
import {
  leaves,
  optionProperties,
  type Schema,
  SET_BY_CHART,
  valueAt,
  valuesTable,
  violations,
} from './values-schema.ts';

const CHART = 'deploy/helm/fraud-screening-connector';
const SCHEMA_FILE = `${CHART}/values.schema.json`;
const PAGE_FILE = 'docs/kubernetes.md';
const TABLE = /(?<=<!-- The values[^>]*-->\n\n)[\s\S]*?(?=\n\n)/;

const textOf = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
const version = (JSON.parse(textOf('package.json')) as { version: string }).version;
const chart = parse(textOf(`${CHART}/Chart.yaml`)) as { version: string; appVersion: string };
const schema = JSON.parse(textOf(SCHEMA_FILE)) as Schema;
const values = parse(textOf(`${CHART}/values.yaml`)) as unknown;
const examples = globSync(`${CHART}/ci/*.yaml`, { cwd: ROOT }).toSorted();
const templates = globSync(`${CHART}/templates/*`, { cwd: ROOT }).toSorted();
const allTemplates = templates.map(textOf).join('\n');
const rewriting = process.env['UPDATE_DOCS'] === '1';

describe('the chart', () => {
  test('has the version of the package, and so has its image', () => {
    expect(chart).toMatchObject({ version, appVersion: version });
    expect(valueAt(values, ['image', 'tag'])).toBe('');
  });

  test('knows each option of the connector, as an option, a secret or a file', () => {
    const properties = { ...schema.properties };
    for (const [name, of] of Object.entries(optionProperties()))
      properties[name] = { ...properties[name], properties: of };
    const printed = `${JSON.stringify({ ...schema, properties }, null, 2)}\n`;
    if (rewriting) writeFileSync(path.join(ROOT, SCHEMA_FILE), printed);
    expect(textOf(SCHEMA_FILE), 'rewrite it: UPDATE_DOCS=1 npx vitest run test/docs').toBe(printed);
    const { options, secrets, files } = optionProperties();
    const known = [options, secrets, files].flatMap(Object.keys);
    expect(known.toSorted()).toEqual(OPTION_NAMES.filter((name) => !SET_BY_CHART.has(name)).toSorted());
  });

  test('has defaults that its schema allows', () => {
    expect(violations(schema, values)).toEqual([]);
  });

  test('has a default and a word for every value, and a value for every default', () => {
    const known = leaves(schema).filter(({ path: at }) => at[0] !== 'global');
    expect(known.filter(({ path: at }) => valueAt(values, at) === undefined).map(({ path: at }) => at)).toEqual([]);
    expect(known.filter(({ of }) => of.description === undefined).map(({ path: at }) => at)).toEqual([]);
    expect(known.filter(({ path: at }) => !allTemplates.includes(at.at(-1) ?? ''))).toEqual([]);
  });

  test.each([
    ['a value that is misspelt', { replica: 3 }],
    ['an option that is misspelt', { options: { KAFKA_BROKER: 'kafka:9092' } }],
    ['a secret as a plain option', { options: { SERVICE_PASSWORD: 'made-up' } }],
    ['a secret by its value', { secrets: { SERVICE_PASSWORD: 'made-up' } }],
    ['a port that the chart has settled', { options: { OPS_PORT: 1 } }],
    ['no flow', { flows: [] }],
    ['a flow that is not known', { flows: ['scoring', 'replay'] }],
    ['less memory than it needs', { resources: { memoryMiB: 128 } }],
    ['a digest that is none', { image: { digest: 'latest' } }],
    ['a file without its source', { files: { MAPPING_FILE: { key: 'mapping.yaml' } } }],
  ])('refuses %s', (_what, wrong) => {
    expect(violations(schema, wrong)).toHaveLength(1);
  });

  test.each(examples)('%s is allowed', (example) => {
    expect(violations(schema, parse(textOf(example)))).toEqual([]);
  });

  test('sets only variables that are options, or that Node reads', () => {
    const set = [...allTemplates.matchAll(/\{ name: ([A-Z][A-Z0-9_]+), value: /g)].map(([, name]) => name ?? '');
    const others = new Set(['NODE_OPTIONS']);
    expect(set.length).toBeGreaterThan(3);
    expect(set.filter((name) => !(name in OPTIONS) && !others.has(name))).toEqual([]);
  });

  test('uses the ports, the paths and the drain that the connector has by default', () => {
    const ports = [...allTemplates.matchAll(/containerPort: (\d+)/g)].map(([, port]) => port);
    expect(ports).toEqual([OPTIONS.WEBHOOK_PORT.shownDefault, OPTIONS.OPS_PORT.shownDefault]);
    expect(allTemplates).toContain(
      `get .Values.options "WEBHOOK_PATH" | default "${OPTIONS.WEBHOOK_PATH.shownDefault}"`,
    );
    expect(allTemplates).toContain(`"DRAIN_TIMEOUT_MS" | default ${OPTIONS.DRAIN_TIMEOUT_MS.shownDefault})`);
    const server = textOf('src/edges/http-server/ops.ts');
    const paths = [...allTemplates.matchAll(/httpGet: \{ path: (\S+), port: operations \}/g)].map(([, probe]) => probe);
    expect(paths).toEqual(['/livez', '/livez', '/readyz']);
    expect(paths.filter((each) => !server.includes(`'${each ?? ''}'`))).toEqual([]);
  });

  test('makes no Secret', () => {
    expect(allTemplates).not.toMatch(/kind: Secret\b/);
  });

  test('has its values in docs/kubernetes.md', () => {
    const page = textOf(PAGE_FILE);
    const printed = page.replace(TABLE, () => valuesTable(schema, values));
    if (rewriting) writeFileSync(path.join(ROOT, PAGE_FILE), printed);
    expect(page).toMatch(TABLE);
    expect(textOf(PAGE_FILE), 'rewrite it: UPDATE_DOCS=1 npx vitest run test/docs').toBe(printed);
  });

  test('is installed in docs/kubernetes.md with values that it has', () => {
    const blocks = [...textOf(PAGE_FILE).matchAll(/^```yaml\n# values\.yaml\n([\s\S]*?)^```$/gm)].map(
      ([, text]) => text,
    );
    expect(blocks.length).toBeGreaterThan(0);
    for (const block of blocks) expect(violations(schema, parse(block ?? ''))).toEqual([]);
  });
});
