import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freePorts } from '../../src/sandbox/broker/ports.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, reckonPayments, somePayments, trade } from '../support/payment-world.ts';
import { join } from '../support/tls-relay.ts';

const [broker = ''] = inject('kafka').brokers;
const BROKER_PORT = Number(broker.slice(broker.lastIndexOf(':') + 1));

/** A port at one address of this machine that leads to a port at another. */
class Relay {
  /** Connections that came here. */
  taken = 0;
  readonly #open = new Set<Socket>();
  readonly #server: Server;

  private constructor(target: number) {
    this.#server = createServer((near) => {
      this.taken += 1;
      join(near, connect({ host: '127.0.0.1', port: target }), this.#open);
    });
  }

  static async open(host: string, port: number, target: number): Promise<Relay> {
    const relay = new Relay(target);
    await new Promise<void>((resolve) => {
      relay.#server.listen(port, host, resolve);
    });
    return relay;
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }
}

let folder: string;
let book: string;
let world: PaymentWorld;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'names-'));
  book = path.join(folder, 'book.json');
  await name({});
  world = await PaymentWorld.open({ ...inject('kafka'), service: { reviewAfterMs: 600_000 } });
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true });
});

async function name(addresses: Readonly<Record<string, string>>): Promise<void> {
  await writeFile(book, JSON.stringify(addresses));
}

const servicePort = (): number => Number(new URL(world.service.baseUrl).port);

describe('names of neighbours', () => {
  test('that lead nowhere are waited for; one that leads elsewhere is followed, to an address of the newer kind, too', async () => {
    const payments = somePayments(120, { customers: 40 });
    const [toKafka = 0, toService = 0] = await freePorts(2);
    const preload = new URL(`../support/preload/names.ts?file=${encodeURIComponent(book)}`, import.meta.url).href;
    const connector = await world.start({
      NODE_OPTIONS: `--import=${preload}`,
      KAFKA_BROKERS: `kafka.localhost:${String(toKafka)}`,
      SERVICE_BASE_URL: `http://service.localhost:${String(toService)}`,
    });
    await eventually('Kafka is not found', async () =>
      ((await connector.status())?.holds ?? []).some(({ cause }) => cause === 'kafka'),
    );
    expect(await connector.probe('/livez')).toBe(200);
    const kafka = await Relay.open('127.0.0.2', toKafka, BROKER_PORT);
    await name({ 'kafka.localhost': '127.0.0.2' });
    await connector.ready();

    await trade(world, payments.slice(0, 40));
    await eventually('the service is not found', async () =>
      ((await connector.flow('scoring'))?.waits ?? []).some(({ cause }) => cause === 'service_down'),
    );
    const before = await Relay.open('127.0.0.2', toService, servicePort());
    await name({ 'kafka.localhost': '127.0.0.2', 'service.localhost': '127.0.0.2' });
    await eventually('the first are linked', () => reckonPayments(world, payments.slice(0, 40)).lost === 0);

    const after = await Relay.open('::1', toService, servicePort());
    const traffic = trade(world, payments.slice(40));
    await name({ 'kafka.localhost': '127.0.0.2', 'service.localhost': '::1' });
    await before.close();
    await traffic;
    await eventually('all are linked', () => reckonPayments(world, payments).lost === 0);
    expect(reckonPayments(world, payments)).toMatchObject({ lost: 0, outOfOrder: 0 });
    expect([kafka.taken, before.taken, after.taken].every((taken) => taken > 0)).toBe(true);
    expect(await connector.outcome('scoring', 'delivered')).toBe(payments.length);
    expect(await connector.stop()).toMatchObject({ code: 0 });
    await Promise.all([kafka.close(), after.close()]);
  });
});
