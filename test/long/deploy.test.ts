import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { readMapping } from '../../src/app/mapping.ts';
import { loadConfig } from '../../src/config/load.ts';
import { OPTIONS } from '../../src/config/options.ts';
import { ROOT } from '../docs/prose.ts';
import { Authority } from '../support/certificates.ts';
import { findHelm, findPrometheus, say } from '../support/deploy-tools.ts';

const CHART = 'deploy/helm/fraud-screening-connector';
/** A Helm that Go has built believes in an old cluster. */
const KUBE_VERSION = '1.31.0';
const examples = globSync(`${CHART}/ci/*.yaml`, { cwd: ROOT }).toSorted();

interface Variable {
  readonly name: string;
  readonly value: string;
}

interface Source {
  readonly secret?: { readonly items: readonly { readonly path: string }[] };
  readonly configMap?: { readonly items: readonly { readonly path: string }[] };
}

interface Container {
  readonly env: readonly Variable[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly securityContext: unknown;
  readonly resources: { readonly limits: { readonly memory: string }; readonly requests: { readonly memory: string } };
}

interface Pod {
  readonly containers: readonly Container[];
  readonly volumes?: readonly {
    readonly name: string;
    readonly projected?: { readonly sources: readonly Source[] };
    readonly configMap?: { readonly name: string };
  }[];
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: unknown;
  readonly automountServiceAccountToken: boolean;
  readonly enableServiceLinks: boolean;
}

interface Made {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: {
    readonly template: { readonly metadata: { labels: Readonly<Record<string, string>> }; readonly spec: Pod };
    readonly selector: { readonly matchLabels?: Readonly<Record<string, string>> } & Readonly<Record<string, unknown>>;
  } & Readonly<Record<string, unknown>>;
}

let helm = '';
let promtool = '';

beforeAll(async () => {
  helm = await findHelm();
  promtool = (await findPrometheus()).promtool;
}, 1_500_000);

/** What the chart makes of a file of values. */
async function rendered(values: string, ...more: readonly string[]): Promise<readonly Made[]> {
  const args = ['template', 'trial', CHART, '--namespace', 'payments', '--kube-version', KUBE_VERSION];
  const { code, stdout, stderr } = await say(helm, [...args, '--values', values, ...more], ROOT);
  expect(`${String(code)} ${stderr}`).toBe('0 ');
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Made | null)
    .filter((made) => made !== null);
}

const ofKind = (made: readonly Made[], kind: string): readonly Made[] => made.filter((each) => each.kind === kind);

/** Files that a pod finds where its variables say. */
function filesOf({ containers, volumes = [] }: Pod): ReadonlySet<string> {
  const files = new Set<string>();
  for (const { name, mountPath } of containers.flatMap(({ volumeMounts = [] }) => volumeMounts)) {
    const volume = volumes.find((each) => each.name === name);
    const sources = (volume?.projected?.sources ?? []).flatMap(({ secret, configMap }) => [secret, configMap]);
    const items = sources.flatMap((source) => source?.items ?? []);
    for (const item of items) files.add(`${mountPath}/${item.path}`);
    if (volume?.configMap !== undefined) files.add(`${mountPath}/mapping.yaml`);
  }
  return files;
}

function isSelected(selector: Readonly<Record<string, unknown>>, labels: Readonly<Record<string, string>>): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}

/** What a policy of the network lets in. */
function letIn(made: readonly Made[]): readonly { readonly from?: unknown }[] {
  return (ofKind(made, 'NetworkPolicy')[0]?.spec['ingress'] ?? []) as { from?: unknown }[];
}

/** Ports that a policy of the network lets out to. */
async function portsOut(values: string): Promise<readonly number[]> {
  const rules = (ofKind(await rendered(values), 'NetworkPolicy')[0]?.spec['egress'] ?? []) as {
    readonly ports: readonly { readonly port: number }[];
  }[];
  return rules.flatMap(({ ports }) => ports.map(({ port }) => port));
}

/** How promtool ended, and what it said. */
async function promtoolSays(args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await say(promtool, args, ROOT);
  return `${String(code)} ${stdout}${stderr}`;
}

const authority = new Authority();

/** The text of a mounted file: what the option of that name accepts. */
function contentOf(file: string, mapping: string): string {
  if (file.endsWith('mapping.yaml')) return mapping;
  if (file.endsWith('_CA_FILE')) return authority.certificate;
  return file.endsWith('WEBHOOK_SECRETS') ? 'made-up-and-at-least-24-bytes-long' : 'made-up';
}

describe.each(examples)('the chart with %s', (example) => {
  test('passes the strict checks of Helm', async () => {
    expect(await say(helm, ['lint', '--strict', CHART, '--values', example], ROOT)).toMatchObject({ code: 0 });
  });

  test('configures the connector without a problem or a warning', async () => {
    const made = await rendered(example);
    const mapping = ofKind(made, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith('-mapping'));
    const deployments = ofKind(made, 'Deployment');
    expect(deployments.length).toBeGreaterThan(0);
    for (const { spec } of deployments) {
      const pod = spec.template.spec;
      const env = Object.fromEntries((pod.containers[0]?.env ?? []).map(({ name, value }) => [name, value]));
      const files = filesOf(pod);
      const named = Object.entries(env).filter(([name]) => name.endsWith('_FILE'));
      expect(named.filter(([, file]) => !files.has(file))).toEqual([]);
      expect(files.size).toBe(named.length);
      const mappingText = mapping?.data?.['mapping.yaml'] ?? '';
      const { config, warnings } = loadConfig({ env, readFile: (file) => contentOf(file, mappingText) });
      expect(warnings).toEqual([]);
      expect(readMapping(config)).toMatchObject({ warnings: [] });
      expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThanOrEqual(config.drainTimeoutMs + 10_000);
    }
  });

  test('makes pods of the restricted level, which can write nowhere and hold no token', async () => {
    for (const { spec } of ofKind(await rendered(example), 'Deployment')) {
      const pod = spec.template.spec;
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
      });
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect((container.volumeMounts ?? []).filter(({ readOnly }) => readOnly !== true)).toEqual([]);
      }
    }
  });

  test('leaves room between the heap and the limit of memory', async () => {
    for (const { spec } of ofKind(await rendered(example), 'Deployment')) {
      const [container] = spec.template.spec.containers;
      const options = container?.env.find(({ name }) => name === 'NODE_OPTIONS')?.value ?? '';
      const heapMiB = Number(/^--max-old-space-size=(\d+)$/.exec(options)?.[1]);
      const limitMiB = Number(/^(\d+)Mi$/.exec(container?.resources.limits.memory ?? '')?.[1]);
      expect(heapMiB).toBeGreaterThan(0.5 * limitMiB);
      expect(heapMiB).toBeLessThan(0.7 * limitMiB);
      expect(container?.resources.requests.memory).toBe(container?.resources.limits.memory);
    }
  });

  test('names everything once, and finds its pods by labels that they have', async () => {
    const made = await rendered(example);
    const names = made.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(new Set(names).size).toBe(names.length);
    const pods = ofKind(made, 'Deployment').map(({ spec }) => spec.template.metadata.labels);
    for (const { kind, spec } of made) {
      const selector = kind === 'Service' ? spec.selector : spec?.selector?.matchLabels;
      if (selector === undefined || kind === 'ServiceMonitor') continue;
      expect(pods.filter((labels) => isSelected(selector, labels))).not.toEqual([]);
    }
  });
});

describe('the chart', () => {
  const whole = `${CHART}/ci/whole-values.yaml`;

  test.each([
    ['a value that is misspelt', ['--set', 'replica=3'], /replica/],
    ['an option that is misspelt', ['--set', 'options.KAFKA_BROKER=kafka:9092'], /KAFKA_BROKER/],
    ['a secret by its value', ['--set', 'secrets.SERVICE_PASSWORD=made-up'], /SERVICE_PASSWORD/],
    ['an Ingress without webhooks', ['--set', 'flows={scoring,sync}'], /needs the flow reviews/],
  ])('refuses %s', async (_what, flags, words) => {
    const args = ['template', 'trial', CHART, '--kube-version', KUBE_VERSION, '--values', whole, ...flags];
    const { code, stderr } = await say(helm, args, ROOT);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(words);
  });

  test('gives webhooks alone no password of the service, and the others no webhook secret', async () => {
    const deployments = ofKind(await rendered(whole), 'Deployment');
    const files = deployments.map(({ spec }) => [...filesOf(spec.template.spec)].join(' '));
    expect(files).toHaveLength(2);
    const [records = '', webhooks = ''] = files;
    expect(records).toContain('SERVICE_PASSWORD');
    expect(records).not.toContain('WEBHOOK_SECRETS');
    expect(webhooks).toContain('WEBHOOK_SECRETS');
    expect(webhooks).not.toContain('SERVICE_PASSWORD');
  });

  test('writes whole numbers as whole numbers, and lists with commas', async () => {
    const [{ spec } = { spec: undefined }] = ofKind(await rendered(whole), 'Deployment');
    const env = Object.fromEntries(
      (spec?.template.spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]),
    );
    expect(env).toMatchObject({
      BUFFER_MAX_BYTES: '134217728',
      DEAD_LETTER_MAX_SHARE: '0.1',
      SYNC_CARD_METHODS: 'card,wallet',
      KAFKA_TLS: 'true',
    });
    expect(OPTIONS.BUFFER_MAX_BYTES.read(env['BUFFER_MAX_BYTES'] ?? '')).toBe(134_217_728);
  });

  test('brings the alerts and the dashboard as they are, with its own links and its own limit of memory', async () => {
    const made = await rendered(whole);
    const [rule] = ofKind(made, 'PrometheusRule');
    const source = await readFile(path.join(ROOT, CHART, 'files/alerts.yaml'), 'utf8');
    const expected = source
      .replaceAll('runbook_url: docs/', 'runbook_url: https://docs.example.com/fraud/')
      .replace('900 * 1048576', '1802 * 1048576');
    expect(rule?.spec).toEqual(parse(expected));
    const [, dashboard] = Object.entries(
      ofKind(made, 'ConfigMap').find(({ metadata }) => metadata.name.endsWith('-dashboard'))?.data ?? {},
    )[0] ?? ['', '{}'];
    expect(JSON.parse(dashboard)).toEqual(
      JSON.parse(await readFile(path.join(ROOT, CHART, 'files/dashboard.json'), 'utf8')),
    );
  });

  test('lets traces out only where there is a collector', async () => {
    expect(await portsOut(whole)).toContain(4318);
    expect(await portsOut(`${CHART}/ci/minimal-values.yaml`)).toEqual([53, 53, 9092, 9093, 443, 443]);
  });

  test('lets in only who is named, and nobody where nobody is', async () => {
    const flags = ['--set', 'networkPolicy.webhooksFrom=null', '--set', 'networkPolicy.operationsFrom=null'];
    const open = letIn(await rendered(whole));
    expect(open).toHaveLength(2);
    expect(open.filter(({ from }) => from === undefined)).toEqual([]);
    expect(letIn(await rendered(whole, ...flags))).toEqual([]);
  });
});

describe('the alerts', () => {
  test('are rules that Prometheus reads', async () => {
    expect(await promtoolSays(['check', 'rules', `${CHART}/files/alerts.yaml`])).toMatch(/^0 /);
  });

  test('fire and are silent as their tests say', async () => {
    expect(await promtoolSays(['test', 'rules', 'deploy/prometheus/alerts.test.yaml'])).toMatch(/^0 /);
  });

  test('are read by the configuration of the compose file', async () => {
    const file = 'deploy/prometheus/prometheus.yaml';
    expect(await promtoolSays(['check', 'config', '--syntax-only', file])).toMatch(/^0 /);
  });
});
