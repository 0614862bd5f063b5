import { describe, expect, test } from 'vitest';
import { parseEnvFile } from '../../../src/config/env-file.ts';
import { OPTION_NAMES } from '../../../src/config/options.ts';
import { envTemplate, optionTable, printConfig, showConfig, type ShownOption } from '../../../src/config/print.ts';
import { type ConfigSource } from '../../../src/config/read.ts';

const readFile = (): string => 'file-secret-0123456789-0123456789';

function optionOf(source: ConfigSource, name: string): ShownOption | undefined {
  return showConfig(source).options.find((option) => option.name === name);
}

describe('showConfig', () => {
  test('shows no secret, only that it is set and where it comes from', () => {
    const env = { SERVICE_PASSWORD: 'hunter2', WEBHOOK_SECRETS_FILE: '/x', SCHEMA_REGISTRY_URL: 'https://u:hunter2@h' };
    const source = { env, readFile };
    const said = JSON.stringify(showConfig(source));
    expect(said).not.toContain('hunter2');
    expect(said).not.toContain('file-secret');
    expect(optionOf(source, 'SERVICE_PASSWORD')).toMatchObject({ value: '(set)', origin: 'environment' });
    expect(optionOf(source, 'WEBHOOK_SECRETS')).toMatchObject({ value: '(set: 1)', origin: 'file' });
  });

  test('shows what could be read beside what is wrong', () => {
    const source = { env: { KAFKA_SESSION_TIMEOUT_MS: '10000', OPS_PORT: 'x', KAFKA_BROKER: 'x' }, readFile };
    expect(showConfig(source).options.map(({ name }) => name)).toEqual([...OPTION_NAMES]);
    expect(optionOf(source, 'SERVICE_TIMEOUT_MS')).toMatchObject({ value: '3000', origin: 'default' });
    expect(optionOf(source, 'OPS_PORT')).toMatchObject({ value: '9464', origin: 'wrong' });
    const problems = showConfig(source).problems.join('\n');
    expect(problems).toContain('OPS_PORT: "x" is not accepted');
    expect(problems).toContain('KAFKA_BROKERS is meant?');
    expect(problems).toContain('SERVICE_PASSWORD: missing');
  });

  test('tells the file of variables from the environment, which wins', () => {
    const envFile = parseEnvFile('.env', 'ACCOUNT=shop\nLOG_LEVEL=debug\nFLOWS=sync\nTOPIC_CREATED=payments\n');
    const source = { env: { LOG_LEVEL: 'warn', TOPIC_CREATED: '' }, envFile, flows: 'reviews', readFile };
    expect(optionOf(source, 'ACCOUNT')).toMatchObject({ value: 'shop', origin: 'env-file' });
    expect(optionOf(source, 'LOG_LEVEL')).toMatchObject({ value: 'warn', origin: 'environment' });
    expect(optionOf(source, 'FLOWS')).toMatchObject({ value: 'reviews', origin: 'flag' });
    expect(optionOf(source, 'TOPIC_CREATED')).toMatchObject({ value: 'payments', origin: 'env-file' });
  });
});

test('a printed configuration has one aligned line an option', () => {
  const lines = printConfig(showConfig({ env: { KAFKA_BROKERS: 'localhost:9092' }, readFile }));
  expect(lines).toHaveLength(OPTION_NAMES.length);
  const columns = lines.map((line) => /^\S+ +\S+/.exec(line)?.[0].search(/\S+$/));
  expect(new Set(columns).size).toBe(1);
  expect(lines.find((line) => line.startsWith('KAFKA_BROKERS '))).toMatch(/ environment {2}localhost:9092$/);
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

test('the template is a file of variables without a fault, and with all uncommented nothing but what is required is missing', () => {
  const template = parseEnvFile('.env', envTemplate());
  expect(template.problems).toEqual([]);
  const uncommented = parseEnvFile('.env', envTemplate().replaceAll(/^# ([A-Z_]+=)/gm, '$1'));
  expect(uncommented.problems).toEqual([]);
  const { problems } = showConfig({ env: {}, envFile: uncommented, readFile });
  for (const problem of problems) expect(problem).toMatch(/^[A-Z_]+: missing/);
  expect(problems.length).toBeGreaterThan(3);
});
