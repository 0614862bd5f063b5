import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';

/** Long enough for what asks without a pause to ask thousands of times. */
const WATCHED_MS = 8000;
/** Of one neighbour in that time: some retries, with waits in between. */
const MOST = 60;

/** A port that closes each connection at once, and counts them. */
class ClosedDoor {
  came = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((socket) => {
      this.came += 1;
      socket.on('error', () => undefined);
      socket.resetAndDestroy();
    });
  }

  async open(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get address(): string {
    return `127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  close(): void {
    this.#server.close();
  }
}

const doors: ClosedDoor[] = [];
afterEach(() => {
  for (const door of doors.splice(0)) door.close();
});

test('a connector that every neighbour refuses lives, is not ready, asks each of them now and then, and ends when told', async () => {
  const [kafka, registry, service] = await Promise.all([
    new ClosedDoor().open(),
    new ClosedDoor().open(),
    new ClosedDoor().open(),
  ]);
  doors.push(kafka, registry, service);
  const connector = await ConnectorProcess.start({
    KAFKA_BROKERS: kafka.address,
    SCHEMA_REGISTRY_URL: `http://${registry.address}`,
    SERVICE_BASE_URL: `http://${service.address}`,
    SERVICE_USERNAME: 'user',
    SERVICE_PASSWORD: 'made-up-password',
    WEBHOOK_SECRETS: 'made-up-webhook-secret-of-more-than-24-bytes',
  });
  await eventually('it has asked for Kafka and the registry', () => kafka.came > 0 && registry.came > 0);
  const before = doors.map(({ came }) => came);
  await sleep(WATCHED_MS);
  const asked = doors.map(({ came }, index) => came - (before[index] ?? 0));
  expect(Math.max(...asked)).toBeLessThan(MOST);
  expect(asked[0]).toBeGreaterThan(0);
  expect((await fetch(`${connector.opsUrl}/livez`)).status).toBe(200);
  expect((await fetch(`${connector.opsUrl}/readyz`)).status).toBe(503);
  connector.signal('SIGTERM');
  expect(await connector.ended).toMatchObject({ signal: null });
});
