import { prepareTopics } from '../../src/app/demo/stage.ts';
import { kafkaOf } from '../../src/app/parts.ts';
import { type Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import { createKafkaWriter, type KafkaWriter } from '../../src/edges/kafka/writer.ts';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { isFault } from '../../src/kernel/fault.ts';
import { type ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { type KafkaNode } from '../../src/sandbox/broker/node.ts';
import { Run } from '../../src/sandbox/broker/run.ts';
import { startKafka } from '../../src/sandbox/broker/start.ts';
import { createPostWebhook } from '../../src/sandbox/service/post-webhook.ts';
import { seededDraw } from '../../src/sandbox/service/chance.ts';
import { type ScreeningService, startScreeningService } from '../../src/sandbox/service/screening-service.ts';
import { type BugName } from './bugs/bugs.ts';
import { ClusterView } from './cluster-view.ts';
import { Eraser } from './eraser.ts';
import { Fleet } from './fleet.ts';
import { isNoAnswer } from './ills.ts';
import { Links } from './links.ts';
import { Mail } from './mail.ts';
import { isRefusedWith200, oddKindRules } from './odd-kinds.ts';
import { StuckPayment } from './stuck.ts';
import { TcpProxy } from './tcp-proxy.ts';
import { Witness } from './witness.ts';

export interface StageOptions {
  readonly sessionMs: number;
  readonly latencyMs: number;
  readonly seed: number;
  /** Of each topic. */
  readonly partitions: number;
  /** The most connectors there can be. */
  readonly connectors: number;
  readonly bug: BugName | null;
  /** The service gives odd ids their answers, and dead letters come soon. */
  readonly isHostile: boolean;
  /** The folder of another version; null: none. */
  readonly other: string | null;
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
  readonly links: Links;
  readonly view: ClusterView;
  readonly mail: Mail;
  readonly eraser: Eraser;
}

/** Each waits as long as the registry's client does. */
const PREPARE_TRIES = 6;
/** Retries of webhooks come this many times sooner than the service's own: 0.1 s, 0.6 s, 2.9 s, 14 s. */
const MAIL_SPEED = 40;
/** Not anybody's: made up for the campaign, and looked for in all that the connectors print. */
export const WEBHOOK_SECRET = 'of-the-chaos-endpoint-8f3a61c07d';
const WEBHOOK_PATH = '/webhooks/fraud';

/** Starts three nodes, a registry and the screening service, and makes topics and schemas; no connector yet. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const { opened, say, registryUrl, latencyMs, seed } = options;
  const witness = new Witness();
  opened.push('witness', async () => {
    witness.close();
    await Promise.resolve();
  });
  const links = await Links.open(options.connectors, systemClock);
  opened.push('wires', async () => {
    await links.close();
  });
  const { detours } = links;
  const [kafka, service] = await Promise.all([
    startKafka({ nodes: 3, registry: registryUrl === null, env: process.env, say, detours }).then((started) => {
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
  service.faults.set({ latencyMs, rules: options.isHostile ? oddKindRules(latencyMs) : [] });
  witness.isSpoilt = (kind, transIds) => isNoAnswer(service.faults.get().answer, kind) || isRefusedWith200(transIds);
  const stuck = new StuckPayment(service.faults);
  witness.onPayment = (sighting) => {
    stuck.meet(sighting);
  };
  const ends = { nodes: kafka.nodes, registryUrl: registryUrl ?? kafka.registryUrl, serviceUrl: service.baseUrl };
  links.lead(ends);
  const env = environment(options, { ...kafka, registryUrl: ends.registryUrl, service });
  const { config } = loadConfig({ env, readFile: () => '' });
  await prepared(config, options.partitions);
  const run = await Run.open();
  opened.push('connectors', async () => {
    await run.close();
  });
  const fleet = new Fleet({
    run,
    env,
    say,
    sessionMs: options.sessionMs,
    bug: options.bug,
    other: options.other,
    envOf: (number, owner) => {
      const through = links.envOf(number);
      return {
        KAFKA_BROKERS: through.brokers,
        SCHEMA_REGISTRY_URL: through.registryUrl,
        SERVICE_BASE_URL: witness.urlOf(through.serviceUrl, owner),
      };
    },
  });
  const view = new ClusterView({
    brokers: kafka.brokers,
    groupId: config.kafka.groupId,
    topics: [config.topics.created, config.topics.authorized],
  });
  const mail = await openMail({ fleet, seed, opened });
  const eraser = new Eraser({ config, view, witness });
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
  return { config, nodes: kafka.nodes, service, witness, stuck, fleet, writer, links, view, mail, eraser };
}

/** Topics and schemas, however long a busy machine's registry takes: what is there already stays as it is. */
async function prepared(config: Config, partitions: number): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await prepareTopics(config, systemClock, partitions);
      return;
    } catch (error) {
      if (!isFault(error, 'REGISTRY_FAILED') || tries === PREPARE_TRIES) throw error;
    }
  }
}

/** The service's webhooks, by way of a load balancer that knows which connectors are there. */
async function openMail({
  fleet,
  seed,
  opened,
}: Pick<StageOptions, 'seed' | 'opened'> & { readonly fleet: Fleet }): Promise<Mail> {
  const door = await TcpProxy.open({ clock: systemClock, target: () => fleet.webhookPort() });
  opened.push('door of the webhooks', async () => {
    await door.close();
  });
  const { post, close } = createPostWebhook();
  const url = `http://127.0.0.1:${String(door.port)}${WEBHOOK_PATH}`;
  const mail = new Mail({
    url: () => url,
    secret: WEBHOOK_SECRET,
    speed: MAIL_SPEED,
    post,
    clock: systemClock,
    draw: seededDraw(seed),
  });
  opened.push('webhooks', async () => {
    mail.close();
    close();
    await Promise.resolve();
  });
  return mail;
}

/** The harness's own clients say nothing: what there is to see is the connectors'. */
export function silent(): void {
  // Nothing is said.
}

function environment(
  { sessionMs, isHostile }: StageOptions,
  parts: { readonly brokers: readonly string[]; readonly registryUrl: string; readonly service: ScreeningService },
): Readonly<Record<string, string>> {
  const { brokers, registryUrl, service } = parts;
  return {
    ACCOUNT: 'chaos',
    FLOWS: 'scoring,sync,reviews',
    WEBHOOK_HOST: '127.0.0.1',
    WEBHOOK_PATH,
    WEBHOOK_SECRETS: WEBHOOK_SECRET,
    KAFKA_BROKERS: brokers.join(','),
    KAFKA_GROUP_ID: 'chaos',
    KAFKA_SESSION_TIMEOUT_MS: String(sessionMs),
    SCHEMA_REGISTRY_URL: registryUrl,
    SERVICE_BASE_URL: service.baseUrl,
    SERVICE_USERNAME: service.user,
    SERVICE_PASSWORD: service.password,
    ...(isHostile ? { SCORING_REFUSE_AFTER_MS: '5000' } : {}),
  };
}
