import { prepareTopics } from '../../src/app/demo/stage.ts';
import { kafkaOf } from '../../src/app/parts.ts';
import { type Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createKafkaWriter, type KafkaWriter } from '../../src/edges/kafka/writer.ts';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { type ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { type KafkaNode } from '../../src/sandbox/broker/node.ts';
import { Run } from '../../src/sandbox/broker/run.ts';
import { startKafka } from '../../src/sandbox/broker/start.ts';
import { type ScreeningService, startScreeningService } from '../../src/sandbox/service/screening-service.ts';
import { Fleet } from './fleet.ts';
import { StuckPayment } from './stuck.ts';
import { Witness } from './witness.ts';

export interface StageOptions {
  readonly sessionMs: number;
  readonly latencyMs: number;
  readonly seed: number;
  /** Of each topic. */
  readonly partitions: number;
  /** A registry that runs already; null: one is started. */
  readonly registryUrl: string | null;
  readonly opened: ReleaseStack;
  readonly say: (line: string) => void;
}

/** Everything around the connectors of a campaign, running. */
export interface Stage {
  readonly config: Config;
  readonly nodes: readonly KafkaNode[];
  readonly service: ScreeningService;
  readonly witness: Witness;
  readonly stuck: StuckPayment;
  readonly fleet: Fleet;
  readonly writer: KafkaWriter;
}

/** Starts three nodes, a registry and the screening service, and makes topics and schemas; no connector yet. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const { opened, say, registryUrl, latencyMs, seed } = options;
  const witness = new Witness();
  opened.push('witness', async () => {
    witness.close();
    await Promise.resolve();
  });
  const [kafka, service] = await Promise.all([
    startKafka({ nodes: 3, registry: registryUrl === null, env: process.env, say }).then((started) => {
      opened.push('brokers', async () => {
        await started.stop();
      });
      return started;
    }),
    startScreeningService({ seed }).then((started) => {
      opened.push('screening service', async () => {
        await started.close();
      });
      return started;
    }),
  ]);
  service.faults.set({ latencyMs });
  const stuck = new StuckPayment(service.faults);
  witness.onPayment = (sighting) => {
    stuck.meet(sighting);
  };
  const env = environment(options, { ...kafka, registryUrl: registryUrl ?? kafka.registryUrl, service });
  const { config } = loadConfig({ env, readFile: () => '' });
  await prepareTopics(config, systemClock, options.partitions);
  const run = await Run.open();
  opened.push('connectors', async () => {
    await run.close();
  });
  const fleet = new Fleet({
    run,
    env,
    say,
    sessionMs: options.sessionMs,
    urlOf: (owner) => witness.urlOf(service.baseUrl, owner),
  });
  const writer = createKafkaWriter({
    client: kafkaOf(config, silent),
    clock: systemClock,
    draw: systemDraw,
    emit: silent,
  });
  opened.push('writer', async () => {
    await writer.close();
  });
  await writer.connect();
  return { config, nodes: kafka.nodes, service, witness, stuck, fleet, writer };
}

/** The harness's own clients say nothing: what there is to see is the connectors'. */
export function silent(): void {
  // Nothing is said.
}

function environment(
  { sessionMs }: StageOptions,
  parts: { readonly brokers: readonly string[]; readonly registryUrl: string; readonly service: ScreeningService },
): Readonly<Record<string, string>> {
  const { brokers, registryUrl, service } = parts;
  return {
    ACCOUNT: 'chaos',
    FLOWS: 'scoring,sync',
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_GROUP_ID: 'chaos',
    KAFKA_SESSION_TIMEOUT_MS: String(sessionMs),
    SCHEMA_REGISTRY_URL: registryUrl,
    SERVICE_BASE_URL: service.baseUrl,
    SERVICE_USERNAME: service.user,
    SERVICE_PASSWORD: service.password,
  };
}
