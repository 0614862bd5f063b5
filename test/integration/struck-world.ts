import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { type FaultSettings } from '../../src/sandbox/service/faults.ts';
import { type Ledger, type LedgerTransaction } from '../../src/sandbox/service/ledger.ts';
import { type FraudScore, FRAUD_SCORE_SCHEMA } from '../../src/screening/avro.generated.ts';
import { type ConnectorProcess, type Environment } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { type NewRecord, PaymentWorld, type WorldOptions } from '../support/payment-world.ts';
import { headerTexts, type LoggedRecord, type TopicLog } from '../support/topic-log.ts';

/** In every payment, and never to be seen in anything that the connector says of itself. */
const EMAIL = 'not.to.be.told@example.com';
const ID_PREFIX = 'untold-';

/** One connector and the real neighbours around it; payments and updates that faults of the service are aimed at, one by one. */
export class StruckWorld {
  readonly world: PaymentWorld;
  readonly log: TopicLog;
  readonly #ended: ConnectorProcess[] = [];
  #connector: ConnectorProcess;

  private constructor(world: PaymentWorld, log: TopicLog, connector: ConnectorProcess) {
    this.world = world;
    this.log = log;
    this.#connector = connector;
  }

  static async open(options: WorldOptions): Promise<StruckWorld> {
    const world = await PaymentWorld.open({
      ...options,
      env: { SERVICE_TIMEOUT_MS: '700', SYNC_TIMEOUT_MS: '700', SYNC_BATCH_MAX_AGE_MS: '30', ...options.env },
      service: { reviewAfterMs: 600_000, ...options.service },
    });
    const { created, authorized, scores } = world.topics;
    const log = await world.read(world.letters(created), world.letters(authorized), scores);
    return new StruckWorld(world, log, await (await world.start()).ready());
  }

  get connector(): ConnectorProcess {
    return this.#connector;
  }

  get ledger(): Ledger {
    return this.world.service.ledger();
  }

  /** Ends the connector cleanly and starts another of the same group: what it had learnt of the service is gone. */
  async restart(env: Environment = {}): Promise<void> {
    const { code } = await this.#connector.stop();
    if (code !== 0) throw new Error(`the connector ended with ${String(code)}`);
    this.#ended.push(this.#connector);
    this.#connector = await (await this.world.start(env)).ready();
  }

  /** Ends the connector with kill -9 and starts another of the same group. */
  async kill(env: Environment = {}): Promise<void> {
    await this.#connector.kill();
    this.#ended.push(this.#connector);
    this.#connector = await (await this.world.start(env)).ready();
  }

  newId(): string {
    return `${ID_PREFIX}${randomUUID()}`;
  }

  /** A payment of a customer of its own. */
  payment(transId: string, more: object = {}): NewRecord {
    const value = { trans_id: transId, cust_id: transId, cust_email: EMAIL, trans_amt: 12.5, trans_currency: 'EUR' };
    return { key: transId, value: { ...value, ...more } };
  }

  update(transId: string, more: object = {}): NewRecord {
    const value = { trans_id: transId, status: 'approved', ts: '2026-01-01T10:00:00Z', acq_ref_id: 'arn-1' };
    return { key: transId, value: { ...value, ...more } };
  }

  /** Sends payments; answers their ids. */
  async pay(count: number, more: object = {}): Promise<readonly string[]> {
    const ids = Array.from({ length: count }, () => this.newId());
    await this.world.send(this.world.topics.created, ...ids.map((id) => this.payment(id, more)));
    return ids;
  }

  async report(...ids: readonly string[]): Promise<void> {
    await this.world.send(this.world.topics.authorized, ...ids.map((id) => this.update(id)));
  }

  seen(transId: string): LedgerTransaction | null {
    return this.ledger.transaction(transId);
  }

  /** A payment that the fault strikes with each of its next requests, `next` of them, and one beside it that nothing strikes. */
  async strikePayment(fault: FaultSettings, next = 1, more: object = {}): Promise<FraudScore> {
    const id = this.newId();
    const mate = this.newId();
    this.world.service.faults.set({ rules: [{ ...fault, only: { transIds: [id] }, next }] });
    await this.world.send(this.world.topics.created, this.payment(id, more), this.payment(mate));
    const score = await this.scoreOf(id);
    await this.scoreOf(mate);
    this.world.service.faults.set({});
    if (this.seen(mate)?.requests !== 1) throw new Error('the payment beside it was asked about more than once');
    return score;
  }

  /** An update whose next PATCH the fault strikes; and one behind it that nothing strikes. Answers the id of the first. */
  async strikeUpdate(fault: FaultSettings, next = 1): Promise<string> {
    const [id = '', mate = ''] = await this.pay(2);
    await this.scored(id, mate);
    this.world.service.faults.set({ rules: [{ ...fault, operations: ['sync'], only: { transIds: [id] }, next }] });
    const delivered = await this.#connector.outcome('sync', 'delivered');
    const ended = async (count: number): Promise<void> => {
      await eventually(
        'the update has ended',
        async () => (await this.#connector.outcome('sync', 'delivered')) === delivered + count,
      );
    };
    await this.report(id);
    await ended(1);
    await this.report(mate);
    await ended(2);
    this.world.service.faults.set({});
    return id;
  }

  async scored(...ids: readonly string[]): Promise<void> {
    await eventually(`${String(ids.length)} payments are scored`, () =>
      ids.every((id) => (this.seen(id)?.scored ?? 0) > 0),
    );
  }

  async reported(...ids: readonly string[]): Promise<void> {
    await eventually(`${String(ids.length)} updates are linked`, () =>
      ids.every((id) => this.seen(id)?.updates.some(({ linked }) => linked) === true),
    );
  }

  /** The score record of a payment. */
  async scoreOf(transId: string): Promise<FraudScore> {
    const { scores } = this.world.topics;
    const record = await this.log.find(scores, ({ key }) => key?.toString() === transId);
    return await this.world.decode<FraudScore>(FRAUD_SCORE_SCHEMA, record.value);
  }

  async letterOf(topic: 'created' | 'authorized', transId: string): Promise<LoggedRecord> {
    return await this.log.find(this.world.letters(this.world.topics[topic]), ({ key }) => key?.toString() === transId);
  }

  /** The reasons of all letters so far. */
  get reasons(): readonly string[] {
    const { created, authorized } = this.world.topics;
    const letters = [created, authorized].flatMap((topic) => this.log.of(this.world.letters(topic)));
    return letters.map((letter) => headerTexts(letter)['dlq.reason'] ?? '');
  }

  /** All that its connectors have said so far. */
  async said(): Promise<string> {
    const endpoints = await Promise.all(['/metrics', '/status'].map(async (path) => await this.connector.text(path)));
    return [...this.#ended.map(({ output }) => output), this.connector.output, ...endpoints].join('\n');
  }

  async close(): Promise<void> {
    await this.world.close();
  }
}

/**
 * Every record has ended and is committed; each payment has one score record; order was kept. `hangs`: status updates were
 * given up that the service still holds: it learns of that a moment later, and may meet their repeats before.
 */
export async function expectAllSettled(
  { connector, ledger, log, world }: StruckWorld,
  { hangs = false } = {},
): Promise<void> {
  await eventually('everything is committed', async () => {
    const partitions = (await connector.status())?.partitions ?? [];
    return partitions.length > 0 && partitions.every(({ lag }) => lag === '0');
  });
  expect(ledger.summary()).toMatchObject({
    overlaps: 0,
    disorders: 0,
    unlinked: 0,
    ...(hangs ? {} : { updateOverlaps: 0 }),
    backwardUpdates: 0,
    redirectsFollowed: 0,
  });
  const keys = log.of(world.topics.scores).map(({ key }) => key?.toString());
  expect(new Set(keys).size).toBe(keys.length);
}

/** No secret and nothing from a record is in anything that a connector has said. */
export async function expectNothingTold(struck: StruckWorld): Promise<void> {
  const { password, webhookSecret } = struck.world.service;
  const said = await struck.said();
  expect(
    [password, webhookSecret, EMAIL, ID_PREFIX, 'SessionToken', 'eyJ'].filter((text) => said.includes(text)),
  ).toEqual([]);
}
