import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { OPTION_NAMES, OPTIONS } from '../../../src/config/options.ts';
import { type ConfigSource } from '../../../src/config/read.ts';
import { isFault } from '../../../src/kernel/fault.ts';

type Env = Record<string, string | undefined>;

const PASSWORD = 'correct horse battery staple';
const SECRET = 'whsec-0123456789-0123456789';
const NO_TLS = { authorities: null, certificate: null, key: null };

function valid(over: Env = {}): Env {
  return {
    KAFKA_BROKERS: '127.0.0.1:9092,localhost:9093',
    SCHEMA_REGISTRY_URL: 'http://localhost:8081/apis/ccompat/v7/',
    SERVICE_BASE_URL: 'https://service.example/base/',
    SERVICE_USERNAME: 'shop',
    SERVICE_PASSWORD: PASSWORD,
    WEBHOOK_SECRETS: SECRET,
    ...over,
  };
}

function source(env: Env, files: Record<string, string> = {}): ConfigSource {
  return {
    env,
    readFile: (path) => {
      const content = files[path];
      if (content === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
      return content;
    },
  };
}

function problems(env: Env, files?: Record<string, string>): string {
  try {
    loadConfig(source(env, files));
  } catch (error) {
    if (isFault(error, 'CONFIG_INVALID')) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

/** What came of it, without a throw: `accepted`, a fault's code and message, or the name of another error. */
function outcomeOf(env: Env): string {
  try {
    loadConfig(source(env));
    return 'accepted';
  } catch (error) {
    return isFault(error) ? `${error.code} ${error.message}` : String(error);
  }
}

const accepted = (env: Env, files?: Record<string, string>) => loadConfig(source(env, files));

describe('refusals', () => {
  test('names every problem at once, a line each', () => {
    const message = problems({ KAFKA_SESSION_TIMEOUT_MS: 'soon', FLOWS: 'scoring', OPS_PORT: '70000' });
    expect(message.split('\n')).toEqual([
      '7 options are missing or wrong:',
      '  KAFKA_SESSION_TIMEOUT_MS: "soon" is not accepted; give a whole number of milliseconds from 6000 to 1800000.',
      '  OPS_PORT: "70000" is not accepted; give a whole number from 0 to 65535.',
      '  KAFKA_BROKERS: missing, needed by scoring; give `host:port`, comma separated.',
      '  SCHEMA_REGISTRY_URL: missing, needed by scoring; give an http or https URL without user info, query and fragment.',
      '  SERVICE_BASE_URL: missing, needed by scoring; give an http or https URL without user info, query and fragment.',
      '  SERVICE_USERNAME: missing, needed by scoring; give a text of printable characters without a colon.',
      '  SERVICE_PASSWORD: missing, needed by scoring; give a text of one line, or its file as SERVICE_PASSWORD_FILE.',
    ]);
  });

  test.each([
    ['KAFKA_SESSION_TIMEOUT_MS', '5999'],
    ['SCORING_CONCURRENCY', '0'],
    ['SCORING_CONCURRENCY', '6e1'],
    ['SCORING_CONCURRENCY', ' 64'],
    ['SCORING_ORDERING', 'Key'],
    ['SCORING_LIMIT', 'auto'],
    ['SCORE_ON_REFUSAL', 'yes'],
    ['ACCOUNT', 'a b'],
    ['TOPIC_CREATED', '..'],
    ['TOPIC_CREATED', 'a/b'],
    ['KAFKA_BROKERS', 'localhost'],
    ['KAFKA_BROKERS', 'localhost:0'],
    ['KAFKA_BROKERS', 'localhost:65536'],
    ['KAFKA_START_FROM', '2026-13-01T00:00:00Z'],
    ['KAFKA_START_FROM', '2026-01-01T24:00:00Z'],
    ['KAFKA_BROKERS', 'localhost:9092;other:9092'],
    ['SERVICE_BASE_URL', 'service.example'],
    ['SERVICE_BASE_URL', 'ftp://service.example'],
    ['SERVICE_BASE_URL', 'https://service.example/?a=1'],
    ['SERVICE_BASE_URL', 'https://service.example/#a'],
    ['SERVICE_BASE_URL', 'https://user:pw@service.example/'],
    ['SERVICE_BASE_URL', 'http://service.example/'],
    ['SERVICE_USERNAME', 'shop:eu'],
    ['SERVICE_TIMEOUT_MS', '9001'],
    ['SYNC_TIMEOUT_MS', '9001'],
    ['FLOWS', 'scoring,scoring'],
    ['FLOWS', 'scoring,replay'],
    ['WEBHOOK_PATH', 'webhooks'],
    ['WEBHOOK_SECRETS', ' , '],
    ['WEBHOOK_SECRETS', `${SECRET},${SECRET},${SECRET},${SECRET}`],
    ['WEBHOOK_SECRETS', `${SECRET}\u0007`],
    ['WEBHOOK_SIGNATURE_FORMS', 'hex,base32'],
    ['WEBHOOK_PORT', '9464'],
    ['BUFFER_MAX_BYTES', '1000'],
    ['TOPIC_DLQ_SUFFIX', 'x'.repeat(240)],
    ['SCHEMA_REGISTRY_USERNAME', 'reader'],
    ['LOG_LEVEL', 'verbose'],
    ['SYNC_ISSUER_REASON_CODES_FILE', '/not/there'],
    ['SCORING_MAX_ATTEMPTS', '0'],
    ['SCORING_REFUSE_AFTER_MS', '-1'],
    ['DEAD_LETTER_MAX_SHARE', '5%'],
    ['DEAD_LETTER_MAX_SHARE', '1.5'],
    ['DEAD_LETTER_MAX_SHARE', '.5'],
    ['SERVICE_MAX_REQUESTS_PER_SECOND', '0'],
    ['SERVICE_IDEMPOTENCY_HEADER', 'Idempotency Key'],
    ['SERVICE_IDEMPOTENCY_HEADER', 'Authorization'],
    ['SERVICE_FORWARD_IP', '1'],
  ])('refuses %s=%s and nothing else', (name, value) => {
    const lines = problems(valid({ [name]: value })).split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[1]).toContain(name);
  });

  test('refuses a batch that may come to less than one of its records', () => {
    const env = valid({ RECORD_MAX_BYTES: '2097152', BATCH_MAX_BYTES: '2097151' });
    expect(problems(env)).toContain('BATCH_MAX_BYTES: 2097151 is less than RECORD_MAX_BYTES (2097152)');
    const equal = valid({ RECORD_MAX_BYTES: '2097152', BATCH_MAX_BYTES: '2097152' });
    expect(loadConfig(source(equal)).config.batchMaxBytes).toBe(2_097_152);
  });

  test('refuses brokers off this machine, because no TLS would protect the payments', () => {
    const env = valid({ KAFKA_BROKERS: '127.0.0.1:9092,kafka.internal:9092' });
    expect(problems(env)).toContain('KAFKA_ALLOW_PLAINTEXT=true');
    expect(accepted({ ...env, KAFKA_ALLOW_PLAINTEXT: 'true' }).config.kafka.brokers).toHaveLength(2);
  });

  test.each(['127.0.0.1.evil.example:9092', 'localhost.evil.example:9092', 'evil127.0.0.1:9092', '[2001:db8::1]:9092'])(
    'does not take %s for this machine',
    (broker) => {
      expect(problems(valid({ KAFKA_BROKERS: broker }))).toContain('KAFKA_BROKERS');
    },
  );

  test('refuses two uses of one topic', () => {
    expect(problems(valid({ TOPIC_CREATED: 'payments', TOPIC_AUTHORIZED: 'payments' }))).toContain('"payments"');
    expect(problems(valid({ TOPIC_SCORES: 'fraud.reviews.dlq' }))).toContain('"fraud.reviews.dlq"');
  });

  test.each(['0', 'false', 'no', '2'])('refuses to run with the check of certificates set to %s', (value) => {
    expect(problems(valid({ NODE_TLS_REJECT_UNAUTHORIZED: value }))).toContain('NODE_TLS_REJECT_UNAUTHORIZED');
  });

  test.each(['', '1'])('runs with the check of certificates set to "%s"', (value) => {
    expect(accepted(valid({ NODE_TLS_REJECT_UNAUTHORIZED: value })).warnings).toEqual([]);
  });

  test('refuses a time-out above 0.3 of a shorter session, and derives smaller defaults from it', () => {
    expect(problems(valid({ KAFKA_SESSION_TIMEOUT_MS: '6000', SERVICE_TIMEOUT_MS: '1801' }))).toContain('at most 1800');
    const { config } = accepted(valid({ KAFKA_SESSION_TIMEOUT_MS: '6000' }));
    expect(config.service.timeoutMs).toBe(1800);
    expect(config.sync.timeoutMs).toBe(1800);
  });

  test('refuses a name that looks like protection of data and is no option', () => {
    for (const name of [
      'KAFKA_TLS_KEY_PASSWORD',
      'KAFKA_SASL_JAAS_CONFIG',
      'SERVICE_TLS_SERVER_NAME',
      'SCHEMA_REGISTRY_TLS_KEY_FILE',
      'WEBHOOK_TLS_CA_FILE',
      'SERVICE_PROXY_USERNAME',
    ])
      expect(problems(valid({ [name]: 'true' }))).toContain(
        `${name}: no such option; leave it out, because nothing would act on it.`,
      );
  });

  test('shows no secret, and nothing that people paste secrets into', () => {
    const bad = { SERVICE_PASSWORD: 'hunter2\n', WEBHOOK_SECRETS: 'hunter2\u0007', SERVICE_USERNAME: 'shop:hunter2' };
    const message = problems(
      valid({ ...bad, SERVICE_BASE_URL: 'https://shop:hunter2@x', SCHEMA_REGISTRY_URL: 'x?hunter2' }),
    );
    expect(message.split('\n')).toHaveLength(6);
    expect(message).not.toContain('hunter2');
  });

  test('refuses every option with a control character in it without printing that raw', () => {
    for (const name of OPTION_NAMES) {
      const message = problems(valid({ [name]: 'a\u001B[2Jb\n' }));
      expect(message).toContain(name);
      expect(message).not.toContain('\u001B');
    }
  });
});

describe('names', () => {
  test('takes a name within two letters of an option for that option misspelt', () => {
    expect(problems(valid({ KAFKA_BROKER: 'x' }))).toContain('KAFKA_BROKERS is meant?');
    expect(problems(valid({ KAFKA_BORKERS: 'x' }))).toContain('KAFKA_BROKERS is meant?');
    expect(problems(valid({ COMMIT_INTERVALL_MS: '1' }))).toContain('COMMIT_INTERVALL_MS');
    expect(problems(valid({ SERVICE_PASSWORD_FIL: 'x' }))).toContain('SERVICE_PASSWORD_FILE is meant?');
    expect(problems(valid({ WEBHOOK_TLS_CRT_FILE: 'x' }))).toContain('WEBHOOK_TLS_CERT_FILE is meant?');
  });

  test('warns of other names with our prefixes, and refuses them when strict', () => {
    const env = valid({ KAFKA_FANCY_THING: '1' });
    expect(accepted(env).warnings).toEqual(['KAFKA_FANCY_THING: no such option; it is ignored.']);
    expect(problems({ ...env, CONFIG_STRICT: 'true' })).toContain('KAFKA_FANCY_THING');
  });

  test('leaves alone what others own', () => {
    const others = { PATH: '/bin', COMMIT_SHA: 'abc', OTEL_SERVICE_NAME: 'x', KAFKA_EMPTY: '' };
    expect(accepted(valid(others)).warnings).toEqual([]);
  });

  test('ignores what Kubernetes sets for services, also where it has the name of an option', () => {
    const links = {
      KAFKA_SERVICE_HOST: '10.0.0.1',
      KAFKA_SERVICE_PORT: '9092',
      KAFKA_SERVICE_PORT_TCP_KAFKA: '9092',
      KAFKA_PORT: 'tcp://10.0.0.1:9092',
      KAFKA_PORT_9092_TCP: 'tcp://10.0.0.1:9092',
      KAFKA_PORT_9092_TCP_ADDR: '10.0.0.1',
      WEBHOOK_PORT: 'tcp://10.0.0.1:8080',
      OPS_PORT: 'tcp://10.0.0.1:9464',
    };
    const { config, warnings } = accepted(valid({ ...links, CONFIG_STRICT: 'true' }));
    expect(warnings).toEqual([]);
    expect([config.webhook.port, config.ops.port]).toEqual([8080, 9464]);
  });
});

describe('values', () => {
  test('has the documented defaults', () => {
    const { config, warnings } = accepted(valid());
    expect(warnings).toEqual([]);
    expect(config).toEqual({
      account: 'default',
      flows: new Set(['scoring', 'sync', 'reviews']),
      kafka: {
        brokers: ['127.0.0.1:9092', 'localhost:9093'],
        clientId: 'fraud-connector',
        groupId: 'fraud-connector',
        sessionTimeoutMs: 30_000,
        startFrom: null,
        assignor: 'co-partitioned-sticky',
        onOffsetGap: 'earliest',
        tls: null,
        sasl: null,
      },
      deadLetterOffsets: new Set(),
      topics: {
        created: 'payments.created',
        authorized: 'payments.authorized',
        reviews: 'fraud.reviews',
        scores: 'fraud.scores',
        deadLetterSuffix: '.dlq',
      },
      registry: { url: 'http://localhost:8081/apis/ccompat/v7', username: null, password: null, tls: NO_TLS },
      service: {
        baseUrl: 'https://service.example/base',
        username: 'shop',
        password: PASSWORD,
        timeoutMs: 5000,
        connectTimeoutMs: 2000,
        tls: NO_TLS,
        proxyUrl: null,
        maxRequestsPerSecond: null,
        forwardIp: false,
        idempotencyHeader: null,
      },
      scoring: {
        concurrency: 64,
        limit: 'fixed',
        ordering: 'key',
        scoreOnRefusal: true,
        maxAttempts: 8,
        refuseAfterMs: 300_000,
      },
      deadLetterMaxShare: 0.05,
      sync: {
        batchMaxRecords: 100,
        batchMaxBytes: 262_144,
        batchMaxAgeMs: 500,
        batchesInFlight: 4,
        timeoutMs: 8000,
        scoreWaitMs: 30_000,
        chargebackProtection: false,
        cardMethods: [],
        unknownMethod: 'card',
        declineReasonRequired: 'always',
        reasonCodes: null,
        exemptionAsArray: false,
      },
      recordMaxBytes: 1_048_576,
      batchMaxBytes: 268_435_456,
      mapping: null,
      cardGuardExempt: [],
      buffer: { maxRecords: 10_000, maxBytes: 67_108_864, maxSpan: 1_000_000 },
      commitIntervalMs: 250,
      drainTimeoutMs: 20_000,
      webhook: {
        host: '0.0.0.0',
        port: 8080,
        path: '/webhooks/fraud',
        secrets: [SECRET],
        signatureForms: ['hex', 'base64'],
        timestampForms: ['rfc3339', 'unix_s', 'unix_ms'],
        toleranceSeconds: 300,
        maxBytes: 262_144,
        publishTimeoutMs: 3000,
        tls: null,
      },
      ops: { host: '127.0.0.1', port: 9464 },
      tracing: null,
      secretFiles: new Map(),
      logLevel: 'info',
    });
  });

  test('asks only for what the flows need', () => {
    const { KAFKA_BROKERS, SCHEMA_REGISTRY_URL } = valid();
    const kafka = { KAFKA_BROKERS, SCHEMA_REGISTRY_URL };
    expect(accepted({ ...kafka, WEBHOOK_SECRETS: SECRET, FLOWS: 'reviews' }).config.service.baseUrl).toBe('');
    expect(problems({ ...kafka, FLOWS: 'scoring,sync' })).not.toContain('WEBHOOK_SECRETS');
    expect(problems({ ...kafka, FLOWS: 'reviews' })).toContain('WEBHOOK_SECRETS');
  });

  test('lets the flag win over FLOWS', () => {
    const { config } = loadConfig({ ...source(valid({ FLOWS: 'reviews' })), flows: 'scoring,sync' });
    expect(config.flows).toEqual(new Set(['scoring', 'sync']));
  });

  test('warns where a status update may overtake its transaction', () => {
    expect(accepted(valid({ FLOWS: 'sync' })).warnings.join('\n')).toMatch(/^FLOWS: .*\nKAFKA_GROUP_ID: /);
    expect(accepted(valid({ FLOWS: 'sync', KAFKA_GROUP_ID: 'own' })).warnings).toHaveLength(1);
    expect(accepted(valid({ SYNC_SCORE_WAIT_MS: '0' })).warnings).toHaveLength(1);
  });

  test('warns where the end of an update depends on what the process remembers', () => {
    const byMethod = { SYNC_CHARGEBACK_PROTECTION: 'true', SYNC_CARD_METHODS: 'card' };
    const ofReasons = { SYNC_DECLINE_REASON_REQUIRED: 'card', SYNC_CARD_METHODS: 'card' };
    expect(accepted(valid(byMethod)).warnings.join()).toMatch(/^SYNC_UNKNOWN_METHOD: .*replay.*=send/);
    expect(accepted(valid(ofReasons)).warnings.join()).toMatch(/^SYNC_UNKNOWN_METHOD: /);
    expect(accepted(valid({ ...byMethod, SYNC_UNKNOWN_METHOD: 'send' })).warnings).toEqual([]);
    expect(accepted(valid({ ...byMethod, ...ofReasons, SYNC_CARD_METHODS: '' })).warnings).toEqual([]);
  });

  test('reads a secret from its file without the newline at its end, and refuses it given twice', () => {
    const files = { '/run/pw': `${PASSWORD}\n`, '/run/keys': `${SECRET}-new\n\n${SECRET}\r\n` };
    const env = valid({ SERVICE_PASSWORD: undefined, SERVICE_PASSWORD_FILE: '/run/pw' });
    expect(accepted(env, files).config.service.password).toBe(PASSWORD);
    expect(problems(valid({ SERVICE_PASSWORD_FILE: '/run/pw' }), files)).toContain('given twice');
    expect(problems({ ...env, SERVICE_PASSWORD_FILE: '/run/none' }, files)).toContain('cannot be read (Error ENOENT)');
    const keys = valid({ WEBHOOK_SECRETS: undefined, WEBHOOK_SECRETS_FILE: '/run/keys' });
    expect(accepted(keys, files).config.webhook.secrets).toEqual([`${SECRET}-new`, SECRET]);
  });

  test('keeps the bytes of a password as they are', () => {
    expect(accepted(valid({ SERVICE_PASSWORD: ' #ä"$ ' })).config.service.password).toBe(' #ä"$ ');
  });

  test('warns of a webhook secret below 24 bytes and takes it, for the service chooses it', () => {
    const { config, warnings } = accepted(valid({ WEBHOOK_SECRETS: `k,${SECRET}` }));
    expect(config.webhook.secrets).toEqual(['k', SECRET]);
    expect(warnings).toEqual([expect.stringMatching(/^WEBHOOK_SECRETS: .*24 bytes.*WEBHOOK_SECRETS_FILE/)]);
    expect(accepted(valid({ WEBHOOK_SECRETS: 'ä'.repeat(12) })).warnings).toEqual([]);
  });

  test('takes an empty TOPIC_SCORES for no score records, and an empty text elsewhere for not given', () => {
    const { config } = accepted(valid({ TOPIC_SCORES: '', TOPIC_CREATED: '', SCORING_CONCURRENCY: '' }));
    expect(config.topics).toMatchObject({ scores: null, created: 'payments.created' });
    expect(config.scoring.concurrency).toBe(64);
  });

  test('reads the mapping file as it is, and refuses one that is empty or not there', () => {
    const env = valid({ MAPPING_FILE: '/m.yaml' });
    expect(accepted(env, { '/m.yaml': 'scoring: {}\n' }).config.mapping).toBe('scoring: {}');
    expect(problems(env, { '/m.yaml': ' \n' })).toContain('MAPPING_FILE: what is given is not accepted');
    expect(problems(env)).toContain('MAPPING_FILE: the file "/m.yaml" cannot be read');
  });

  test('reads issuer reason codes one a line', () => {
    const env = valid({ SYNC_ISSUER_REASON_CODES_FILE: '/codes' });
    expect(accepted(env, { '/codes': '# known\n05\r\n\n 51 \n' }).config.sync.reasonCodes).toEqual(
      new Set(['05', '51']),
    );
    expect(problems(env, { '/codes': '# none\n' })).toContain('at least one value');
  });
});

test('never fails but by a Fault, and never shows a secret, whatever is given', () => {
  const names = fc.constantFrom(...OPTION_NAMES);
  const canary = 'canary-4242';
  fc.assert(
    fc.property(fc.dictionary(names, fc.string({ unit: 'binary' })), (given) => {
      const hidden = OPTION_NAMES.filter((name) => OPTIONS[name].secret && name in given);
      const env = { ...valid(), ...given, ...Object.fromEntries(hidden.map((name) => [name, `${canary}\0`])) };
      const said = outcomeOf(env);
      expect(said).not.toContain(canary);
      expect(said).toMatch(/^(accepted|CONFIG_INVALID)/);
    }),
  );
});
