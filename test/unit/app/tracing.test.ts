import { globSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { Secrets } from '../../../src/app/secrets.ts';
import { tracingOf } from '../../../src/app/tracing.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { importsOf } from '../../architecture/source-text.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const VALID = {
  KAFKA_BROKERS: 'localhost:9092',
  SCHEMA_REGISTRY_URL: 'http://localhost:8081',
  SERVICE_BASE_URL: 'https://s.test/v',
  SERVICE_USERNAME: 'u',
  SERVICE_PASSWORD: 'p',
  WEBHOOK_SECRETS: 'x'.repeat(24),
};

test('without an endpoint there is no tracing', async () => {
  const { config } = loadConfig({ env: VALID, readFile: () => '' });
  const parts = { config, secrets: new Secrets(config), version: '1', clock: new ManualClock(), emit: () => undefined };
  expect(await tracingOf(parts)).toBeNull();
});

test('nothing of OpenTelemetry is imported but below edges/otel, and that only when it is asked for', () => {
  const src = new URL('../../../src/', import.meta.url);
  const found = globSync('**/*.ts', { cwd: src }).flatMap((path) =>
    importsOf(readFileSync(new URL(path, src), 'utf8')).map(({ of }) => ({ path, of })),
  );
  const library = found.filter(({ of }) => of.startsWith('@opentelemetry/')).map(({ path }) => path);
  expect(library.length).toBeGreaterThan(0);
  expect(library.filter((path) => !path.startsWith('edges/otel/'))).toEqual([]);
  // Types count, too: a module that is imported for its types alone is loaded all the same.
  const edge = found.filter(({ path, of }) => of.includes('/edges/otel/') && !path.startsWith('edges/otel/'));
  expect(edge.map(({ path }) => path)).toEqual(['app/tracing.ts']);
  const asker = readFileSync(new URL('app/tracing.ts', src), 'utf8');
  expect(asker).toContain("await import('../edges/otel/tracing.ts')");
  expect(asker).not.toContain("from '../edges/otel");
});

test('traces are told with the places and headers of the configuration', async () => {
  const env = { ...VALID, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:1', OTEL_TRACES_SAMPLER: 'always_off' };
  for (const change of [{}, { FLOWS: 'reviews', SERVICE_BASE_URL: '' }]) {
    const { config } = loadConfig({ env: { ...env, ...change }, readFile: () => '' });
    const parts = {
      config,
      secrets: new Secrets(config),
      version: '1',
      clock: new ManualClock(),
      emit: () => undefined,
    };
    const tracing = await tracingOf(parts);
    expect(tracing?.batch([])).toMatchObject({ context: null });
    await tracing?.close(0);
  }
});
