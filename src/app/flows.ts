import { type Config } from '../config/config.ts';
import { createScreeningApi, type ScreeningApiEdge } from '../edges/screening-api/client.ts';
import { type SchemaRegistryEdge } from '../edges/schema-registry/registry.ts';
import { type Flow, type RecordWriter, type ValueEncoder } from '../engine/ports.ts';
import { Alignment } from '../flows/sync/alignment.ts';
import { SyncFlow } from '../flows/sync/flow.ts';
import { ScoringFlow } from '../flows/scoring/flow.ts';
import { type Clock, type Draw } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { type Fence } from '../kernel/fence.ts';
import { Caller } from '../resilience/caller.ts';
import { type FraudScore, PAYMENT_AUTHORIZED_SCHEMA, PAYMENT_CREATED_SCHEMA } from '../screening/avro.generated.ts';
import { writeDeadlineMs } from './parts.ts';

export interface FlowParts {
  readonly config: Config;
  readonly version: string;
  readonly registry: SchemaRegistryEdge;
  readonly writer: RecordWriter;
  readonly scoreEncoder: ValueEncoder<FraudScore>;
  readonly fence: Fence;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
}

export interface Flows {
  /** By the topic that each reads. */
  readonly byTopic: ReadonlyMap<string, Flow<unknown, unknown>>;
  readonly alignment: Alignment;
  readonly api: ScreeningApiEdge;
}

/** Scoring and sync of a configuration, with the client and the alignment that they share. */
export function createFlows(parts: FlowParts): Flows {
  const { config, clock, draw, emit, fence, version } = parts;
  const { flows, topics, service, scoring, sync } = config;
  const api = createScreeningApi(
    {
      baseUrl: service.baseUrl,
      version,
      scoringConnections: scoring.concurrency,
      syncConnections: sync.batchesInFlight,
      timeoutMs: service.timeoutMs,
      syncTimeoutMs: sync.timeoutMs,
      connectTimeoutMs: service.connectTimeoutMs,
    },
    { clock, draw, emit, fence, credentials: () => ({ username: service.username, password: service.password }) },
  );
  const alignment = new Alignment({
    topicCreated: topics.created,
    ordering: scoring.ordering,
    scoreWaitMs: flows.has('scoring') ? sync.scoreWaitMs : 0,
    emit,
  });
  const byTopic = new Map<string, Flow<unknown, unknown>>();
  if (flows.has('scoring')) byTopic.set(topics.created, createScoring(parts, api, alignment));
  if (flows.has('sync')) byTopic.set(topics.authorized, createSync(parts, api, alignment));
  return { byTopic, alignment, api };
}

function createScoring(parts: FlowParts, api: ScreeningApiEdge, alignment: Alignment): ScoringFlow {
  const { config, registry, writer, scoreEncoder, clock, draw, emit } = parts;
  const { concurrency, ordering, scoreOnRefusal } = config.scoring;
  const { scores } = config.topics;
  return new ScoringFlow({
    caller: new Caller({ api, concurrency }),
    concurrency,
    ordering,
    scoreOnRefusal,
    decoder: registry.decoder(PAYMENT_CREATED_SCHEMA),
    recordMaxBytes: config.recordMaxBytes,
    output:
      scores === null ? null : { topic: scores, encoder: scoreEncoder, writer, deadlineMs: writeDeadlineMs(config) },
    account: config.account,
    scored: alignment,
    clock,
    draw,
    emit,
  });
}

function createSync(parts: FlowParts, api: ScreeningApiEdge, alignment: Alignment): SyncFlow {
  const { config, registry, clock, draw, emit } = parts;
  const { sync } = config;
  return new SyncFlow({
    api,
    decoder: registry.decoder(PAYMENT_AUTHORIZED_SCHEMA),
    alignment,
    rules: {
      chargebackProtection: sync.chargebackProtection,
      cardMethods: sync.cardMethods,
      reasonCodes: sync.reasonCodes,
      exemptionAsArray: sync.exemptionAsArray,
    },
    limits: {
      maxRecords: sync.batchMaxRecords,
      maxBytes: sync.batchMaxBytes,
      maxAgeMs: sync.batchMaxAgeMs,
      inFlight: sync.batchesInFlight,
    },
    recordMaxBytes: config.recordMaxBytes,
    clock,
    draw,
    emit,
  });
}
