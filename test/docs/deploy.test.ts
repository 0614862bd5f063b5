import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Config } from '../../src/config/config.ts';
import { parseEnvFile } from '../../src/config/env-file.ts';
import { loadConfig } from '../../src/config/load.ts';
import { OPTION_NAMES } from '../../src/config/options.ts';
import { brokerEnvironment } from '../../src/sandbox/broker/docker.ts';
import { cacheName, type KafkaVersion, REGISTRY_VERSION } from '../../src/sandbox/broker/downloads.ts';
import { helpOf } from '../support/command-help.ts';
import { ROOT } from './prose.ts';

interface Service {
  readonly image: string;
  readonly build?: { readonly context: string };
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: readonly string[] };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly stop_grace_period?: string;
  readonly profiles?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const textOf = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
const dockerfile = textOf('Dockerfile').replaceAll(/\\\n\s*/g, '');
const compose = parse(textOf('deploy/docker-compose.yaml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);
const packageFile = JSON.parse(textOf('package.json')) as {
  readonly version: string;
  readonly license: string;
  readonly devDependencies: Readonly<Record<string, string>>;
};

/** Variables of the image that are no options of the connector: Node's own. */
const NOT_OURS: ReadonlySet<string> = new Set(['NODE_ENV']);
const OPTION_VARIABLES: ReadonlySet<string> = new Set(OPTION_NAMES.flatMap((name) => [name, `${name}_FILE`]));
const isKnown = (name: string): boolean => OPTION_VARIABLES.has(name) || NOT_OURS.has(name);

/** Every line of an instruction, without its name. */
function instructions(name: string): readonly string[] {
  return [...dockerfile.matchAll(new RegExp(`^ *${name} (.+)$`, 'gm'))].map(([, rest]) => rest ?? '');
}

/** `NAME=value` pairs of an instruction. */
function pairsOf(name: string): Readonly<Record<string, string>> {
  const lines = instructions(name).join(' ');
  const pairs = [...lines.matchAll(/([\w.]+)=("[^"]*"|\S+)/g)];
  return Object.fromEntries(pairs.map(([, key = '', value = '']) => [key, value.replaceAll('"', '')]));
}

/** What is wrong with the arguments of a service, in words. */
async function misuseOf(argv: readonly string[]): Promise<readonly string[]> {
  const flagsAt = argv.findIndex((word) => word.startsWith('--'));
  const words = flagsAt < 0 ? argv : argv.slice(0, flagsAt);
  const help = `${await helpOf(words)}\n${await helpOf([])}`;
  const flags = argv.filter((word) => word.startsWith('--'));
  const misused = flags.filter((flag) => !new RegExp(`^ +${flag}\\b`, 'm').test(help));
  return help.startsWith(`Usage: fraud-connector ${words.join(' ')} `) ? misused : [...misused, words.join(' ')];
}

/** The arguments that a service gives to the connector. */
function argumentsOf({ entrypoint, command = [] }: Service): readonly string[] {
  if (entrypoint === undefined) return command;
  const [, line = ''] = /fraud-connector ([^>]+)/.exec(command.join(' ')) ?? [];
  return line.trim().split(/\s+/);
}

/** Whether what is mounted is a volume of the compose file's, or exists beside it. */
function isThere(source: string): boolean {
  return source.startsWith('.') ? existsSync(path.join(ROOT, 'deploy', source)) : source in compose.volumes;
}

/** What the connector of the compose file is configured to, with the file that the sandbox leaves for it. */
function configured(): { readonly config: Config; readonly warnings: readonly string[] } {
  const left = [
    'SERVICE_BASE_URL=http://127.0.0.1:8090',
    'SERVICE_USERNAME=sandbox',
    'SERVICE_PASSWORD=made-up',
    'WEBHOOK_SECRETS=made-up-and-at-least-24-bytes-long',
  ];
  return loadConfig({
    env: { ...pairsOf('ENV'), ...compose.services['connector']?.environment },
    envFile: parseEnvFile('sandbox.env', left.join('\n')),
    readFile: () => '',
  });
}

function numberIn(file: string, pattern: RegExp): number {
  return Number(pattern.exec(textOf(file))?.[1]?.replace('_', ''));
}

const { config } = configured();

describe('Dockerfile', () => {
  test('stands on the Node that is tested, by its whole version', () => {
    expect(pairsOf('ARG')).toEqual({ BASE: `node:${packageFile.devDependencies['node'] ?? ''}-slim` });
    expect(new Set(instructions('FROM').map((line) => line.split(' ')[0]))).toEqual(new Set(['${BASE}']));
  });

  test('sets only variables that are known, and operations to be reached from outside of the container', () => {
    const env = pairsOf('ENV');
    expect(Object.keys(env).filter((name) => !isKnown(name))).toEqual([]);
    expect(env).toMatchObject({ NODE_ENV: 'production', OPS_HOST: '0.0.0.0' });
  });

  test('exposes the ports that are listened on by default', () => {
    expect(instructions('EXPOSE')).toEqual([`${String(config.webhook.port)} ${String(config.ops.port)}`]);
  });

  test('asks whether the connector lives, on the port of the option or its default', () => {
    const [check = ''] = instructions('HEALTHCHECK');
    expect(check).toContain(`process.env.OPS_PORT||${String(config.ops.port)}`);
    expect(check).toContain("path:'/livez'");
    expect(textOf('src/edges/http-server/ops.ts')).toContain("case '/livez':");
  });

  test('runs as a user that is known by its number not to be root, with the program as process 1', () => {
    expect(instructions('USER').at(-1)).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(instructions('ENTRYPOINT')).toEqual(['["node", "/app/src/bin.mjs"]']);
    expect(instructions('CMD').at(-1)).toBe('["run"]');
    expect(instructions('STOPSIGNAL')).toEqual(['SIGTERM']);
  });

  test('runs no script of a package, and leaves what only builds behind', () => {
    const installs = instructions('RUN').filter((line) => line.includes('npm ci'));
    expect(installs).toHaveLength(2);
    for (const line of installs) expect(line).toContain('--ignore-scripts');
    expect(dockerfile).toContain('COPY --from=modules /app/node_modules');
    expect(installs[0]).toContain('--omit=dev');
  });

  test('copies what exists and what .dockerignore lets through, which is nothing else', () => {
    const [all, ...rest] = textOf('.dockerignore')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    const passed = rest.map((line) => line.replace(/^!/, ''));
    const copied = instructions('COPY')
      .filter((line) => !line.startsWith('--from'))
      .flatMap((line) => line.split(' ').slice(0, -1));
    expect(all).toBe('*');
    expect(rest.every((line) => line.startsWith('!'))).toBe(true);
    const isPassed = (name: string): boolean => passed.some((each) => name === each || name.startsWith(`${each}/`));
    expect(copied.filter((name) => !existsSync(path.join(ROOT, name)) || !isPassed(name))).toEqual([]);
    expect(passed.filter((each) => !copied.some((name) => name === each || name.startsWith(`${each}/`)))).toEqual([]);
  });

  test('is labelled with the version and the licence of the package', () => {
    expect(pairsOf('LABEL')).toMatchObject({
      'org.opencontainers.image.version': packageFile.version,
      'org.opencontainers.image.licenses': packageFile.license,
    });
  });
});

test('docs/containers.md names the image, its base and its package by the versions that they have', () => {
  const page = textOf('docs/containers.md');
  const versions = page.match(/(?<=fraud-screening-connector[:-])\d+\.\d+\.\d+/g) ?? [];
  expect(new Set(versions)).toEqual(new Set([packageFile.version]));
  expect(page).toContain(`\`${pairsOf('ARG')['BASE'] ?? ''}\``);
});

describe('deploy/docker-compose.yaml', () => {
  test('configures the connector without a problem or a warning', () => {
    expect(configured().warnings).toEqual([]);
  });

  test.each(ours)('gives %s only variables that are options', (_name, { environment = {} }) => {
    expect(Object.keys(environment).filter((name) => !isKnown(name))).toEqual([]);
  });

  test("gives Kafka's image variables that the sandbox gives it, too, or that are needed for two listeners", () => {
    const own = ['KAFKA_ADVERTISED_LISTENERS', 'KAFKA_LOG_DIRS', 'KAFKA_HEAP_OPTS'];
    const known = new Set([...Object.keys(brokerEnvironment()), ...own]);
    const given = Object.keys(compose.services['kafka']?.environment ?? {});
    expect(given.filter((name) => !known.has(name))).toEqual([]);
  });

  test('uses the Kafka, the registry and the connector that are tested', () => {
    const kafka: KafkaVersion = '4.3.1';
    expect(compose.services['kafka']?.image).toBe(`apache/${cacheName('kafka', kafka).replace('-', ':')}`);
    expect(compose.services['registry']?.image).toBe(`apicurio/apicurio-registry:${REGISTRY_VERSION}`);
    const own = new Set(ours.map(([, { image }]) => image));
    expect(own).toEqual(new Set([`fraud-screening-connector:${packageFile.version}`]));
  });

  test.each(ours.filter(([name]) => name !== 'shops'))(
    'calls %s by a command, with flags, that the command line has',
    async (_name, service) => {
      expect(await misuseOf(argumentsOf(service))).toEqual([]);
    },
  );

  test.each(services)('gives %s no right that it does not need', (_name, service) => {
    expect(service).toMatchObject({ cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
  });

  test.each(ours)('lets %s write to no file of its image', (_name, service) => {
    expect(service.read_only).toBe(true);
  });

  test.each(services)('publishes the ports of %s on loopback only', (_name, { ports = [] }) => {
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  test('publishes the ports that are listened on, and sends webhooks to where they are taken', () => {
    const { connector, sandbox } = compose.services;
    const inside = connector?.ports?.map((port) => Number(port.split(':')[2]));
    expect(inside).toEqual([config.webhook.port, config.ops.port]);
    const line = sandbox?.command?.join(' ') ?? '';
    expect(line).toContain(`--webhook-url http://connector:${String(config.webhook.port)}${config.webhook.path}`);
    const [, port] = /--port (\d+)/.exec(line) ?? [];
    expect(config.service.baseUrl).toBe(`http://sandbox:${port ?? ''}`);
    expect(sandbox?.ports?.every((each) => each.endsWith(`:${port ?? ''}`))).toBe(true);
    expect(sandbox?.healthcheck?.test?.join(' ')).toContain(`http://127.0.0.1:${port ?? ''}/sandbox/settings`);
  });

  test.each(services)('waits in %s for what can come about', (_name, { depends_on = {} }) => {
    const awaited = Object.keys(depends_on).map((name) => {
      const check = compose.services[name]?.healthcheck;
      const hasCheck = check !== undefined && check.disable !== true;
      return [name, { condition: hasCheck ? 'service_healthy' : 'service_completed_successfully' }];
    });
    expect(depends_on).toEqual(Object.fromEntries(awaited));
    expect(Object.keys(depends_on).filter((name) => !(name in compose.services))).toEqual([]);
  });

  test.each(services)('mounts into %s what exists', (_name, { volumes = [] }) => {
    const sources = volumes.map((volume) => volume.split(':')[0] ?? '');
    expect(sources.filter((from) => !isThere(from))).toEqual([]);
  });

  test.each(ours)('builds %s from the Dockerfile', (_name, { build }) => {
    expect(existsSync(path.join(ROOT, 'deploy', build?.context ?? 'nowhere', 'Dockerfile'))).toBe(true);
  });

  test('lets the connector end in its own time: records, webhooks and what hangs, one after the other', () => {
    const graceMs = 1000 * Number(/^(\d+)s$/.exec(compose.services['connector']?.stop_grace_period ?? '')?.[1]);
    const webhooksMs = numberIn('src/app/connector.ts', /WEBHOOKS_AFTER_STOP_MS = ([\d_]+)/);
    const lingerMs = numberIn('src/main.ts', /LINGER_MS = ([\d_]+)/);
    expect(webhooksMs + lingerMs).toBeGreaterThan(0);
    expect(graceMs).toBeGreaterThanOrEqual(config.drainTimeoutMs + webhooksMs + lingerMs);
  });

  test('makes payments of what the image holds', () => {
    const imports = [...textOf('deploy/shops.mjs').matchAll(/import \{ (\w+) \} from '\.\/dist\/(.+)\.js'/g)];
    expect(imports.length).toBeGreaterThan(0);
    for (const [, name = '', file = ''] of imports)
      expect(textOf(`src/${file}.ts`)).toContain(`export function ${name}(`);
  });

  test('writes made-up payments to the topics that are read', () => {
    const topics = [...textOf('deploy/shops.mjs').matchAll(/write\('([\w.]+)'/g)].map(([, topic]) => topic);
    expect(topics).toEqual([config.topics.created, config.topics.authorized]);
  });
});
