import { type Config } from '../config/config.ts';
import { createScreeningApi, type ScreeningApiEdge } from '../edges/screening-api/client.ts';
import { type SchemaRegistryEdge } from '../edges/schema-registry/registry.ts';
import { type Connect } from '../edges/system/connect.ts';
import { type Flow, type RecordWriter, type ValueDecoder, type ValueEncoder } from '../engine/ports.ts';
import { type ScoredTransactions } from '../flows/scored.ts';
import { Alignment } from '../flows/sync/alignment.ts';
import { SyncFlow } from '../flows/sync/flow.ts';
import { ScoringFlow } from '../flows/scoring/flow.ts';
import { type ScoreCounts } from '../flows/scoring/score-counts.ts';
import { type Clock, type Draw } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { type Fence } from '../kernel/fence.ts';
import { type Tracing } from '../kernel/tracing.ts';
import { type Mapping } from '../mapping/mapper.ts';
import { Attribution } from '../resilience/attribution.ts';
import { Caller } from '../resilience/caller.ts';
import { Gate } from '../resilience/gate.ts';
import { ConcurrencyLimit, LIMITED_QUIET_MS } from '../resilience/limit.ts';
import { type ScreeningApi } from '../resilience/ports.ts';
import { TokenBucket } from '../resilience/token-bucket.ts';
import { type FraudScore, PAYMENT_AUTHORIZED_SCHEMA, PAYMENT_CREATED_SCHEMA } from '../screening/avro.generated.ts';
import { createCardGuard } from '../screening/card-guard.ts';
import { type ConnectingParts, connectTo } from './connecting.ts';
import { writeDeadlineMs } from './parts.ts';
import { type Secrets } from './secrets.ts';

export interface FlowParts {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly version: string;
  readonly mapping: Mapping;
  readonly registry: Pick<SchemaRegistryEdge, 'decoder'>;
  readonly writer: RecordWriter;
  readonly scoreEncoder: ValueEncoder<FraudScore>;
  /** True: what is refused is at fault itself also where nothing else succeeds. Default false. */
  readonly believesRefusals?: boolean;
  readonly fence: Fence;
  /** Null or absent: nothing is traced. */
  readonly tracing?: Tracing | null;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
}

/** What flows need beside a client. */
export type WireParts = Omit<FlowParts, 'fence' | 'secrets' | 'version'>;

export interface Flows {
  /** By the topic that each reads. */
  readonly byTopic: ReadonlyMap<string, Flow<unknown, unknown>>;
  readonly alignment: Alignment;
  readonly api: ScreeningApiEdge;
  /** What keeps each flow from calling, by the topic that it reads. */
  readonly gates: ReadonlyMap<string, Gate>;
  /** What scoring answers came to; null: there is no scoring. */
  readonly scores: ScoreCounts | null;
  /** What updates came to; null: there is no sync. */
  readonly updates: Pick<SyncFlow, 'maybeSent'> | null;
}

/** Scoring and sync of a configuration, with the client and the alignment that they share. */
export function createFlows(parts: FlowParts): Flows {
  const api = createApi(parts);
  return { ...wireFlows(parts, api), api };
}

/** The client of the screening service of a configuration; nothing is sent before the first call. */
export function createApi(
  parts: Pick<FlowParts, 'config' | 'secrets' | 'version' | 'fence' | 'clock' | 'draw' | 'emit'>,
): ScreeningApiEdge {
  const { config, secrets, clock, draw, emit, fence, version } = parts;
  const { service, scoring, sync } = config;
  const api = createScreeningApi(
    {
      baseUrl: service.baseUrl,
      version,
      scoringConnections: scoring.concurrency,
      syncConnections: sync.batchesInFlight,
      timeoutMs: service.timeoutMs,
      syncTimeoutMs: sync.timeoutMs,
      connectTimeoutMs: service.connectTimeoutMs,
      connect: serviceConnectOf(config, secrets, { clock, emit }),
    },
    {
      clock,
      draw,
      emit,
      fence,
      credentials: () => ({ username: service.username, password: secrets.servicePassword() }),
    },
  );
  secrets.onChange('SERVICE_PASSWORD', () => {
    api.credentialsChanged();
  });
  return api;
}

/** Opens connections to the service: with its certificates and through its proxy, as they are at that time. */
export function serviceConnectOf({ service }: Config, secrets: Secrets, parts: ConnectingParts): Connect {
  const { connectTimeoutMs: limitMs } = service;
  return connectTo('service', { limitMs, tls: secrets.serviceTls.now, proxy: () => secrets.proxyUrl() }, parts);
}

/** The same on a client that the caller has made. */
export function wireFlows(parts: WireParts, api: ScreeningApi): Omit<Flows, 'api'> {
  const { config, clock, draw, emit } = parts;
  const { flows, topics, service, scoring, sync } = config;
  let scoringFlow: ScoringFlow | null = null;
  let syncFlow: SyncFlow | null = null;
  const alignment = new Alignment({
    topicCreated: topics.created,
    ordering: scoring.ordering,
    scoreWaitMs: flows.has('scoring') ? sync.scoreWaitMs : 0,
    isScoringHeld: () => scoringFlow?.isHeld ?? false,
    emit,
  });
  const { maxRequestsPerSecond: perSecond } = service;
  const bucket = perSecond === null ? null : new TokenBucket(perSecond, clock.monotonicMs());
  const gateOf = (scope: string, limit: ConcurrencyLimit | null = null): Gate => {
    const { maxAttempts, refuseAfterMs } = scoring;
    const nowMs = clock.monotonicMs();
    const attribution = new Attribution({
      maxAttempts,
      refuseAfterMs,
      maxShare: config.deadLetterMaxShare,
      believesRefusals: parts.believesRefusals ?? false,
      quietMs: limit === null ? 0 : LIMITED_QUIET_MS,
      draw,
      nowMs,
    });
    return new Gate({ scope, attribution, bucket, limit, clock, emit });
  };
  const byTopic = new Map<string, Flow<unknown, unknown>>();
  const gates = new Map<string, Gate>();
  if (flows.has('scoring')) {
    const gate = gateOf('scoring', limitOf(parts));
    gates.set(topics.created, gate);
    scoringFlow = createScoring(parts, { api, alignment, gate });
    byTopic.set(topics.created, scoringFlow);
  }
  if (flows.has('sync')) {
    const gate = gateOf('sync');
    gates.set(topics.authorized, gate);
    syncFlow = createSync(parts, { api, alignment, gate });
    byTopic.set(topics.authorized, syncFlow);
  }
  return { byTopic, alignment, gates, scores: scoringFlow?.counts ?? null, updates: syncFlow };
}

/** Null: always as many requests at once as are configured. */
function limitOf({ config, clock }: WireParts): ConcurrencyLimit | null {
  const { limit, concurrency } = config.scoring;
  return limit === 'fixed' ? null : new ConcurrencyLimit({ most: concurrency, nowMs: clock.monotonicMs() });
}

interface Shared {
  readonly api: ScreeningApi;
  readonly alignment: Alignment;
  readonly gate: Gate;
}

/** Where no update is sent nobody asks what became of a transaction: a memory of 100,000 would cost for nothing. */
const NOBODY: ScoredTransactions = { note: () => undefined };

function createScoring(parts: WireParts, { api, alignment, gate }: Shared): ScoringFlow {
  const { config, mapping, writer, scoreEncoder, clock, draw, emit } = parts;
  const { concurrency, ordering, scoreOnRefusal } = config.scoring;
  const { scores } = config.topics;
  return new ScoringFlow({
    caller: new Caller({ api, concurrency, gate, clock }),
    gate,
    concurrency,
    ordering,
    scoreOnRefusal,
    decoder: decoderFor(parts, 'scoring', PAYMENT_CREATED_SCHEMA),
    mapper: mapping.scoring,
    recordMaxBytes: config.recordMaxBytes,
    guard: createCardGuard(config.cardGuardExempt),
    extras: { forwardIp: config.service.forwardIp, idempotencyHeader: config.service.idempotencyHeader },
    output:
      scores === null ? null : { topic: scores, encoder: scoreEncoder, writer, deadlineMs: writeDeadlineMs(config) },
    account: config.account,
    scored: config.flows.has('sync') ? alignment : NOBODY,
    clock,
    draw,
    emit,
  });
}

function createSync(parts: WireParts, { api, alignment, gate }: Shared): SyncFlow {
  const { config, mapping, clock, emit } = parts;
  const { sync } = config;
  return new SyncFlow({
    api,
    gate,
    believesRefusals: parts.believesRefusals ?? false,
    decoder: decoderFor(parts, 'sync', PAYMENT_AUTHORIZED_SCHEMA),
    mapper: mapping.sync,
    alignment,
    rules: {
      chargebackProtection: sync.chargebackProtection,
      cardMethods: sync.cardMethods,
      unknownMethod: sync.unknownMethod,
      declineReasonRequired: sync.declineReasonRequired,
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
    guard: createCardGuard(config.cardGuardExempt),
    tracing: parts.tracing ?? undefined,
    clock,
    emit,
  });
}

/** Mapped records have names of their own, which our schemas do not know: they are read as they were written. */
function decoderFor({ mapping, registry }: WireParts, flow: keyof Mapping, schema: object): ValueDecoder {
  return registry.decoder(mapping[flow] === null ? schema : null);
}
