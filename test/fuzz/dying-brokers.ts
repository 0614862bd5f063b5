import { prepareTopics } from '../../src/app/demo/stage.ts';
import { loadConfig } from '../../src/config/load.ts';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { startKafka } from '../../src/sandbox/broker/start.ts';
import { ActivityLog } from '../../src/sandbox/service/activity.ts';
import { Ledger } from '../../src/sandbox/service/ledger.ts';
import { createPostWebhook } from '../../src/sandbox/service/post-webhook.ts';
import { NO_WEBHOOK_FAULTS } from '../../src/sandbox/service/webhook-faults.ts';
import { WebhookSender } from '../../src/sandbox/service/webhooks.ts';
import { ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { headerTexts, TopicLog } from '../support/topic-log.ts';

export interface DyingBrokersOptions {
  readonly events: number;
  /** Events a second. */
  readonly rate: number;
  /** The sender's retries come so many times sooner than the interface says. */
  readonly speed: number;
  readonly say: (line: string) => void;
}

export interface DyingBrokersOutcome {
  readonly events: number;
  /** Attempts of the sender by how they were answered; `none`: not at all. */
  readonly answers: Readonly<Record<string, number>>;
  readonly delivered: number;
  /** Given up after eight retries. */
  readonly failed: number;
  /** Answered 200, and not in the topic. */
  readonly lost: number;
  /** In the topic, and nobody was told. */
  readonly untold: number;
  readonly records: number;
  /** Records of an event beyond its first, by its `event_id`. */
  readonly duplicates: number;
  /** Events with more than one `event_id`. */
  readonly torn: number;
  readonly letters: number;
}

const SECRET = 'whsec-made-up-4f9c2d71e8b3a650';
const PUBLISH_TIMEOUT_MS = 1000;
const DOWN_MS = 3000;
const SETTLE_LIMIT_MS = 240_000;

/** Webhooks while one of three brokers is killed and comes back, and then all three; reckons what became of every event. */
export async function runDyingBrokers(options: DyingBrokersOptions): Promise<DyingBrokersOutcome> {
  const opened = new ReleaseStack();
  try {
    return await run(options, opened);
  } finally {
    await opened.release();
  }
}

async function run(
  { events, rate, speed, say }: DyingBrokersOptions,
  opened: ReleaseStack,
): Promise<DyingBrokersOutcome> {
  const kafka = await startKafka({ nodes: 3, env: process.env, say });
  opened.push('brokers', async () => {
    await kafka.stop();
  });
  const env = {
    ACCOUNT: 'fuzz',
    FLOWS: 'reviews',
    KAFKA_BROKERS: kafka.brokers.join(','),
    SCHEMA_REGISTRY_URL: kafka.registryUrl,
    WEBHOOK_SECRETS: SECRET,
    WEBHOOK_PUBLISH_TIMEOUT_MS: String(PUBLISH_TIMEOUT_MS),
  };
  const { config } = loadConfig({ env, readFile: () => '' });
  await prepareTopics(config, systemClock, 6);
  const connector = await ConnectorProcess.start(env);
  opened.push('connector', async () => {
    await connector.kill();
  });
  await eventually('the connector is ready', async () => (await connector.probe('/readyz')) === 200);
  const sending = startSender(connector.webhookUrl, speed);
  opened.push('sender', async () => {
    sending.end();
    await Promise.resolve();
  });
  const feeding = feed(sending.sender, events, rate);
  const until = async (share: number): Promise<void> => {
    await eventually(
      `${String(share)} of the events`,
      () => sending.activity.list().length >= share * events,
      SETTLE_LIMIT_MS,
    );
  };
  await until(0.2);
  say('kills one broker');
  await kafka.nodes[0]?.kill('SIGKILL');
  await until(0.4);
  await kafka.nodes[0]?.start();
  await until(0.6);
  say('kills all brokers');
  await Promise.all(
    kafka.nodes.map(async (node) => {
      await node.kill('SIGKILL');
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, DOWN_MS));
  await Promise.all(
    kafka.nodes.map(async (node) => {
      await node.start();
    }),
  );
  say('all brokers are back');
  await feeding;
  const { activity, answers } = sending;
  const isOver = (): boolean => activity.list().every(({ status }) => status === 'delivered' || status === 'failed');
  await eventually('every event is delivered or given up', isOver, SETTLE_LIMIT_MS);
  const delivered = new Set(activity.list({ status: 'delivered' }).map(({ transId }) => transId));
  const { reviews, deadLetterSuffix } = config.topics;
  const log = await TopicLog.open(kafka.brokers, [reviews, `${reviews}${deadLetterSuffix}`]);
  opened.push('log', async () => {
    await log.close();
  });
  return {
    ...(await reckon(log, reviews, delivered)),
    events,
    answers,
    failed: activity.list({ status: 'failed' }).length,
  };
}

function startSender(url: string, speed: number) {
  const answers: Record<string, number> = {};
  const activity = new ActivityLog();
  const { post, close } = createPostWebhook();
  const sender = new WebhookSender({
    secret: SECRET,
    speed,
    clock: systemClock,
    draw: systemDraw,
    ledger: new Ledger('fuzz'),
    activity,
    faults: () => NO_WEBHOOK_FAULTS,
    post: async (...request) => {
      const status = await post(...request);
      answers[status ?? 'none'] = (answers[status ?? 'none'] ?? 0) + 1;
      return status;
    },
  });
  sender.setUrl(url);
  const end = (): void => {
    sender.reset();
    close();
  };
  return { sender, activity, answers, end };
}

async function feed(sender: WebhookSender, events: number, rate: number): Promise<void> {
  const startedMs = performance.now();
  for (let sent = 0; sent < events;) {
    const due = Math.min(events, ((performance.now() - startedMs) / 1000) * rate);
    for (; sent < due; sent += 1) {
      const id = `event-${String(sent)}`;
      sender.send({ frgTransId: `frg-${id}`, transId: id, decision: 'good' });
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function reckon(log: TopicLog, topic: string, delivered: ReadonlySet<string>) {
  const idsOf = (): Map<string, string[]> => {
    const ids = new Map<string, string[]>();
    for (const record of log.of(topic)) {
      const transId = String(record.key);
      ids.set(transId, [...(ids.get(transId) ?? []), headerTexts(record)['ce_id'] ?? '']);
    }
    return ids;
  };
  const lost = (): string[] => {
    const found = idsOf();
    return [...delivered].filter((id) => !found.has(id));
  };
  // What is lost never comes: whoever finds some has waited long enough.
  await eventually('every delivered event is in the topic', () => lost().length === 0, 30_000).catch(() => null);
  const found = idsOf();
  const all = [...found.values()];
  return {
    delivered: delivered.size,
    lost: lost().length,
    untold: [...found.keys()].filter((id) => !delivered.has(id)).length,
    records: log.of(topic).length,
    duplicates: all.reduce((sum, ids) => sum + ids.length - new Set(ids).size, 0),
    torn: all.filter((ids) => new Set(ids).size > 1).length,
    letters: log.records.length - log.of(topic).length,
  };
}
