import { execFile } from 'node:child_process';
import { delimiter } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject, test } from 'vitest';
import { ownVersion } from '../../src/edges/system/package-info.ts';
import { ConnectorProcess, ROOT } from '../support/connector-process.ts';

test('npx fraud-connector works in a checkout', async () => {
  const PATH = [`${ROOT}node_modules/.bin`, process.env['PATH'] ?? ''].join(delimiter);
  const { stdout } = await promisify(execFile)('npx', ['--no-install', 'fraud-connector', '--version'], {
    cwd: ROOT,
    env: { ...process.env, PATH },
  });
  expect(stdout.trim()).toBe(ownVersion());
});

test('a demo of a few seconds exits 0, and its last line says that everything was kept', async () => {
  const { brokers, registryUrl } = inject('kafka');
  const env = { KAFKA_BROKERS: brokers.join(','), SCHEMA_REGISTRY_URL: registryUrl };
  const demo = await ConnectorProcess.start(env, ['demo', '--for', '5s', '--rate', '50', '--json']);
  const { code } = await demo.ended;
  expect(demo.stderr.join('\n')).not.toContain('ended with');
  expect(code).toBe(0);
  const { summary } = JSON.parse(demo.stdout.at(-1) ?? '{}') as { summary?: Record<string, unknown> };
  expect(summary).toMatchObject({ kept: true, lost: 0, doubled: 0, outOfOrder: 0, kills: 0 });
  expect(summary?.['payments']).toBeGreaterThan(150);
  expect(demo.stdout.length).toBeGreaterThanOrEqual(5);
});
