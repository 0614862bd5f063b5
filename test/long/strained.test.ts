import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type KafkaAndRegistry, startKafka } from '../../src/sandbox/broker/start.ts';
import { Members } from '../contract/members.ts';
import { kafkaWorld } from '../contract/worlds.ts';
import { setClientQuota } from '../support/client-quotas.ts';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, reckonPayments, somePayments, trade, type WorldOptions } from '../support/payment-world.ts';
import { type TopicLog } from '../support/topic-log.ts';

const LIMIT_MS = 300_000;

let kafka: KafkaAndRegistry;
let world: PaymentWorld;
let letters: TopicLog;

beforeAll(async () => {
  kafka = await startKafka({ env: process.env, say: () => {} });
}, LIMIT_MS);
afterAll(async () => {
  await kafka.stop();
});
afterEach(async () => {
  await world.close();
});

async function open(options: Omit<WorldOptions, 'brokers' | 'registryUrl'>): Promise<void> {
  world = await PaymentWorld.open({ ...kafka, ...options, service: { reviewAfterMs: 3_600_000 } });
  letters = await world.read(world.letters(world.topics.created), world.letters(world.topics.authorized));
}

type Payments = ReturnType<typeof somePayments>;

/** Every payment is scored, its status linked, every record committed. */
async function allDone(payments: Payments, connectors: readonly ConnectorProcess[]): Promise<void> {
  const isThere = (): boolean => {
    const { transactions, linked } = world.service.ledger().summary();
    return transactions >= payments.length && linked >= payments.length && reckonPayments(world, payments).lost === 0;
  };
  await eventually('everything is scored and linked', isThere, LIMIT_MS);
  await eventually('everything is committed', async () => {
    const reports = await Promise.all(connectors.map(async (connector) => await connector.status()));
    return reports.flatMap((report) => report?.partitions ?? []).every(({ lag }) => lag === '0');
  });
  expect(letters.records).toEqual([]);
}

const scorings = (): number => world.service.ledger().summary().scorings;

describe('a member of the group that joins and leaves every half second', () => {
  const members = new Members(() => contract);
  let contract: Awaited<ReturnType<typeof kafkaWorld>>;

  beforeEach(async () => {
    contract = await kafkaWorld(kafka.brokers);
  });
  afterEach(async () => {
    await members.stopAll();
    await contract.close();
  });

  test('keeps nobody from working: payments are scored all the time, none is lost, doubled or out of order', async () => {
    await open({ partitions: 4 });
    const payments = somePayments(1200, { customers: 200 });
    world.service.faults.set({ latencyMs: 20, latencyJitterMs: 20 });
    const connectors = [await (await world.start()).ready(), await (await world.start()).ready()];
    const traffic = (async () => {
      for (let from = 0; from < payments.length; from += 20) {
        await trade(world, payments.slice(from, from + 20));
        await sleep(400);
      }
    })();
    const { created, authorized } = world.topics;
    const progress: number[] = [scorings()];
    for (let round = 1; round <= 20; round += 1) {
      const { source, recorder } = await members.reader(world.config.kafka.groupId, [created, authorized]);
      // It owns partitions, and gives them back half a second later.
      await contract.until(() => recorder.assignments.length > 0);
      await sleep(500);
      await source.stop();
      if (round % 5 === 0) progress.push(scorings());
    }
    // Work went on between any five of its visits.
    expect(progress.every((count, index) => index === 0 || count > (progress[index - 1] ?? 0))).toBe(true);
    await traffic;
    await allDone(payments, connectors);
    expect(reckonPayments(world, payments)).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0 });
    for (const connector of connectors) expect(await connector.stop()).toMatchObject({ code: 0 });
  });
});

describe('brokers that let us read and write a few kilobytes a second', () => {
  test('make it slow, and nothing else: no failed membership, no letter, none lost, doubled or out of order', async () => {
    const clientId = `quota-${randomUUID()}`;
    const [broker = ''] = kafka.brokers;
    await open({ partitions: 2, env: { KAFKA_CLIENT_ID: clientId, KAFKA_SESSION_TIMEOUT_MS: '30000' } });
    const payments = somePayments(300, { customers: 80 });
    const connector = await (await world.start()).ready();
    const rate = 5000;
    await setClientQuota(broker, clientId, { consumer_byte_rate: rate, producer_byte_rate: rate });
    const startedMs = performance.now();
    await trade(world, payments);
    await allDone(payments, [connector]);
    // More than eleven seconds' worth goes through in a burst; that of the rest takes at least its time.
    const bytes = Buffer.byteLength(JSON.stringify(payments.map(({ created }) => created)));
    expect(performance.now() - startedMs).toBeGreaterThan((1000 * (bytes - 11 * rate)) / rate);
    expect(reckonPayments(world, payments)).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0 });
    expect(connector.said('source_failed')).toEqual([]);
    expect(await connector.stop()).toMatchObject({ code: 0 });
    await setClientQuota(broker, clientId, { consumer_byte_rate: null, producer_byte_rate: null });
  });
});

describe('a process that is given too little', () => {
  test('memory: a long lag does not fill it, while newer payments come as well', async () => {
    await open({ partitions: 3, env: { SCORING_CONCURRENCY: '64', NODE_OPTIONS: '--max-old-space-size=64' } });
    const payments = somePayments(40_000, { customers: 2000 });
    const old = payments.slice(0, 35_000);
    await trade(world, old, 1000);
    const connector = await (await world.start({ KAFKA_START_FROM: 'earliest' })).ready();
    await trade(world, payments.slice(35_000), 100);
    await allDone(payments, [connector]);
    expect(reckonPayments(world, payments)).toMatchObject({ lost: 0, doubled: 0, outOfOrder: 0 });
    expect(await connector.stop()).toMatchObject({ code: 0 });
  });

  test('open files: connections that cannot be opened are waited for, and nothing is lost', async () => {
    await open({ partitions: 2 });
    const payments = somePayments(300, { customers: 80 });
    const connector = await (await world.start()).ready();
    await trade(world, payments.slice(0, 100));
    await eventually('traffic', () => scorings() > 20);
    const allow = (files: number): void => {
      execFileSync('prlimit', ['--pid', String(connector.pid), `--nofile=${String(files)}:4096`]);
    };
    allow(16);
    world.service.faults.set({ resetBeforeShare: 1 });
    await eventually('a connection cannot be opened', () =>
      connector.said('connection_failed').some(({ error }) => error === 'EMFILE'),
    );
    world.service.faults.set({});
    await trade(world, payments.slice(100));
    expect(connector.isAlive).toBe(true);
    allow(4096);
    await allDone(payments, [connector]);
    expect(reckonPayments(world, payments)).toMatchObject({ lost: 0, outOfOrder: 0 });
    expect(await connector.stop()).toMatchObject({ code: 0 });
  });
});
