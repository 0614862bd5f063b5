import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { type KafkaSecurity } from '../../../src/config/kafka-security.ts';
import { isFault } from '../../../src/kernel/fault.ts';
import { Authority } from '../../support/certificates.ts';

type Env = Readonly<Record<string, string>>;

const authority = new Authority();
const own = authority.issue();
const FILES: Env = {
  ca: authority.certificate,
  cert: own.certificate,
  key: own.key,
  other: authority.issue().key,
  rubbish: 'hunter2',
};
const TLS: Env = { KAFKA_TLS: 'true' };
const PLAIN: Env = {
  ...TLS,
  KAFKA_SASL_MECHANISM: 'plain',
  KAFKA_SASL_USERNAME: 'connector',
  KAFKA_SASL_PASSWORD: 'hunter2',
};
const TOKENS: Env = {
  ...TLS,
  KAFKA_SASL_MECHANISM: 'oauthbearer',
  KAFKA_SASL_OAUTH_TOKEN_URL: 'https://login.example/realm/token/?tenant=1',
  KAFKA_SASL_OAUTH_CLIENT_ID: 'connector',
  KAFKA_SASL_OAUTH_CLIENT_SECRET: 'hunter2',
};

function read(over: Env): KafkaSecurity {
  const env = {
    KAFKA_BROKERS: 'kafka.example:9093',
    SCHEMA_REGISTRY_URL: 'http://localhost:8081',
    WEBHOOK_SECRETS: 'whsec-0123456789-0123456789',
    FLOWS: 'reviews',
    ...over,
  };
  return loadConfig({ env, readFile: (path) => FILES[path] ?? '' }).config.kafka;
}

/** The problems of a configuration, one a line; empty: it is accepted. */
function problems(over: Env): readonly string[] {
  try {
    read(over);
    return [];
  } catch (error) {
    if (!isFault(error, 'CONFIG_INVALID')) throw error;
    return error.message
      .split('\n')
      .slice(1)
      .map((line) => line.trim());
  }
}

function without(env: Env, ...names: readonly string[]): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)));
}

describe('refused is', () => {
  test.each<[what: string, env: Env, says: string]>([
    [
      'plain text to another machine',
      {},
      'KAFKA_BROKERS: "kafka.example:9093" is not on this machine and would be used without TLS; set KAFKA_TLS=true,',
    ],
    [
      'a certificate without its key',
      { ...TLS, KAFKA_TLS_CERT_FILE: 'cert' },
      'one without the other; give both or none',
    ],
    [
      'a key without its certificate',
      { ...TLS, KAFKA_TLS_KEY_FILE: 'key' },
      'one without the other; give both or none',
    ],
    [
      'a key of another certificate',
      { ...TLS, KAFKA_TLS_CERT_FILE: 'cert', KAFKA_TLS_KEY_FILE: 'other' },
      'KAFKA_TLS_CERT_FILE and KAFKA_TLS_KEY_FILE: the key does not belong to the first certificate',
    ],
    ['authorities that are no PEM', { ...TLS, KAFKA_TLS_CA_FILE: 'rubbish' }, 'KAFKA_TLS_CA_FILE: the file holds no'],
    ['authorities that cannot be read', { ...TLS, KAFKA_TLS_CA_FILE: 'absent' }, 'KAFKA_TLS_CA_FILE: what is given'],
    ['a mechanism that nobody knows', { ...TLS, KAFKA_SASL_MECHANISM: 'gssapi' }, 'KAFKA_SASL_MECHANISM: "gssapi" is'],
    [
      'a mechanism without its password',
      without(PLAIN, 'KAFKA_SASL_PASSWORD'),
      'KAFKA_SASL_MECHANISM: plain needs KAFKA_SASL_PASSWORD (or KAFKA_SASL_PASSWORD_FILE); give what is missing.',
    ],
    [
      'tokens without who asks for them',
      without(TOKENS, 'KAFKA_SASL_OAUTH_TOKEN_URL', 'KAFKA_SASL_OAUTH_CLIENT_ID'),
      'KAFKA_SASL_MECHANISM: oauthbearer needs KAFKA_SASL_OAUTH_TOKEN_URL, KAFKA_SASL_OAUTH_CLIENT_ID;',
    ],
    [
      'a password that no mechanism uses',
      without(PLAIN, 'KAFKA_SASL_MECHANISM'),
      'KAFKA_SASL_USERNAME, KAFKA_SASL_PASSWORD: not used, because KAFKA_SASL_MECHANISM is none;',
    ],
    [
      'the credentials of another mechanism',
      { ...PLAIN, KAFKA_SASL_OAUTH_SCOPE: 'kafka' },
      'KAFKA_SASL_OAUTH_SCOPE: not used, because KAFKA_SASL_MECHANISM is plain;',
    ],
    [
      'a token server that would see the secret in plain text',
      { ...TOKENS, KAFKA_SASL_OAUTH_TOKEN_URL: 'http://login.example/token' },
      'KAFKA_SASL_OAUTH_TOKEN_URL: what is given is not accepted; give an https URL',
    ],
    [
      'a token server with credentials in its URL',
      { ...TOKENS, KAFKA_SASL_OAUTH_TOKEN_URL: 'https://a:hunter2@login.example/token' },
      'KAFKA_SASL_OAUTH_TOKEN_URL: what is given is not accepted',
    ],
  ])('%s', (_, env, says) => {
    const found = problems(env);
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(says);
  });

  test('files for TLS while it is off, each named', () => {
    const env = { KAFKA_ALLOW_PLAINTEXT: 'true', KAFKA_TLS_CA_FILE: 'ca', KAFKA_TLS_CERT_FILE: 'cert' };
    expect(problems({ ...env, KAFKA_TLS_KEY_FILE: 'key' })).toEqual([
      'KAFKA_TLS_CA_FILE, KAFKA_TLS_CERT_FILE, KAFKA_TLS_KEY_FILE: KAFKA_TLS is off, so nothing would be checked by it; set KAFKA_TLS=true, or leave it out.',
    ]);
  });

  test.each(['plain', 'oauthbearer'])('%s without TLS, also on this machine', (mechanism) => {
    const env = without(mechanism === 'plain' ? PLAIN : TOKENS, 'KAFKA_TLS');
    const here = { ...env, KAFKA_BROKERS: 'localhost:9092' };
    expect(problems(here)).toHaveLength(1);
    expect(problems(here)[0]).toContain(`KAFKA_SASL_MECHANISM: ${mechanism} without TLS shows the`);
    expect(problems({ ...here, KAFKA_ALLOW_PLAINTEXT: 'true' })).toEqual([]);
    expect(problems(env)).toHaveLength(2);
  });

  test('several of these at once', () => {
    const env = { KAFKA_TLS_CA_FILE: 'rubbish', KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_USERNAME: 'a' };
    expect(problems(env)).toHaveLength(4);
  });
});

test('nothing that is refused shows a secret', () => {
  const secrets = { KAFKA_SASL_PASSWORD: 'hunter2', KAFKA_SASL_OAUTH_CLIENT_SECRET: 'hunter2' };
  const said = problems({ KAFKA_TLS_CA_FILE: 'rubbish', ...secrets }).join('\n');
  expect(said).toContain('KAFKA_SASL_PASSWORD, KAFKA_SASL_OAUTH_CLIENT_SECRET: not used');
  expect(said).not.toContain('hunter2');
});

describe('accepted is', () => {
  test('TLS with the authorities of this machine', () => {
    expect(read(TLS)).toMatchObject({ sasl: null, tls: { authorities: null, certificate: null, key: null } });
  });

  test('TLS with files, which are remembered', () => {
    const files = { KAFKA_TLS_CA_FILE: 'ca', KAFKA_TLS_CERT_FILE: 'cert', KAFKA_TLS_KEY_FILE: 'key' };
    expect(read({ ...TLS, ...files }).tls).toEqual({
      authorities: { path: 'ca', text: FILES['ca']?.trim() },
      certificate: { path: 'cert', text: FILES['cert']?.trim() },
      key: { path: 'key', text: FILES['key']?.trim() },
    });
  });

  test('SCRAM without TLS on this machine, which shows no password', () => {
    const env = { ...without(PLAIN, 'KAFKA_TLS'), KAFKA_BROKERS: '127.0.0.1:9092' };
    expect(read({ ...env, KAFKA_SASL_MECHANISM: 'scram-sha-256' })).toMatchObject({
      tls: null,
      sasl: { mechanism: 'scram-sha-256', username: 'connector', password: 'hunter2' },
    });
  });

  test('tokens, from an address with a query and a slash at its end', () => {
    expect(read(TOKENS).sasl).toEqual({
      mechanism: 'oauthbearer',
      tokenUrl: 'https://login.example/realm/token/?tenant=1',
      clientId: 'connector',
      clientSecret: 'hunter2',
      scope: null,
    });
    expect(problems({ ...TOKENS, KAFKA_SASL_OAUTH_TOKEN_URL: 'http://127.0.0.1:1/token' })).toEqual([]);
  });
});
