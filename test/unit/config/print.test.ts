import { describe, expect, test } from 'vitest';
import { OPTION_NAMES } from '../../../src/config/options.ts';
import { envTemplate, optionTable, printConfig } from '../../../src/config/print.ts';

const readFile = (): string => 'file-secret-0123456789-0123456789';

describe('printConfig', () => {
  test('shows no secret, only that it is set and where it comes from', () => {
    const env = { SERVICE_PASSWORD: 'hunter2', WEBHOOK_SECRETS_FILE: '/x', SCHEMA_REGISTRY_URL: 'https://u:hunter2@h' };
    const printed = printConfig({ env, readFile });
    expect(printed).not.toContain('hunter2');
    expect(printed).not.toContain('file-secret');
    expect(printed).toContain('SERVICE_PASSWORD=(set)  # environment');
    expect(printed).toContain('WEBHOOK_SECRETS=(set: 1)  # file');
  });

  test('shows every option with its effective value, derived ones too, and what is wrong', () => {
    const printed = printConfig({ env: { KAFKA_SESSION_TIMEOUT_MS: '10000', OPS_PORT: 'x' }, readFile });
    expect(
      printed
        .trimEnd()
        .split('\n')
        .map((line) => line.split('=')[0]),
    ).toEqual([...OPTION_NAMES]);
    expect(printed).toContain('SERVICE_TIMEOUT_MS=3000  # default');
    expect(printed).toContain('OPS_PORT=9464  # WRONG OPS_PORT: "x" is not accepted');
  });
});

test('the option table and the template have every option once', () => {
  for (const name of OPTION_NAMES) {
    expect(optionTable().split(`| \`${name}\` `)).toHaveLength(2);
    expect(envTemplate().match(new RegExp(`^(# )?${name}=`, 'gm'))).toHaveLength(1);
  }
});

test('the template leaves what is required open and comments the rest out', () => {
  expect(envTemplate()).toContain('\nKAFKA_BROKERS=\n');
  expect(envTemplate()).toContain('\n# SCORING_CONCURRENCY=64\n');
  expect(envTemplate()).toContain('\n# SERVICE_TIMEOUT_MS=\n');
});
