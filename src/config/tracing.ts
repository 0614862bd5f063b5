import {
  choice,
  derivedInteger,
  flag,
  integer,
  isPrivateOnTheWire,
  type Option,
  type Said,
  secret,
  share,
  text,
  textFile,
  url,
} from './kinds.ts';
import { authoritiesProblem, readKeyPair } from './pem.ts';
import { type Rule } from './rule.ts';

/** Names and values. */
export type Pairs = ReadonlyMap<string, string>;

/** Which traces are told of, as OpenTelemetry names it. */
export type TraceSampler =
  | 'always_on'
  | 'always_off'
  | 'traceidratio'
  | 'parentbased_always_on'
  | 'parentbased_always_off'
  | 'parentbased_traceidratio';

type Compression = 'none' | 'gzip';

/** How the collector is reached. */
interface ExporterValues {
  readonly ENDPOINT: string;
  readonly PROTOCOL: 'http/protobuf' | null;
  readonly HEADERS: Pairs;
  readonly TIMEOUT: number | null;
  readonly COMPRESSION: Compression | null;
  readonly CERTIFICATE: string | null;
  readonly CLIENT_CERTIFICATE: string | null;
  readonly CLIENT_KEY: string | null;
}

type ForAll = { readonly [N in keyof ExporterValues as `OTEL_EXPORTER_OTLP_${N}`]: ExporterValues[N] };
type ForTraces = { readonly [N in keyof ExporterValues as `OTEL_EXPORTER_OTLP_TRACES_${N}`]: ExporterValues[N] };

/** The variables of OpenTelemetry that are read, under the names that its specification gives them. */
export interface TracingValues extends ForAll, ForTraces {
  readonly OTEL_SDK_DISABLED: boolean;
  readonly OTEL_TRACES_EXPORTER: 'otlp' | 'none';
  readonly OTEL_SERVICE_NAME: string;
  readonly OTEL_RESOURCE_ATTRIBUTES: Pairs;
  readonly OTEL_TRACES_SAMPLER: TraceSampler;
  readonly OTEL_TRACES_SAMPLER_ARG: number;
  readonly OTEL_BSP_SCHEDULE_DELAY: number;
  readonly OTEL_BSP_EXPORT_TIMEOUT: number;
  readonly OTEL_BSP_MAX_QUEUE_SIZE: number;
  readonly OTEL_BSP_MAX_EXPORT_BATCH_SIZE: number;
}

export type TracingSecretName = keyof TraceHeaderOptions;

/** The values of the two options of headers. */
export interface TraceHeaderOptions {
  readonly OTEL_EXPORTER_OTLP_HEADERS: Pairs;
  readonly OTEL_EXPORTER_OTLP_TRACES_HEADERS: Pairs;
}

/** How and where traces are told. */
export interface TracingSettings {
  readonly url: string;
  /** May hold a token. */
  readonly headers: TraceHeaderOptions;
  /** For one export, repeats included. */
  readonly timeoutMs: number;
  readonly compression: Compression;
  /** Texts in PEM; null: none. */
  readonly tls: {
    readonly authorities: string | null;
    readonly certificate: string | null;
    readonly key: string | null;
  };
  readonly serviceName: string;
  readonly resource: Pairs;
  readonly sampler: TraceSampler;
  /** Of the samplers whose name ends with `traceidratio`. */
  readonly ratio: number;
  readonly queue: {
    readonly delayMs: number;
    readonly exportTimeoutMs: number;
    readonly maxSpans: number;
    readonly batchSpans: number;
  };
}

const MILLISECONDS = { min: 1, max: 600_000, unit: 'milliseconds' } as const;
const TIMEOUT_MS = 10_000;
/** RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const RESOURCE_NAME = /^[\x21-\x2b\x2d-\x3c\x3e-\x7e]{1,255}$/;
const NO_PAIRS: Pairs = new Map();
/** No headers. */
export const NO_TRACE_HEADERS: TraceHeaderOptions = {
  OTEL_EXPORTER_OTLP_HEADERS: NO_PAIRS,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: NO_PAIRS,
};

/** `name=value`, comma separated, values percent-encoded (W3C Baggage, without properties); undefined: it is not that. */
function readPairs(given: string, nameOf: RegExp): Pairs | undefined {
  const pairs = new Map<string, string>();
  for (const part of given.split(',').filter((each) => each.trim() !== '')) {
    const at = part.indexOf('=');
    const name = part.slice(0, Math.max(0, at)).trim();
    try {
      const value = decodeURIComponent(part.slice(at + 1).trim());
      if (!nameOf.test(name) || /\p{Cc}/u.test(value)) return undefined;
      pairs.set(name, value);
    } catch {
      return undefined;
    }
  }
  return pairs.size === 0 ? undefined : pairs;
}

const PAIRS = '`name=value`, comma separated, values percent-encoded';

function secretPairs(said: Said): Option<Pairs> {
  return {
    ...secret(said),
    accepts: PAIRS,
    read: (given) => readPairs(given, HEADER_NAME),
    absent: NO_PAIRS,
    show: (value) => (value.size === 0 ? '' : `(set: ${String(value.size)})`),
  };
}

function shownPairs(said: Said): Option<Pairs> {
  return {
    ...text({ ...said, accepts: PAIRS, pattern: /^/ }),
    read: (given) => readPairs(given, RESOURCE_NAME),
    absent: NO_PAIRS,
    show: (value) => [...value].map(([name, one]) => `${name}=${encodeURIComponent(one)}`).join(','),
  };
}

function optional<T>(row: Option<T>, shownDefault: string): Option<T | null> {
  const show = (value: T | null): string => (value === null ? '' : row.show(value));
  return { ...row, absent: null, shownDefault, show };
}

type ExporterRows = { readonly [N in keyof ExporterValues]: Option<ExporterValues[N]> };

/** The rows of how the collector is reached, for all signals or for traces: the words of `say` come after what each is. */
function exporterRows(say: (name: keyof ExporterValues, what: string) => string): ExporterRows {
  const doc = (name: keyof ExporterValues, what: string): Said => ({ doc: say(name, what) });
  return {
    ENDPOINT: url(
      doc(
        'ENDPOINT',
        'Where a collector takes OTLP over HTTP; traces go to `/v1/traces` below it. Tracing is on where this is given.',
      ),
    ),
    PROTOCOL: optional(
      choice({
        ...doc('PROTOCOL', 'How traces are told. No other protocol is supported.'),
        of: ['http/protobuf'],
        absent: 'http/protobuf',
      }),
      '`http/protobuf`',
    ),
    HEADERS: secretPairs(doc('HEADERS', 'Headers that the collector asks for, such as a token.')),
    TIMEOUT: derivedInteger({
      ...MILLISECONDS,
      ...doc('TIMEOUT', 'For one export, its repeats included.'),
      shownDefault: `\`${String(TIMEOUT_MS)}\``,
    }),
    COMPRESSION: optional(
      choice({ ...doc('COMPRESSION', 'Of what is exported.'), of: ['none', 'gzip'], absent: 'none' }),
      '`none`',
    ),
    CERTIFICATE: textFile(
      doc('CERTIFICATE', 'Certificates in PEM of the authorities that the collector is believed by.'),
    ),
    CLIENT_CERTIFICATE: textFile(doc('CLIENT_CERTIFICATE', 'Certificate in PEM that is shown to the collector.')),
    CLIENT_KEY: textFile(doc('CLIENT_KEY', 'Private key of that certificate in PEM.')),
  };
}

const forAll = exporterRows((_name, what) => what);
const forTraces = exporterRows((name) =>
  name === 'ENDPOINT'
    ? 'The whole URL that traces are posted to; wins over `OTEL_EXPORTER_OTLP_ENDPOINT`. Tracing is on where this is given.'
    : `The same for traces alone; wins over \`OTEL_EXPORTER_OTLP_${name}\`.`,
);

/** The rows of the table of options that OpenTelemetry has named. */
export const TRACING_OPTIONS: { readonly [N in keyof TracingValues]: Option<TracingValues[N]> } = {
  OTEL_SDK_DISABLED: flag({ absent: false, doc: 'No tracing, whatever else is given.' }),
  OTEL_TRACES_EXPORTER: choice({
    of: ['otlp', 'none'],
    absent: 'otlp',
    doc: 'What traces are told by; `none`: no tracing.',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: forAll.ENDPOINT,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: forTraces.ENDPOINT,
  OTEL_EXPORTER_OTLP_PROTOCOL: forAll.PROTOCOL,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: forTraces.PROTOCOL,
  OTEL_EXPORTER_OTLP_HEADERS: forAll.HEADERS,
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: forTraces.HEADERS,
  OTEL_EXPORTER_OTLP_TIMEOUT: forAll.TIMEOUT,
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: forTraces.TIMEOUT,
  OTEL_EXPORTER_OTLP_COMPRESSION: forAll.COMPRESSION,
  OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: forTraces.COMPRESSION,
  OTEL_EXPORTER_OTLP_CERTIFICATE: forAll.CERTIFICATE,
  OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE: forTraces.CERTIFICATE,
  OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: forAll.CLIENT_CERTIFICATE,
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE: forTraces.CLIENT_CERTIFICATE,
  OTEL_EXPORTER_OTLP_CLIENT_KEY: forAll.CLIENT_KEY,
  OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: forTraces.CLIENT_KEY,
  OTEL_SERVICE_NAME: text({
    accepts: 'a text of printable characters',
    pattern: /^\P{Cc}{1,255}$/u,
    doc: 'Names this program in traces. None: `service.name` of `OTEL_RESOURCE_ATTRIBUTES`, else `fraud-screening-connector`.',
  }),
  OTEL_RESOURCE_ATTRIBUTES: shownPairs({ doc: 'Said of every span, for example `deployment.environment.name=live`.' }),
  OTEL_TRACES_SAMPLER: choice({
    of: [
      'parentbased_always_on',
      'parentbased_always_off',
      'parentbased_traceidratio',
      'always_on',
      'always_off',
      'traceidratio',
    ],
    absent: 'parentbased_always_on',
    doc: 'Which traces are told: `parentbased_…` follows the `traceparent` of a record and decides itself where there is none.',
  }),
  OTEL_TRACES_SAMPLER_ARG: share({ absent: 1, doc: 'The share of traces that `…traceidratio` tells.' }),
  OTEL_BSP_SCHEDULE_DELAY: integer({ ...MILLISECONDS, absent: 5000, doc: 'Pause between two exports, at most.' }),
  OTEL_BSP_EXPORT_TIMEOUT: integer({
    ...MILLISECONDS,
    absent: 30_000,
    doc: 'After so long the next export begins all the same.',
  }),
  OTEL_BSP_MAX_QUEUE_SIZE: integer({
    min: 1,
    max: 1_000_000,
    absent: 2048,
    doc: 'Spans that wait; what is above it is dropped and counted.',
  }),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: integer({ min: 1, max: 100_000, absent: 512, doc: 'Spans in one export, at most.' }),
};

function endpointOf(values: TracingValues): string {
  const { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: own, OTEL_EXPORTER_OTLP_ENDPOINT: common } = values;
  if (own !== '') return own;
  return common === '' ? '' : `${common}/v1/traces`;
}

/** The headers of an export: those for traces win, name by name, over those for all. */
export function traceHeadersOf(options: TraceHeaderOptions): Pairs {
  const given = [...options.OTEL_EXPORTER_OTLP_HEADERS, ...options.OTEL_EXPORTER_OTLP_TRACES_HEADERS];
  return new Map(given.map(([name, value]) => [name.toLowerCase(), value]));
}

/** How traces are told; null: tracing is off. */
export function toTracing(values: TracingValues): TracingSettings | null {
  const at = endpointOf(values);
  if (at === '' || values.OTEL_SDK_DISABLED || values.OTEL_TRACES_EXPORTER === 'none') return null;
  const { OTEL_RESOURCE_ATTRIBUTES: resource, OTEL_SERVICE_NAME: named } = values;
  const queueMost = values.OTEL_BSP_MAX_QUEUE_SIZE;
  return {
    url: at,
    headers: {
      OTEL_EXPORTER_OTLP_HEADERS: values.OTEL_EXPORTER_OTLP_HEADERS,
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: values.OTEL_EXPORTER_OTLP_TRACES_HEADERS,
    },
    timeoutMs: values.OTEL_EXPORTER_OTLP_TRACES_TIMEOUT ?? values.OTEL_EXPORTER_OTLP_TIMEOUT ?? TIMEOUT_MS,
    compression: values.OTEL_EXPORTER_OTLP_TRACES_COMPRESSION ?? values.OTEL_EXPORTER_OTLP_COMPRESSION ?? 'none',
    tls: {
      authorities: values.OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE ?? values.OTEL_EXPORTER_OTLP_CERTIFICATE,
      certificate: values.OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE ?? values.OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE,
      key: values.OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY ?? values.OTEL_EXPORTER_OTLP_CLIENT_KEY,
    },
    serviceName: named === '' ? (resource.get('service.name') ?? 'fraud-screening-connector') : named,
    resource,
    sampler: values.OTEL_TRACES_SAMPLER,
    ratio: values.OTEL_TRACES_SAMPLER_ARG,
    queue: {
      delayMs: values.OTEL_BSP_SCHEDULE_DELAY,
      exportTimeoutMs: values.OTEL_BSP_EXPORT_TIMEOUT,
      maxSpans: queueMost,
      batchSpans: Math.min(queueMost, values.OTEL_BSP_MAX_EXPORT_BATCH_SIZE),
    },
  };
}

/** What has to hold between the options of tracing: what it shows and believes in TLS can be used. */
export const TRACING_RULES: readonly Rule[] = [
  {
    over: ['OTEL_EXPORTER_OTLP_CERTIFICATE', 'OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE'],
    judge: (values) => {
      const authorities = toTracing(values)?.tls.authorities ?? null;
      const problem = authorities === null ? null : authoritiesProblem(authorities);
      return problem === null ? null : `OTEL_EXPORTER_OTLP_CERTIFICATE: the file ${problem}.`;
    },
  },
  {
    over: [
      'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE',
      'OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE',
      'OTEL_EXPORTER_OTLP_CLIENT_KEY',
      'OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY',
    ],
    judge: (values) => {
      const { certificate = null, key = null } = toTracing(values)?.tls ?? {};
      const both = 'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY';
      if ((certificate === null) !== (key === null)) return `${both}: one without the other; give both or none.`;
      const read = certificate === null || key === null ? null : readKeyPair(certificate, key);
      if (read === null || !('problem' in read)) return null;
      const at = { certificate: 'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE', key: 'OTEL_EXPORTER_OTLP_CLIENT_KEY', both };
      return `${at[read.of]}: ${read.of === 'both' ? '' : 'the file '}${read.problem}.`;
    },
  },
];

/** What is odd about the options of tracing. */
export function tracingWarnings(values: TracingValues): readonly string[] {
  const settings = toTracing(values);
  return settings !== null && traceHeadersOf(settings.headers).size > 0 && !isPrivateOnTheWire(settings.url)
    ? ['OTEL_EXPORTER_OTLP_ENDPOINT: http to another machine shows the headers of OTEL_EXPORTER_OTLP_HEADERS.']
    : [];
}
