import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Secrets } from '../../../src/app/secrets.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { readTextFile } from '../../../src/edges/system/files.ts';
import { type Emit } from '../../../src/kernel/emit.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const KEY = 'whsec-0123456789-0123456789';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'secrets-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

/** As a mounted volume changes: a folder beside, and a link that is swapped. */
function mount(generation: number, files: Readonly<Record<string, string>>): void {
  const name = `data-${String(generation)}-${Object.keys(files).join('-')}`;
  const next = mkdtempSync(join(folder, name));
  for (const [file, content] of Object.entries(files)) writeFileSync(join(next, file), content);
  symlinkSync(next, join(folder, 'next'));
  renameSync(join(folder, 'next'), join(folder, 'now'));
}

const FILES = {
  service: 'pw-1\n',
  registry: 'reg-1',
  keys: `${KEY}-1`,
  proxy: 'http://proxy:3128/\n',
  collector: 'authorization=one\n',
  brokers: 'kafka-1\n',
};

function path(file: string): string {
  return join(folder, 'now', file);
}

function open(over: Readonly<Record<string, string>> = {}): {
  secrets: Secrets;
  said: string[];
  look: (until: () => boolean) => Promise<void>;
  end: () => void;
} {
  mount(1, FILES);
  const env = {
    KAFKA_BROKERS: 'localhost:1',
    SCHEMA_REGISTRY_URL: 'http://localhost:2',
    SCHEMA_REGISTRY_USERNAME: 'reader',
    SCHEMA_REGISTRY_PASSWORD_FILE: path('registry'),
    SERVICE_BASE_URL: 'http://localhost:3',
    SERVICE_USERNAME: 'shop',
    SERVICE_PASSWORD_FILE: path('service'),
    WEBHOOK_SECRETS_FILE: path('keys'),
    ...over,
  };
  const secrets = new Secrets(loadConfig({ env, readFile: readTextFile }).config);
  const said: string[] = [];
  const emit: Emit = (event, fields) => said.push(`${event} ${Object.values(fields).join(' ')}`);
  secrets.onChange('SERVICE_PASSWORD', () => said.push('listener'));
  const clock = new ManualClock();
  const end = secrets.watch({ clock, emit });
  const look = async (until: () => boolean): Promise<void> => {
    await eventually('the files were read', async () => {
      clock.advance(500);
      await settled();
      return until();
    });
  };
  return { secrets, said, look, end };
}

test('each secret follows its file, and the change is told once and without the value', async () => {
  const { secrets, said, look, end } = open();
  expect([secrets.servicePassword(), secrets.registryPassword(), secrets.webhookSecrets()]).toEqual([
    'pw-1',
    'reg-1',
    [`${KEY}-1`],
  ]);
  mount(2, { service: 'pw-2\n', registry: 'reg-2\n', keys: `${KEY}-2\n${KEY}-1\n` });
  await look(() => said.length >= 4);
  expect([secrets.servicePassword(), secrets.registryPassword(), secrets.webhookSecrets()]).toEqual([
    'pw-2',
    'reg-2',
    [`${KEY}-2`, `${KEY}-1`],
  ]);
  expect([...said].sort()).toEqual([
    'listener',
    'secret_reloaded SCHEMA_REGISTRY_PASSWORD',
    'secret_reloaded SERVICE_PASSWORD',
    'secret_reloaded WEBHOOK_SECRETS',
  ]);
  end();
});

test('what breaks the rule of an option changes nothing and is told by the name of the option', async () => {
  const { secrets, said, look, end } = open();
  mount(2, { service: 'pw\nof two lines', registry: '', keys: 'a secret\u0007' });
  await look(() => said.length >= 3);
  expect([secrets.servicePassword(), secrets.registryPassword(), secrets.webhookSecrets()]).toEqual([
    'pw-1',
    'reg-1',
    [`${KEY}-1`],
  ]);
  expect([...said].sort()).toEqual([
    'secret_reload_failed SCHEMA_REGISTRY_PASSWORD empty',
    'secret_reload_failed SERVICE_PASSWORD refused',
    'secret_reload_failed WEBHOOK_SECRETS refused',
  ]);
  end();
});

test('the same secret with another end of line is no change', async () => {
  const { said, look, end } = open();
  mount(2, { ...FILES, service: 'pw-1', keys: `${KEY}-2` });
  await look(() => said.length >= 1);
  for (let round = 0; round < 20; round += 1) await look(() => true);
  expect(said).toEqual(['secret_reloaded WEBHOOK_SECRETS']);
  end();
});

test('the proxy follows its file, which may hold a password that is told to nobody', async () => {
  const { secrets, said, look, end } = open({ SERVICE_PROXY_URL_FILE: path('proxy') });
  expect(secrets.proxyUrl()).toBe('http://proxy:3128');
  mount(2, { ...FILES, proxy: 'http://user:canary@next:3128\n' });
  await look(() => said.length >= 1);
  expect(secrets.proxyUrl()).toBe('http://user:canary@next:3128');
  mount(3, { ...FILES, proxy: 'canary' });
  await look(() => said.length >= 2);
  expect(secrets.proxyUrl()).toBe('http://user:canary@next:3128');
  expect(said).toEqual(['secret_reloaded SERVICE_PROXY_URL', 'secret_reload_failed SERVICE_PROXY_URL refused']);
  end();
});

test('headers for the collector of traces follow their file, the rest stays', async () => {
  const { secrets, said, look, end } = open({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318',
    OTEL_EXPORTER_OTLP_HEADERS_FILE: path('collector'),
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'X-Tenant=eu',
  });
  expect([...secrets.traceHeaders()]).toEqual([
    ['authorization', 'one'],
    ['x-tenant', 'eu'],
  ]);
  mount(2, { ...FILES, collector: 'authorization=canary' });
  await look(() => said.length >= 1);
  expect(secrets.traceHeaders().get('authorization')).toBe('canary');
  mount(3, { ...FILES, collector: 'canary' });
  await look(() => said.length >= 2);
  expect(secrets.traceHeaders().get('authorization')).toBe('canary');
  expect(secrets.traceHeaders().get('x-tenant')).toBe('eu');
  expect(said).toEqual([
    'secret_reloaded OTEL_EXPORTER_OTLP_HEADERS',
    'secret_reload_failed OTEL_EXPORTER_OTLP_HEADERS refused',
  ]);
  end();
});

test.each([
  ['KAFKA_SASL_PASSWORD', { KAFKA_SASL_MECHANISM: 'plain', KAFKA_SASL_USERNAME: 'connector' }],
  [
    'KAFKA_SASL_OAUTH_CLIENT_SECRET',
    {
      KAFKA_SASL_MECHANISM: 'oauthbearer',
      KAFKA_SASL_OAUTH_TOKEN_URL: 'https://login.example/token',
      KAFKA_SASL_OAUTH_CLIENT_ID: 'connector',
    },
  ],
])('what brokers are shown follows its file: %s', async (name, mechanism) => {
  const given = { KAFKA_ALLOW_PLAINTEXT: 'true', ...mechanism, [`${name}_FILE`]: path('brokers') };
  const { secrets, said, look, end } = open(given);
  expect(secrets.kafkaSecret()).toBe('kafka-1');
  mount(2, { ...FILES, brokers: 'canary\n' });
  await look(() => said.length >= 1);
  expect(secrets.kafkaSecret()).toBe('canary');
  mount(3, { ...FILES, brokers: 'of\ntwo lines' });
  await look(() => said.length >= 2);
  expect(secrets.kafkaSecret()).toBe('canary');
  expect(said).toEqual([`secret_reloaded ${name}`, `secret_reload_failed ${name} refused`]);
  end();
});

test('there is nothing to show to brokers that ask for nothing', () => {
  const { secrets, end } = open();
  expect([secrets.kafkaSecret(), secrets.kafkaTls]).toEqual(['', null]);
  end();
});
