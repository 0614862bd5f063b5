import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { showConfig } from '../../../src/config/print.ts';
import { type ConfigSource } from '../../../src/config/read.ts';
import { isFault } from '../../../src/kernel/fault.ts';
import { selfSigned } from '../../support/certificates.ts';

type Env = Readonly<Record<string, string>>;

const ONE = selfSigned();
const OTHER = selfSigned();
const FILES: Env = {
  '/one.crt': ONE.certificate,
  '/one.key': ONE.key,
  '/other.key': OTHER.key,
  '/ca.crt': `${ONE.certificate}${OTHER.certificate}`,
  '/none': 'canary',
};
const VALID: Env = {
  KAFKA_BROKERS: 'localhost:9092',
  SCHEMA_REGISTRY_URL: 'https://registry.example',
  SERVICE_BASE_URL: 'https://service.example',
  SERVICE_USERNAME: 'shop',
  SERVICE_PASSWORD: 'x',
  WEBHOOK_SECRETS: 'whsec-0123456789-0123456789',
};

function source(over: Env): ConfigSource {
  return {
    env: { ...VALID, ...over },
    readFile: (path) => {
      const text = FILES[path];
      if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
      return text;
    },
  };
}

function messageOf(over: Env): string {
  try {
    loadConfig(source(over));
    return '';
  } catch (error) {
    if (isFault(error, 'CONFIG_INVALID')) return error.message;
    throw error;
  }
}

/** A line each; none shows anything of a file or of a secret. */
function problems(over: Env): readonly string[] {
  const [, ...lines] = messageOf(over).split('\n');
  expect(lines.join('\n')).not.toMatch(/canary|BEGIN|MII/);
  return lines.map((line) => line.trim());
}

function warningsOf(url: string): readonly string[] {
  return loadConfig(source({ SERVICE_PROXY_URL: url })).warnings;
}

const PAIRS = [
  ['WEBHOOK_TLS_CERT_FILE', 'WEBHOOK_TLS_KEY_FILE'],
  ['SERVICE_TLS_CERT_FILE', 'SERVICE_TLS_KEY_FILE'],
] as const;

describe.each(PAIRS)('%s and its key', (certificate, key) => {
  test('are refused one without the other', () => {
    const problem = [`${certificate} and ${key}: one without the other; give both or none.`];
    expect(problems({ [certificate]: '/one.crt' })).toEqual(problem);
    expect(problems({ [key]: '/one.key' })).toEqual(problem);
  });

  test('are refused where a file is not there, with that file', () => {
    expect(problems({ [certificate]: '/one.crt', [key]: '/gone' })).toEqual([
      `${key}: the file "/gone" cannot be read (Error ENOENT).`,
    ]);
  });

  test('are refused, each by its name, where the files are something else', () => {
    expect(problems({ [certificate]: '/none', [key]: '/none' })).toEqual([
      `${certificate}: the file holds no certificate in PEM.`,
      `${key}: the file holds no private key in PEM.`,
    ]);
  });

  test('are refused where they do not fit each other', () => {
    expect(problems({ [certificate]: '/one.crt', [key]: '/other.key' })).toEqual([
      `${certificate} and ${key}: the key does not belong to the first certificate, which must be the one to show.`,
    ]);
  });
});

describe.each([
  ['SERVICE_TLS_CA_FILE', 'SERVICE_BASE_URL'],
  ['SCHEMA_REGISTRY_TLS_CA_FILE', 'SCHEMA_REGISTRY_URL'],
])('%s', (option, url) => {
  test('is refused where it is something else', () => {
    expect(problems({ [option]: '/none' })).toEqual([`${option}: the file holds no certificate in PEM.`]);
    expect(problems({ [option]: '/one.key' })).toEqual([
      `${option}: the file holds a private key, which has no place there.`,
    ]);
  });

  test('is refused where nothing would be checked by it', () => {
    expect(problems({ [option]: '/ca.crt', [url]: 'http://localhost:1' })).toEqual([
      `${option}: ${url} is http, so nothing would be checked by it; give https, or leave it out.`,
    ]);
  });
});

test('the texts are read, with the paths to read them again', () => {
  const { config } = loadConfig(
    source({
      SERVICE_TLS_CA_FILE: '/ca.crt',
      SERVICE_TLS_CERT_FILE: '/one.crt',
      SERVICE_TLS_KEY_FILE: '/one.key',
      SCHEMA_REGISTRY_TLS_CA_FILE: '/one.crt',
      WEBHOOK_TLS_CERT_FILE: '/one.crt',
      WEBHOOK_TLS_KEY_FILE: '/one.key',
    }),
  );
  const certificate = { path: '/one.crt', text: ONE.certificate.trim() };
  const key = { path: '/one.key', text: ONE.key.trim() };
  expect(config.service.tls).toEqual({
    authorities: { path: '/ca.crt', text: FILES['/ca.crt']?.trim() },
    certificate,
    key,
  });
  expect(config.registry.tls).toEqual({ authorities: certificate, certificate: null, key: null });
  expect(config.webhook.tls).toEqual({
    certificate: certificate.text,
    certificateFile: '/one.crt',
    key: key.text,
    keyFile: '/one.key',
  });
});

describe('SERVICE_PROXY_URL', () => {
  test.each([
    'canary',
    'socks5://proxy:1080',
    'http://proxy:3128/canary',
    'http://proxy:3128?canary',
    'http://proxy:3128#canary',
    'http://us%3Aer:canary@proxy:3128',
    'http://user:%zz@proxy:3128',
    'http://user:can%0Aary@proxy:3128',
  ])('refuses %s without showing it', (url) => {
    const [problem, ...others] = problems({ SERVICE_PROXY_URL: url });
    expect(others).toEqual([]);
    expect(problem).toMatch(/^SERVICE_PROXY_URL: what is given is not accepted; give an http or https URL/);
  });

  test.each([
    ['http://proxy:3128/', 'http://proxy:3128', 'http://proxy:3128'],
    ['https://proxy', 'https://proxy', 'https://proxy'],
    ['http://user:canary@[::1]:3128', 'http://user:canary@[::1]:3128', 'http://[::1]:3128 (with user)'],
  ])('takes %s', (url, proxyUrl, shown) => {
    expect(loadConfig(source({ SERVICE_PROXY_URL: url })).config.service.proxyUrl).toBe(proxyUrl);
    const { options } = showConfig(source({ SERVICE_PROXY_URL: url }));
    expect(options.find(({ name }) => name === 'SERVICE_PROXY_URL')?.value).toBe(shown);
  });

  test('warns where its password crosses the network readable', () => {
    expect(warningsOf('http://user:canary@proxy:3128')).toEqual([
      'SERVICE_PROXY_URL: http to another machine shows the password of the proxy.',
    ]);
    expect(warningsOf('http://user:canary@127.0.0.1:3128')).toEqual([]);
    expect(warningsOf('https://user:canary@proxy:3128')).toEqual([]);
  });
});

describe('proxies of other programs', () => {
  test.each(['HTTPS_PROXY', 'http_proxy', 'ALL_PROXY'])('warns that %s is not used, and does not show it', (name) => {
    const { warnings } = loadConfig(source({ [name]: 'http://user:canary@proxy:3128' }));
    expect(warnings).toEqual([`${name}: not used; set SERVICE_PROXY_URL if the service is reached through a proxy.`]);
  });

  test('says nothing where one is configured, or nothing is called', () => {
    const env = { HTTPS_PROXY: 'http://proxy:3128' };
    expect(loadConfig(source({ ...env, SERVICE_PROXY_URL: 'http://proxy:3128' })).warnings).toEqual([]);
    expect(loadConfig(source({ ...env, FLOWS: 'reviews' })).warnings).toEqual([]);
  });
});
