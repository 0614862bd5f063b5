import { describe, expect, test } from 'vitest';
import { type Config } from '../../../src/config/config.ts';
import { judgeConfig, loadConfig } from '../../../src/config/load.ts';
import { showConfig } from '../../../src/config/print.ts';
import { traceHeadersOf } from '../../../src/config/tracing.ts';
import { selfSigned } from '../../support/certificates.ts';

type Env = Readonly<Record<string, string>>;

const VALID: Env = {
  KAFKA_BROKERS: 'localhost:9092',
  SCHEMA_REGISTRY_URL: 'http://localhost:8081',
  SERVICE_BASE_URL: 'http://localhost:8090',
  SERVICE_USERNAME: 'u',
  SERVICE_PASSWORD: 'p',
  FLOWS: 'scoring,sync',
};
const ON = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' };

function tracingOf(env: Env, files: Env = {}): Config['tracing'] {
  return loadConfig({ env: { ...VALID, ...env }, readFile: (path) => files[path] ?? '' }).config.tracing;
}

function problemsOf(env: Env, files: Env = {}): readonly string[] {
  return judgeConfig({ env: { ...VALID, ...env }, readFile: (path) => files[path] ?? '' }).problems;
}

describe('refused, with what is accepted, is', () => {
  test.each<[Env, string]>([
    [
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
      'OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" is not accepted; give one of `http/protobuf`.',
    ],
    [
      { OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' },
      'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json" is not accepted; give one of `http/protobuf`.',
    ],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER: "zipkin" is not accepted; give one of `otlp`, `none`.'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:hunter2@localhost:4318' },
      'OTEL_EXPORTER_OTLP_ENDPOINT: what is given is not accepted; give an http or https URL without user info, query and fragment.',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'authorization' },
      'OTEL_EXPORTER_OTLP_HEADERS: what is given is not accepted; give `name=value`, comma separated, values percent-encoded.',
    ],
    [
      { OTEL_EXPORTER_OTLP_HEADERS: 'a=line%0Aend' },
      'OTEL_EXPORTER_OTLP_HEADERS: what is given is not accepted; give `name=value`, comma separated, values percent-encoded.',
    ],
    [
      { OTEL_RESOURCE_ATTRIBUTES: 'a=%zz' },
      'OTEL_RESOURCE_ATTRIBUTES: "a=%zz" is not accepted; give `name=value`, comma separated, values percent-encoded.',
    ],
    [
      { OTEL_TRACES_SAMPLER_ARG: '2' },
      'OTEL_TRACES_SAMPLER_ARG: "2" is not accepted; give a number from 0 to 1 such as `0.05`.',
    ],
  ])('%j', (env, problem) => {
    expect(problemsOf({ ...ON, ...env })).toEqual([problem]);
  });

  test('an unknown sampler, by naming the known ones', () => {
    const [problem] = problemsOf({ ...ON, OTEL_TRACES_SAMPLER: 'jaeger_remote' });
    expect(problem).toContain('`parentbased_traceidratio`');
  });

  test('what TLS cannot use', () => {
    const { certificate, key } = selfSigned();
    const files = { ca: 'x', crt: certificate, key, other: selfSigned().key };
    expect(problemsOf({ ...ON, OTEL_EXPORTER_OTLP_CERTIFICATE: 'ca' }, files)).toEqual([
      'OTEL_EXPORTER_OTLP_CERTIFICATE: the file holds no certificate in PEM.',
    ]);
    expect(problemsOf({ ...ON, OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: 'crt' }, files)[0]).toContain(
      'one without the other',
    );
    const pair = { OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: 'crt', OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: 'other' };
    expect(problemsOf({ ...ON, ...pair }, files)[0]).toContain('the key does not belong to the first certificate');
    expect(problemsOf({ ...ON, ...pair, OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: 'key' }, files)).toEqual([]);
  });
});

describe('tracing is off', () => {
  test.each<[string, Env]>([
    ['without an endpoint', { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_EXPORTER: 'otlp' }],
    ['with OTEL_SDK_DISABLED', { ...ON, OTEL_SDK_DISABLED: 'true' }],
    ['with no exporter', { ...ON, OTEL_TRACES_EXPORTER: 'none' }],
  ])('%s', (_what, env) => {
    expect(tracingOf(env)).toBeNull();
  });
});

describe('tracing is on', () => {
  test('where an endpoint is given, with the defaults of OpenTelemetry', () => {
    expect(tracingOf(ON)).toEqual({
      url: 'http://localhost:4318/v1/traces',
      headers: { OTEL_EXPORTER_OTLP_HEADERS: new Map(), OTEL_EXPORTER_OTLP_TRACES_HEADERS: new Map() },
      timeoutMs: 10_000,
      compression: 'none',
      tls: { authorities: null, certificate: null, key: null },
      serviceName: 'fraud-screening-connector',
      resource: new Map(),
      sampler: 'parentbased_always_on',
      ratio: 1,
      queue: { delayMs: 5000, exportTimeoutMs: 30_000, maxSpans: 2048, batchSpans: 512 },
    });
  });

  test('at the endpoint for all signals below its path, at the one for traces as it is', () => {
    expect(tracingOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c.test/otlp/' })?.url).toBe(
      'https://c.test/otlp/v1/traces',
    );
    expect(tracingOf({ ...ON, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c.test/mine' })?.url).toBe(
      'https://c.test/mine',
    );
  });

  test('with what is given for traces before what is given for all', () => {
    const settings = tracingOf({
      ...ON,
      OTEL_EXPORTER_OTLP_TIMEOUT: '1',
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '2',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'none',
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20abc, x-tenant=a=b',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'authorization=other',
    });
    expect(settings).toMatchObject({ timeoutMs: 2, compression: 'none' });
    expect(settings === null ? null : [...traceHeadersOf(settings.headers)]).toEqual([
      ['authorization', 'other'],
      ['x-tenant', 'a=b'],
    ]);
  });

  test('under the name that is given, or that the resource has', () => {
    const resource = { OTEL_RESOURCE_ATTRIBUTES: 'service.name=mine,deployment.environment.name=live%2Ceu' };
    expect(tracingOf({ ...ON, ...resource })).toMatchObject({
      serviceName: 'mine',
      resource: new Map([
        ['service.name', 'mine'],
        ['deployment.environment.name', 'live,eu'],
      ]),
    });
    expect(tracingOf({ ...ON, ...resource, OTEL_SERVICE_NAME: 'other' })?.serviceName).toBe('other');
  });

  test('with no more spans in an export than in the queue', () => {
    expect(tracingOf({ ...ON, OTEL_BSP_MAX_QUEUE_SIZE: '100' })?.queue).toMatchObject({
      maxSpans: 100,
      batchSpans: 100,
    });
  });
});

test('headers may stand in a file, are never shown, and are warned of where others could read them', () => {
  const env = {
    ...VALID,
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector.test:4318',
    OTEL_EXPORTER_OTLP_HEADERS_FILE: 'headers',
  };
  const source = { env, readFile: (path: string) => (path === 'headers' ? 'authorization=canary123\n' : '') };
  const { config, warnings } = loadConfig(source);
  expect([...(config.tracing?.headers.OTEL_EXPORTER_OTLP_HEADERS ?? [])]).toEqual([['authorization', 'canary123']]);
  expect(config.secretFiles.get('OTEL_EXPORTER_OTLP_HEADERS')).toBe('headers');
  expect(warnings).toEqual([
    'OTEL_EXPORTER_OTLP_ENDPOINT: http to another machine shows the headers of OTEL_EXPORTER_OTLP_HEADERS.',
  ]);
  expect(JSON.stringify(showConfig(source))).not.toContain('canary');
});

test('names of OpenTelemetry that are not read are nobody’s mistake', () => {
  const { problems, warnings } = judgeConfig({
    env: { ...VALID, CONFIG_STRICT: 'true', OTEL_METRICS_EXPORTER: 'none', OTEL_BLRP_SCHEDULE_DELAY: '1' },
    readFile: () => '',
  });
  expect([...problems, ...warnings]).toEqual([]);
});
