import { type Config } from '../config/config.ts';
import { behindFloodgates } from '../dead-letters/floodgated.ts';
import { createDeadLetters } from '../dead-letters/writer.ts';
import { createCardGuard } from '../screening/card-guard.ts';
import { createKafkaAdmin, type KafkaAdmin } from '../edges/kafka/admin.ts';
import { FenceFeed } from '../edges/kafka/fence-feed.ts';
import { createKafkaSource } from '../edges/kafka/source.ts';
import { type KafkaClient } from '../edges/kafka/client.ts';
import { createKafkaWriter, type KafkaWriter } from '../edges/kafka/writer.ts';
import { type Certificate } from '../edges/http-server/certificate.ts';
import { type OpsSource, startOpsServer } from '../edges/http-server/ops.ts';
import { type HttpServer } from '../edges/http-server/server.ts';
import { startWebhookServer } from '../edges/http-server/webhooks.ts';
import { type SchemaRegistryEdge } from '../edges/schema-registry/registry.ts';
import { ownVersion } from '../edges/system/package-info.ts';
import { onUncaught, type Terminal } from '../edges/system/terminal.ts';
import { assignUnits } from '../engine/assignment.ts';
import { Engine } from '../engine/engine.ts';
import { clusterHashOf, createNonce } from '../engine/offset-map.ts';
import { type EngineStatus, type RecordWriter } from '../engine/ports.ts';
import { type Clock, type Draw, pause } from '../kernel/clock.ts';
import { type Emit, type WebhookTlsFailure } from '../kernel/emit.ts';
import { Fault, isFault, nameOf } from '../kernel/fault.ts';
import { ReleaseStack } from '../lifecycle/release-stack.ts';
import { StopRequest } from '../lifecycle/stop-request.ts';
import { type Mapping } from '../mapping/mapper.ts';
import { type Gate } from '../resilience/gate.ts';
import { type FraudReview, type FraudScore } from '../screening/avro.generated.ts';
import { fanOut } from '../telemetry/fan-out.ts';
import { Health } from '../telemetry/health.ts';
import { createLog } from '../telemetry/log.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { createFlows, type Flows } from './flows.ts';
import { LateEncoder } from './late-encoder.ts';
import { barrierMs, kafkaOf, registryOf, writeDeadlineMs } from './parts.ts';
import { givenAMoment, type PreflightParts, untilThere } from './preflight.ts';
import { createReviews } from './reviews.ts';
import { Secrets } from './secrets.ts';
import { idOfSchema, writtenSubjects } from './schemas.ts';
import { settleStart } from './start-from.ts';
import { requireTopics } from './topics.ts';
import { keepWatermarksFresh } from './watermarks.ts';
import { followWebhookCertificate } from './webhook-certificate.ts';

/** After a stop was asked for, webhooks are taken for this long: whoever sends them has to learn of it first. */
const WEBHOOKS_AFTER_STOP_MS = 5000;
/** New topics are not known to every broker at once. */
const TOPICS_MOMENT_MS = 5000;
const PARTITION_RECORDS = 1024;

export interface ConnectorOptions {
  readonly config: Config;
  /** Compiled from `config.mapping`. */
  readonly mapping: Mapping;
  /** Of the webhook port, read from `config.webhook.tls`. */
  readonly certificate: Certificate | null;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly draw: Draw;
}

/** The service: runs until it is asked to stop, then ends what it has begun. Answers the process's exit code. */
export async function runConnector(options: ConnectorOptions): Promise<number> {
  return await new Connector(options).run();
}

interface Neighbours {
  readonly admin: KafkaAdmin;
  readonly registry: SchemaRegistryEdge;
  readonly writer: KafkaWriter;
  readonly scoreEncoder: LateEncoder<FraudScore>;
  readonly reviewEncoder: LateEncoder<FraudReview>;
}

/** What was found of Kafka. */
interface Cluster {
  readonly id: string;
  /** Partitions of each topic. */
  readonly partitions: ReadonlyMap<string, number>;
}

interface ReadingParts extends Pick<Neighbours, 'admin' | 'registry' | 'writer'> {
  readonly flows: Flows;
  readonly kafka: KafkaClient;
  readonly fence: FenceFeed;
  readonly cluster: Cluster;
}

class Connector {
  readonly #options: ConnectorOptions;
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #version = ownVersion();
  readonly #connector = `fraud-screening-connector/${this.#version}`;
  readonly #secrets: Secrets;
  readonly #stop = new StopRequest();
  readonly #opened = new ReleaseStack();
  readonly #health: Health;
  readonly #metrics: Metrics;
  readonly #emit: Emit;
  readonly #startedMs: number;
  #engine: Engine | null = null;
  #webhooks: HttpServer | null = null;
  #gates: readonly Gate[] = [];

  constructor(options: ConnectorOptions) {
    const { config, clock, terminal } = options;
    this.#options = options;
    this.#config = config;
    this.#clock = clock;
    this.#secrets = new Secrets(config);
    this.#startedMs = clock.monotonicMs();
    const version = this.#version;
    const status = (): EngineStatus | null => this.#engine?.status() ?? null;
    this.#health = new Health({
      version,
      account: config.account,
      flows: config.flows,
      clock,
      status,
      gates: () => this.#gates.map((gate) => gate.report()),
    });
    this.#metrics = new Metrics({ version, clock, status });
    const log = createLog({
      level: config.logLevel,
      clock,
      base: { account: config.account },
      write: (line) => {
        terminal.say(line.trimEnd());
      },
    });
    this.#emit = fanOut(log, this.#metrics.emit, this.#health.emit);
  }

  async run(): Promise<number> {
    const { terminal, clock } = this.#options;
    const deaf = terminal.onStop((signal) => {
      if (!this.#stop.ask(signal)) terminal.exit(1);
    });
    onUncaught((error) => {
      this.#emit('fatal', { code: 'INTERNAL', message: `Something was thrown that nothing caught: ${nameOf(error)}.` });
      terminal.exit(1);
    });
    try {
      this.#emit('starting', { version: this.#version, flows: [...this.#config.flows].join(',') });
      await this.#start();
      this.#emit('stopping', { signal: await this.#stop.asked() });
      const askedMs = clock.monotonicMs();
      const unfinished = await this.#finish();
      this.#emit('stopped', { afterMs: Math.round(clock.monotonicMs() - askedMs), unfinished });
      if (unfinished > 0)
        throw new Fault('DRAIN_INCOMPLETE', `${String(unfinished)} records had not ended in time; they are repeated.`);
      return 0;
    } catch (error) {
      const fault = isFault(error) ? error : new Fault('INTERNAL', `Unexpected: ${nameOf(error)}.`, { cause: error });
      this.#emit('fatal', { code: fault.code, message: fault.message });
      return fault.exit;
    } finally {
      await this.#opened.release();
      deaf();
    }
  }

  #ageMs(): number {
    return Math.round(this.#clock.monotonicMs() - this.#startedMs);
  }

  /** Opens everything; waits for neighbours that are away. Returns early when a stop is asked for. */
  async #start(): Promise<void> {
    const { draw } = this.#options;
    const config = this.#config;
    const clock = this.#clock;
    const emit = this.#emit;
    const ops = await startOpsServer(config.ops, this.#opsSource());
    this.#opened.push('operations server', async () => {
      await ops.close();
    });
    const kafka = kafkaOf(config, emit);
    const secrets = this.#secrets;
    const unwatch = secrets.watch({ clock, emit });
    this.#opened.push('secret files', async () => {
      unwatch();
      await Promise.resolve();
    });
    const registry = registryOf(config, { clock }, () => secrets.registryPassword());
    this.#opened.push('registry', async () => {
      await registry.close();
    });
    const writer = createKafkaWriter({ client: kafka, clock, draw, emit });
    this.#opened.push('writer', async () => {
      await writer.close();
    });
    const admin = createKafkaAdmin(kafka);
    this.#opened.push('admin', async () => {
      await admin.close();
    });
    const fence = new FenceFeed({ clock, sessionTimeoutMs: config.kafka.sessionTimeoutMs });
    const scoreEncoder = new LateEncoder<FraudScore>();
    const reviewEncoder = new LateEncoder<FraudReview>();
    const reading = config.flows.has('scoring') || config.flows.has('sync');
    const flows = reading
      ? createFlows({
          config,
          secrets,
          version: this.#version,
          mapping: this.#options.mapping,
          registry,
          writer,
          scoreEncoder,
          fence,
          clock,
          draw,
          emit,
        })
      : null;
    if (config.flows.has('reviews')) await this.#listen(writer, reviewEncoder);
    const cluster = await this.#found({ admin, registry, writer, scoreEncoder, reviewEncoder });
    if (cluster === null) return;
    if (
      flows !== null &&
      !(await settleStart({ ...this.#preflight(), admin, config, topics: [...flows.byTopic.keys()] }))
    )
      return;
    if (flows !== null) await this.#read({ flows, kafka, registry, writer, admin, fence, cluster });
    emit('ready', { afterMs: this.#ageMs() });
  }

  async #listen(writer: RecordWriter, encoder: LateEncoder<FraudReview>): Promise<void> {
    const { webhook } = this.#config;
    const { certificate } = this.#options;
    const [clock, emit] = [this.#clock, this.#emit];
    const receiver = createReviews({
      config: this.#config,
      secrets: this.#secrets,
      connector: this.#connector,
      writer,
      encoder,
      clock,
      emit,
    });
    const onTlsFailed = (why: WebhookTlsFailure): void => {
      emit('webhook_tls_failed', { why });
    };
    const server = await startWebhookServer({ ...webhook, certificate, onTlsFailed }, receiver);
    this.#webhooks = server;
    this.#opened.push('webhook server', async () => {
      await server.close();
    });
    if (webhook.tls === null || certificate === null) return;
    const renew = (renewed: Certificate): void => {
      server.renew(renewed);
    };
    const unwatch = followWebhookCertificate(webhook.tls, certificate, { clock, emit, renew });
    this.#opened.push('webhook certificate', async () => {
      unwatch();
      await Promise.resolve();
    });
  }

  /** Waits until Kafka and the registry answer, and have what is needed. Null: a stop was asked for meanwhile. */
  async #found(neighbours: Neighbours): Promise<Cluster | null> {
    const { admin, registry, writer, scoreEncoder, reviewEncoder } = neighbours;
    const config = this.#config;
    const parts = this.#preflight();
    const kafka = untilThere(parts, { cause: 'kafka', scope: 'start' }, async () => {
      const topics = await givenAMoment(
        this.#clock,
        'TOPIC_MISSING',
        TOPICS_MOMENT_MS,
        async () => await requireTopics(admin, config),
      );
      await writer.connect();
      return { id: await admin.clusterId(), partitions: new Map(topics.map((each) => [each.topic, each.partitions])) };
    });
    const schemas = untilThere(parts, { cause: 'registry', scope: 'start' }, async () => {
      for (const written of writtenSubjects(config)) {
        const id = await idOfSchema(registry, written);
        if (written.topic === config.topics.reviews) reviewEncoder.provide(registry.encoder(written.schema, id));
        else scoreEncoder.provide(registry.encoder(written.schema, id));
      }
      return true;
    });
    try {
      const [found, hasSchemas] = await Promise.all([kafka, schemas]);
      return hasSchemas === null ? null : found;
    } catch (error) {
      // The other one must not go on knocking while everything is being closed.
      this.#stop.ask('fault');
      await Promise.allSettled([kafka, schemas]);
      throw error;
    }
  }

  #preflight(): PreflightParts {
    return { clock: this.#clock, draw: this.#options.draw, emit: this.#emit, stop: this.#stop };
  }

  async #read(parts: ReadingParts): Promise<void> {
    const { flows, kafka, registry, writer, admin, fence, cluster } = parts;
    const { draw } = this.#options;
    const { kafka: group, topics, account, buffer, commitIntervalMs, scoring, parkPositions } = this.#config;
    const clock = this.#clock;
    const emit = this.#emit;
    const source = createKafkaSource({
      client: kafka,
      groupId: group.groupId,
      sessionTimeoutMs: group.sessionTimeoutMs,
      topics: [...flows.byTopic.keys()],
      clock,
      draw,
      emit,
      fence,
      assign: assignUnits,
      assignor: group.assignor,
      onMismatch: (partitions) => {
        flows.alignment.compareTopics(partitions[topics.created] ?? 0, partitions[topics.authorized] ?? 0);
      },
    });
    const letters = createDeadLetters({
      writer,
      suffix: topics.deadLetterSuffix,
      account,
      connector: this.#connector,
      guard: createCardGuard(this.#config.cardGuardExempt),
      clock,
      emit,
      deadlineMs: writeDeadlineMs(this.#config),
    });
    const engine = new Engine({
      source,
      flows: flows.byTopic,
      deadLetters: behindFloodgates(letters, flows.gates),
      schemas: registry,
      clock,
      draw,
      emit,
      commitIntervalMs,
      clusterHash: clusterHashOf(cluster.id),
      nonce: createNonce(draw),
      parked: parkPositions,
      onGap: group.onOffsetGap,
      barrierMs: barrierMs(group.sessionTimeoutMs),
      pressure: {
        partitionRecords: PARTITION_RECORDS,
        flowRecords: Math.max(buffer.maxRecords, 2 * scoring.concurrency),
        flowBytes: buffer.maxBytes,
      },
    });
    this.#opened.push('screening client', async () => {
      await flows.api.close();
    });
    if (flows.byTopic.size > 1)
      flows.alignment.compareTopics(
        cluster.partitions.get(topics.created) ?? 0,
        cluster.partitions.get(topics.authorized) ?? 0,
      );
    // The first login is not waited for: records that find no session wait, and say so.
    void flows.api.login();
    this.#engine = engine;
    this.#gates = [...flows.gates.values()];
    await engine.start();
    const wanted = (topic: string): boolean => topic === topics.created && flows.alignment.wantsWatermark();
    const end = keepWatermarksFresh({ admin, engine, topics: [...flows.byTopic.keys()], wanted, clock });
    this.#opened.push('watermarks', async () => {
      end();
      await Promise.resolve();
    });
  }

  /** Ends what runs: records within the drain, webhooks for as long as their sender may not know of the stop. */
  async #finish(): Promise<number> {
    const { drainTimeoutMs, flows } = this.#config;
    this.#webhooks?.drain();
    const drained = this.#engine?.stop(drainTimeoutMs) ?? Promise.resolve(0);
    const served = flows.has('reviews') ? pause(this.#clock, WEBHOOKS_AFTER_STOP_MS) : Promise.resolve();
    const [unfinished] = await Promise.all([drained, served]);
    return unfinished;
  }

  #opsSource(): OpsSource {
    return {
      live: () => this.#health.live(),
      ready: () => this.#health.ready(),
      readyOf: (flow) => this.#health.readyOf(flow),
      status: () => this.#health.status(),
      metrics: async () => await this.#metrics.text(),
    };
  }
}
