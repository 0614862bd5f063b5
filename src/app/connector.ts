import { type Config } from '../config/config.ts';
import { guarded } from '../dead-letters/guarded.ts';
import { createDeadLetters } from '../dead-letters/writer.ts';
import { createCardGuard } from '../screening/card-guard.ts';
import { createKafkaAdmin, type KafkaAdmin } from '../edges/kafka/admin.ts';
import { BrokerTraffic } from '../edges/kafka/broker-traffic.ts';
import { FenceFeed } from '../edges/kafka/fence-feed.ts';
import { logEndsOf } from '../edges/kafka/offset-reader.ts';
import { createKafkaSource } from '../edges/kafka/source.ts';
import { type KafkaClient } from '../edges/kafka/client.ts';
import { createKafkaWriter, type KafkaWriter } from '../edges/kafka/writer.ts';
import { type Certificate } from '../edges/http-server/certificate.ts';
import { startOpsServer } from '../edges/http-server/ops.ts';
import { type HttpServer } from '../edges/http-server/server.ts';
import { type SchemaRegistryEdge } from '../edges/schema-registry/registry.ts';
import { ownVersion } from '../edges/system/package-info.ts';
import { onUncaught, type Terminal } from '../edges/system/terminal.ts';
import { assignUnits } from '../engine/assignment.ts';
import { Engine } from '../engine/engine.ts';
import { clusterHashOf, createNonce } from '../engine/offset-map.ts';
import { type RecordWriter } from '../engine/ports.ts';
import { type Clock, type Draw, pause } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { Fault, isFault, nameOf } from '../kernel/fault.ts';
import { type OpenTracing } from '../kernel/tracing.ts';
import { ReleaseStack } from '../lifecycle/release-stack.ts';
import { StopRequest } from '../lifecycle/stop-request.ts';
import { type Mapping } from '../mapping/mapper.ts';
import { type FraudReview, type FraudScore } from '../screening/avro.generated.ts';
import { fanOut } from '../telemetry/fan-out.ts';
import { Health } from '../telemetry/health.ts';
import { createLog } from '../telemetry/log.ts';
import { MeteredWriter } from '../telemetry/metered-writer.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { followDependencies } from './dependencies.ts';
import { followFreshness } from './freshness.ts';
import { createFlows, type Flows } from './flows.ts';
import { Instruments } from './instruments.ts';
import { LateEncoder } from './late-encoder.ts';
import { opsSourceOf } from './ops-source.ts';
import { barrierMs, kafkaOf, pressureOf, readLimitsOf, registryOf, writeDeadlineMs } from './parts.ts';
import { givenAMoment, type PreflightParts, untilThere } from './preflight.ts';
import { Secrets } from './secrets.ts';
import { idOfSchema, writtenSubjects } from './schemas.ts';
import { settleStart } from './start-from.ts';
import { requireTopics } from './topics.ts';
import { LAST_EXPORT_MS, tracingOf } from './tracing.ts';
import { keepWatermarksFresh } from './watermarks.ts';
import { openWebhookPort } from './webhook-port.ts';

/** After a stop was asked for, webhooks are taken for this long: whoever sends them has to learn of it first. */
const WEBHOOKS_AFTER_STOP_MS = 5000;
/** New topics are not known to every broker at once. */
const TOPICS_MOMENT_MS = 5000;

export interface ConnectorOptions {
  readonly config: Config;
  /** Tells configurations apart, see `configHash`. */
  readonly configHash: string;
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

interface ReadingParts extends Pick<Neighbours, 'registry'> {
  readonly writer: RecordWriter;
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
  readonly #instruments: Instruments;
  readonly #emit: Emit;
  readonly #startedMs: number;
  #engine: Engine | null = null;
  #webhooks: HttpServer | null = null;
  #tracing: OpenTracing | null = null;

  constructor(options: ConnectorOptions) {
    const { config, configHash, clock, terminal } = options;
    this.#options = options;
    this.#config = config;
    this.#clock = clock;
    this.#secrets = new Secrets(config);
    this.#startedMs = clock.monotonicMs();
    const version = this.#version;
    const instruments = new Instruments(config.kafka.groupId);
    this.#instruments = instruments;
    this.#health = new Health({
      version,
      account: config.account,
      flows: config.flows,
      clock,
      status: () => instruments.status(),
      gates: () => instruments.gates(),
    });
    this.#metrics = new Metrics({
      version,
      configHash,
      clock,
      running: () => instruments.running(),
      webhookPath: config.flows.has('reviews') ? config.webhook.path : null,
    });
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
    const ops = await startOpsServer(config.ops, opsSourceOf(this.#health, this.#metrics));
    this.#opened.push('operations server', async () => {
      await ops.close();
    });
    const secrets = this.#secrets;
    const tracing = await this.#openTracing();
    const traffic = new BrokerTraffic(clock);
    const kafka = kafkaOf(config, emit, secrets, traffic.heard);
    const unwatch = secrets.watch({ clock, emit });
    this.#opened.push('secret files', async () => {
      unwatch();
      await Promise.resolve();
    });
    const registry = registryOf(config, { clock, emit }, secrets);
    this.#opened.push('registry', async () => {
      await registry.close();
    });
    const writer = createKafkaWriter({ client: kafka, clock, draw, emit });
    const metered = new MeteredWriter(writer, clock);
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
          writer: metered,
          scoreEncoder,
          fence,
          tracing,
          clock,
          draw,
          emit,
        })
      : null;
    this.#instruments.registry = registry;
    this.#instruments.writer = metered;
    if (config.flows.has('reviews'))
      this.#webhooks = await openWebhookPort({
        config,
        certificate: this.#options.certificate,
        secrets,
        connector: this.#connector,
        writer: metered,
        encoder: reviewEncoder,
        tracing,
        metrics: this.#metrics,
        opened: this.#opened,
        clock,
        emit,
      });
    const cluster = await this.#found({ admin, registry, writer, scoreEncoder, reviewEncoder });
    if (cluster === null) return;
    if (
      flows !== null &&
      !(await settleStart({ ...this.#preflight(), admin, config, topics: [...flows.byTopic.keys()] }))
    )
      return;
    if (flows !== null) await this.#read({ flows, kafka, registry, writer: metered, fence, cluster });
    const api = flows?.api ?? null;
    followDependencies({ config, secrets, kafka, traffic, registry, api, clock, emit, opened: this.#opened });
    emit('ready', { afterMs: this.#ageMs() });
  }

  async #openTracing(): Promise<OpenTracing | null> {
    const [config, secrets, version] = [this.#config, this.#secrets, this.#version];
    const tracing = await tracingOf({ config, secrets, version, clock: this.#clock, emit: this.#emit });
    this.#tracing = tracing;
    this.#opened.push('tracing', async () => {
      await tracing?.close(LAST_EXPORT_MS);
    });
    return tracing;
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
    const { flows, kafka, registry, writer, fence, cluster } = parts;
    const { draw } = this.#options;
    const { kafka: group, topics, account, commitIntervalMs, deadLetterOffsets } = this.#config;
    const clock = this.#clock;
    const emit = this.#emit;
    const source = createKafkaSource({
      client: kafka,
      groupId: group.groupId,
      sessionTimeoutMs: group.sessionTimeoutMs,
      topics: [...flows.byTopic.keys()],
      limits: readLimitsOf(this.#config),
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
      deadLetters: guarded(letters, flows.gates),
      schemas: registry,
      clock,
      draw,
      emit,
      commitIntervalMs,
      clusterHash: clusterHashOf(cluster.id),
      nonce: createNonce(draw),
      parked: deadLetterOffsets,
      tracing: this.#tracing ?? undefined,
      onGap: group.onOffsetGap,
      barrierMs: barrierMs(group.sessionTimeoutMs),
      pressure: pressureOf(this.#config),
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
    Object.assign(this.#instruments, { engine, flows, fence });
    await engine.start();
    const wanted = (topic: string): boolean => topic === topics.created && flows.alignment.wantsWatermark();
    const ends = logEndsOf(kafka);
    const end = keepWatermarksFresh({ ends, engine, topics: [...flows.byTopic.keys()], wanted, clock });
    const endFreshness = followFreshness(this.#instruments, { clock, emit });
    this.#opened.push('watermarks', async () => {
      end();
      endFreshness();
      await ends.close();
    });
  }

  /** Ends what runs: records within the drain, webhooks for as long as their sender may not know of the stop. */
  async #finish(): Promise<number> {
    const { drainTimeoutMs, flows } = this.#config;
    const forRecordsMs = drainTimeoutMs - (this.#tracing === null ? 0 : LAST_EXPORT_MS);
    this.#webhooks?.drain();
    const drained = this.#engine?.stop(Math.max(0, forRecordsMs)) ?? Promise.resolve(0);
    const served = flows.has('reviews') ? pause(this.#clock, WEBHOOKS_AFTER_STOP_MS) : Promise.resolve();
    const [unfinished] = await Promise.all([drained, served]);
    return unfinished;
  }
}
