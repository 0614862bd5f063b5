import { type Config } from '../config/config.ts';
import { callHeaders, TRANSACTION_PATH, userAgentOf } from '../edges/screening-api/request.ts';
import { type EngineSignals, type Flow, type SourceRecord, type ValueDecoder } from '../engine/ports.ts';
import { decodeRecord } from '../flows/decode.ts';
import { type Clock, type Draw } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { Fault } from '../kernel/fault.ts';
import { type Letter, letterRow, type Settlement, SKIPS } from '../kernel/outcome.ts';
import { type Mapping } from '../mapping/mapper.ts';
import { isTooDeep, parseKeepingNumbers } from '../mapping/tokens.ts';
import { type Exchange, type ScreeningApi } from '../resilience/ports.ts';
import { validate } from '../sandbox/service/validation.ts';
import { createCardGuard } from '../screening/card-guard.ts';
import { LateEncoder } from './late-encoder.ts';
import { wireFlows } from './flows.ts';
import { DATAPOINTS } from './mapping.ts';

export type ExplainedFlow = keyof Mapping;

export interface ExplainParts {
  readonly config: Config;
  readonly mapping: Mapping;
  readonly flow: ExplainedFlow;
  readonly version: string;
  readonly clock: Clock;
  readonly draw: Draw;
}

/** What goes out under one name, as JSON, and where it comes from. */
export interface ExplainedField {
  readonly name: string;
  readonly value: unknown;
  /** In the words of the mapping file; `as it came` where nothing is mapped. */
  readonly from: string;
}

/** A request as it would be sent, without its token. */
export interface ExplainedRequest {
  readonly method: 'POST' | 'PATCH';
  /** Begins with `SERVICE_BASE_URL` by name where that is not configured. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What becomes of one record. */
export interface Explanation {
  readonly outcome: 'send' | 'dead_letter' | 'skip' | 'unreadable';
  /** The code of a letter or a rule, with what it means and what to do about it. */
  readonly why: {
    readonly code: string;
    readonly detail: string | null;
    readonly means: string;
    readonly mend: string;
  } | null;
  readonly transId: string | null;
  /** Records of one lane are sent one after the other. Without a key, as here. */
  readonly lane: string | null;
  readonly fields: readonly ExplainedField[];
  /** What is odd about it: fields left out, and what the service may find wrong. */
  readonly findings: readonly string[];
  readonly request: ExplainedRequest | null;
}

/** A request as the flow made it. */
interface KeptRequest {
  readonly method: ExplainedRequest['method'];
  readonly body: Buffer;
  /** Of this record's own, name and value by turns. */
  readonly headers: readonly string[];
}

/** Stands for a value that is made of the record's place in the log, which is not known here. */
const NO_POSITION = "(SHA-256 of the record's place in the log and its trans_id)";
/** Avro needs a registry to be read; this asks none. */
const NO_AVRO: ValueDecoder = { decode: () => ({ do: 'needs', schema: 0 }) };
const NO_SIGNALS: EngineSignals = {
  wake: () => undefined,
  changed: () => undefined,
  hurry: () => undefined,
  position: () => null,
  oldestHeldMs: () => null,
  failingFill: () => 0,
};

/** Says what the flow itself makes of a record, up to the request, which is kept and not sent. */
export async function explainRecord(bytes: Buffer, parts: ExplainParts): Promise<Explanation> {
  const { config, mapping, flow: name } = parts;
  const topic = name === 'scoring' ? config.topics.created : config.topics.authorized;
  const record: SourceRecord = {
    topic,
    partition: 0,
    offset: 0n,
    timestampMs: 0,
    key: null,
    value: bytes,
    headers: {},
  };
  const findings: string[] = [];
  const sent: ExplainedRequest[] = [];
  const flow = flowOf(parts, topic, emitTo(findings), (request) => sent.push(requestOf(parts, request)));
  const reader = {
    decoder: NO_AVRO,
    recordMaxBytes: config.recordMaxBytes,
    mapper: mapping[name],
    guard: createCardGuard(config.cardGuardExempt),
  };
  const decoded = decodeRecord(record, reader);
  const fields = decoded.do === 'object' ? fieldsOf(decoded.json ?? bytes, mapping[name]?.origins ?? null) : [];
  const reading = flow.read(record);
  const seen = { fields, findings, transId: null, lane: null, request: null };
  if (reading.do === 'needs') return { ...seen, outcome: 'unreadable', why: AVRO };
  if (reading.do !== 'item') return { ...seen, ...endOf(reading) };
  const { item } = reading;
  const lane = flow.lane(item, record);
  const tenure = { epoch: 1, phase: 'owned' } as const;
  const step = await flow.run({ record, item, attempt: 1, carry: undefined, tenure, lane, ordinal: 0 });
  const known = { ...seen, transId: lane, lane };
  findings.push(...judge(name, decoded.do === 'object' ? decoded.value : {}));
  const [request] = sent;
  if (request !== undefined) return { ...known, outcome: 'send', why: null, request };
  if (step.do === 'wait' || step.do === 'release') throw new Fault('INTERNAL', 'The flow made no request of a record.');
  return { ...known, ...endOf(step) };
}

const AVRO: Explanation['why'] = {
  code: 'avro',
  detail: null,
  means: 'The record begins with byte 0, so it is Avro, which cannot be read without the registry.',
  mend: 'Give the record as JSON.',
};

/** The flow as it runs in the connector, on a service that is never reached. */
function flowOf(
  { config, mapping, clock, draw, flow }: ExplainParts,
  topic: string,
  emit: Emit,
  keep: (request: KeptRequest) => void,
): Flow<unknown, unknown> {
  const fenced = async (request: KeptRequest): Promise<Exchange> => {
    keep(request);
    return await Promise.resolve({ do: 'fenced' });
  };
  const api: ScreeningApi = {
    score: async (body, headers = []) => await fenced({ method: 'POST', body, headers }),
    sync: async (body) => await fenced({ method: 'PATCH', body, headers: [] }),
  };
  const alone: Config = {
    ...config,
    flows: new Set([flow]),
    topics: { ...config.topics, scores: null },
    sync: { ...config.sync, batchMaxRecords: 1 },
  };
  const wired = wireFlows(
    {
      config: alone,
      mapping,
      registry: { decoder: () => NO_AVRO },
      writer: { write: async () => await Promise.resolve({ do: 'unavailable', error: 'explain' }) },
      scoreEncoder: new LateEncoder(),
      clock,
      draw,
      emit,
    },
    api,
  );
  const found = wired.byTopic.get(topic);
  if (found === undefined) throw new Fault('INTERNAL', `There is no flow ${flow}.`);
  found.attach(NO_SIGNALS);
  return found;
}

function requestOf({ config, version }: ExplainParts, { method, body, headers }: KeptRequest): ExplainedRequest {
  const list = [...callHeaders('(not shown)', userAgentOf(version)), ...headers];
  const { idempotencyHeader } = config.service;
  const names = list.flatMap((text, index) =>
    index % 2 === 0 ? [[text, text === idempotencyHeader ? NO_POSITION : (list[index + 1] ?? '')] as const] : [],
  );
  const base = config.service.baseUrl === '' ? '{SERVICE_BASE_URL}' : config.service.baseUrl;
  return { method, url: `${base}${TRANSACTION_PATH}`, headers: Object.fromEntries(names), body: body.toString('utf8') };
}

function endOf(end: Settlement): Pick<Explanation, 'outcome' | 'why'> {
  if (end.do === 'skip') return { outcome: 'skip', why: { code: end.rule, detail: null, ...SKIPS[end.rule] } };
  if (end.do === 'dead_letter') return { outcome: 'dead_letter', why: whyOf(end.letter) };
  throw new Fault('INTERNAL', 'The flow delivered a record without a request.');
}

function whyOf({ reason, detail }: Letter): NonNullable<Explanation['why']> {
  return { code: reason, detail: detail ?? null, ...letterRow(reason) };
}

/** Of the fields that are made, each with where it comes from; numbers as they are written. */
function fieldsOf(json: Buffer, origins: ReadonlyMap<string, string> | null): readonly ExplainedField[] {
  // What nothing walks on its way to the service is not walked here either.
  if (isTooDeep(json)) return [];
  const value = parseKeepingNumbers(json.toString('utf8')) as Readonly<Record<string, unknown>>;
  return Object.entries(value).map(([name, each]) => ({ name, value: each, from: origins?.get(name) ?? 'as it came' }));
}

/** What the flow says of a record while it works on it. */
function emitTo(findings: string[]): Emit {
  return (event, fields) => {
    const said = fields as Readonly<Record<string, unknown>>;
    if (event === 'update_field_dropped' && said['field'] !== 'unknown')
      findings.push(`${String(said['field'])}: left out, because its status or its value does not allow it`);
    if (event === 'update_noted') findings.push(`note: ${String(said['note'])}`);
  };
}

/** What the description of the service says against the values; the service itself may see it otherwise. */
function judge(flow: ExplainedFlow, value: Readonly<Record<string, unknown>>): readonly string[] {
  if (flow === 'scoring') return validate(value).map(({ datapoint, msg }) => `${datapoint}: ${msg}`);
  const unknown = Object.keys(value).filter((name) => !DATAPOINTS.sync.has(name));
  return unknown.map((name) => `${name}: left out, because a status update has no such field`);
}
