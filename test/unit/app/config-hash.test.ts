import { expect, test } from 'vitest';
import { configHash } from '../../../src/app/config-hash.ts';
import { type ConfigSource } from '../../../src/config/read.ts';
import { showConfig } from '../../../src/config/print.ts';

const env = {
  KAFKA_BROKERS: 'localhost:9092',
  SCHEMA_REGISTRY_URL: 'http://localhost:8081',
  SERVICE_BASE_URL: 'http://localhost:8090',
  SERVICE_USERNAME: 'shop',
  SERVICE_PASSWORD: 'one password',
  WEBHOOK_SECRETS: 'a-secret-that-is-long-enough-1',
};
const hashOf = (over: ConfigSource['env'], mapping: string | null = null): string =>
  configHash(showConfig({ env: { ...env, ...over }, readFile: () => '' }), mapping);

test('differs where an option or the mapping differs', () => {
  const hashes = [hashOf({}), hashOf({ SCORING_CONCURRENCY: '63' }), hashOf({}, 'version: 1'), hashOf({}, '')];
  expect(new Set(hashes).size).toBe(4);
  for (const hash of hashes) expect(hash).toMatch(/^[0-9a-f]{12}$/);
});

test('says nothing of secrets, and is the same where a value is the default or is given', () => {
  expect(hashOf({ SERVICE_PASSWORD: 'another', WEBHOOK_SECRETS: 'b-secret-that-is-long-enough-2' })).toBe(hashOf({}));
  expect(hashOf({ SCORING_CONCURRENCY: '64' })).toBe(hashOf({}));
});
