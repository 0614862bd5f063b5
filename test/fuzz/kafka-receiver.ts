import { type WebhookResult } from '../../src/kernel/emit.ts';
import { STATUS_OF } from '../../src/reviews/reply.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { type TopicLog } from '../support/topic-log.ts';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { ENDPOINT, type Target } from './campaign.ts';
import { type Report } from './receiver.ts';
import { MAX_BYTES } from './wire.ts';

const SEEN_LIMIT_MS = 30_000;
const COUNTED = /^fraud_connector_webhook_requests_total\{([^}]*)\} (\d+)/gm;

/** The connector as it is run, with a real Kafka behind it: what is written is what is read from its topics. */
export class KafkaReceiver {
  readonly url: string;
  readonly #world: PaymentWorld;
  readonly #connector: ConnectorProcess;
  readonly #log: TopicLog;
  #told = 0;

  private constructor(world: PaymentWorld, connector: ConnectorProcess, log: TopicLog) {
    this.#world = world;
    this.#connector = connector;
    this.#log = log;
    this.url = new URL(connector.webhookUrl).origin;
  }

  /** As something to attack, with topics of its own. */
  static async start(kafka: { readonly brokers: readonly string[]; readonly registryUrl: string }): Promise<Target> {
    const env = { FLOWS: 'reviews', WEBHOOK_SECRETS: ENDPOINT.secrets.join(','), WEBHOOK_MAX_BYTES: String(MAX_BYTES) };
    const world = await PaymentWorld.open({ ...kafka, env });
    const log = await world.read(world.topics.reviews, world.letters(world.topics.reviews));
    const connector = await world.start();
    await eventually('the connector is ready', async () => (await connector.probe('/readyz')) === 200);
    const receiver = new KafkaReceiver(world, connector, log);
    return { receiver, endpoint: () => ({ ...ENDPOINT, nowMs: Date.now(), writesAll: true }) };
  }

  get isAlive(): boolean {
    return this.#connector.isAlive;
  }

  async report(): Promise<Report> {
    const { results, statuses } = await this.#counts();
    const acknowledged = (results['published'] ?? 0) + (results['parked'] ?? 0);
    await eventually(`${String(acknowledged)} records`, () => this.#log.records.length >= acknowledged, SEEN_LIMIT_MS);
    const records = this.#log.records.slice(this.#told);
    this.#told += records.length;
    const written = records.map(({ topic, key, value }) =>
      topic === this.#world.topics.reviews ? String(key) : idIn(value),
    );
    return { written, results, statuses, sockets: 0, heapBytes: 0, rssBytes: 0, warnings: [], broken: [] };
  }

  async close(): Promise<void> {
    await this.#world.close();
  }

  async #counts(): Promise<{ results: Record<string, number>; statuses: Record<string, number> }> {
    const results: Record<string, number> = {};
    const statuses: Record<string, number> = {};
    for (const [, labels = '', count = '0'] of (await this.#connector.text('/metrics')).matchAll(COUNTED)) {
      const result = Object.keys(STATUS_OF).find((known) => labels.includes(`result="${known}"`)) as WebhookResult;
      const status = STATUS_OF[result];
      results[result] = Number(count);
      statuses[status] = (statuses[status] ?? 0) + Number(count);
    }
    return { results, statuses };
  }
}

function idIn(body: Buffer | null): string {
  return /"trans_id": *"([^"]+)"/.exec(String(body))?.[1] ?? 'unknown';
}
