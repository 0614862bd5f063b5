import { Agent, request } from 'node:http';
import { afterEach, beforeEach, expect, inject, test } from 'vitest';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { type TopicLog } from '../support/topic-log.ts';
import { reviewBody, sign } from '../support/webhooks.ts';

const CLIENTS = 16;
/** How long webhooks are served after SIGTERM. */
const SERVED_MS = 5000;

/** How one webhook ended for its sender. */
interface Sent {
  readonly transId: string;
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly closes: boolean;
  readonly endedMs: number;
}

let world: PaymentWorld;
let log: TopicLog;
beforeEach(async () => {
  world = await PaymentWorld.open({ ...inject('kafka'), env: { FLOWS: 'reviews' } });
  log = await world.read(world.topics.reviews);
});
afterEach(async () => {
  await world.close();
});

async function post(connector: ConnectorProcess, agent: Agent, transId: string): Promise<Sent> {
  const body = reviewBody({ trans_id: transId });
  const timestamp = new Date().toISOString();
  return await new Promise((resolve) => {
    const end = (status: number | null, closes = false): void => {
      resolve({ transId, status, closes, endedMs: performance.now() });
    };
    const sending = request(
      connector.webhookUrl,
      {
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/json',
          'X-ServiceWebhook-Signature': sign(body, timestamp, world.service.webhookSecret),
          'X-ServiceWebhook-Timestamp': timestamp,
        },
      },
      (answer) => {
        const { statusCode = 0, headers } = answer;
        answer.resume().once('end', () => {
          end(statusCode, headers.connection === 'close');
        });
      },
    );
    sending.on('error', () => {
      end(null);
    });
    sending.end(body);
  });
}

/** Sends one webhook after the other on a connection that is kept, until there is no answer. */
async function trade(connector: ConnectorProcess, client: number, sent: Sent[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let number = 0; ; number += 1) {
    const one = await post(connector, agent, `stop-${String(client)}-${String(number)}`);
    sent.push(one);
    if (one.status === null) break;
  }
  agent.destroy();
}

test('webhooks are served through a SIGTERM: each is answered 200 or was never taken', async () => {
  const connector = await (await world.start()).ready();
  const sent: Sent[] = [];
  const clients = Array.from({ length: CLIENTS }, async (_, client) => {
    await trade(connector, client, sent);
  });
  await eventually('webhooks are taken', () => sent.length > 10 * CLIENTS);
  const askedMs = performance.now();
  connector.signal('SIGTERM');
  await eventually('balancers are told', async () => (await connector.probe('/readyz')) !== 200);
  expect(await connector.ended).toMatchObject({ code: 0 });
  await Promise.all(clients);

  const answered = sent.filter(({ status }) => status !== null);
  const lost = sent.filter(({ status }) => status === null);
  expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([200]));
  // Whoever comes while it is served is served, and told to look for another connection.
  expect(lost.filter(({ endedMs }) => endedMs < askedMs + SERVED_MS)).toEqual([]);
  expect(answered.filter(({ endedMs }) => endedMs > askedMs + 1000 && endedMs < askedMs + SERVED_MS)).not.toEqual([]);
  expect(answered.filter(({ closes }) => closes).length).toBeGreaterThan(CLIENTS);

  const ids = answered.map(({ transId }) => transId);
  await eventually('all of them are in the topic', () => log.records.length >= ids.length);
  const published = log.records.map(({ key }) => String(key));
  expect(published.toSorted()).toEqual(ids.toSorted());
});
