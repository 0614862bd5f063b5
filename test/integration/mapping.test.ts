import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { headerTexts, type TopicLog } from '../support/topic-log.ts';

const FIXTURES = new URL('../fixtures/mapping/', import.meta.url);
const fixture = (name: string): string => readFileSync(new URL(name, FIXTURES), 'utf8');
const tight = (json: string): string => json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');

interface Call {
  readonly method: string;
  readonly url: string;
  readonly body: string;
}

/** The sandbox, with every call to it kept as its bytes came. */
class Tap {
  readonly calls: Call[] = [];
  readonly #server: Server;

  constructor(target: string) {
    this.#server = createServer((request, response) => {
      const { method = '', url = '', headers } = request;
      void (async () => {
        const parts: Buffer[] = [];
        for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
        const body = Buffer.concat(parts);
        this.calls.push({ method, url, body: body.toString() });
        const { authorization = '' } = headers;
        const answer = await fetch(`${target}${url}`, {
          method,
          headers: { authorization, 'content-type': 'application/json' },
          ...(body.length === 0 ? {} : { body }),
        });
        response.writeHead(answer.status, { 'content-type': 'application/json' });
        response.end(await answer.text());
      })();
    });
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  bodies(method: string, transId: string): readonly string[] {
    const calls = this.calls.filter((call) => call.method === method && call.url.endsWith('/transaction'));
    return calls.map(({ body }) => body).filter((body) => body.includes(transId));
  }
}

let world: PaymentWorld;
let tap: Tap;
let connector: ConnectorProcess;
let log: TopicLog;

beforeAll(async () => {
  world = await PaymentWorld.open({ ...inject('kafka'), env: { SYNC_BATCH_MAX_AGE_MS: '50' } });
  tap = new Tap(world.service.baseUrl);
  log = await world.read(world.letters(world.topics.created));
  const MAPPING_FILE = fileURLToPath(new URL('harbour-pay.yaml', FIXTURES));
  connector = await (await world.start({ MAPPING_FILE, SERVICE_BASE_URL: await tap.listen() })).ready();
});
afterAll(async () => {
  await world.close();
  await tap.close();
});

/** The payment of the page, under an id of its own. */
function paymentOf(transId: string): string {
  return fixture('harbour-pay-payment.in.json').replace('HP-7F3K-20931', transId);
}

test('a payment of another shape reaches the service as the page shows it, byte for byte, and its status is linked', async () => {
  const transId = `HP-${randomUUID()}`;
  await world.send(world.topics.created, { key: 'h1', value: paymentOf(transId) });
  await eventually('it is scored', () => tap.bodies('POST', transId).length === 1);
  const expected = tight(fixture('harbour-pay-payment.out.json')).replace('HP-7F3K-20931', transId);
  expect(tap.bodies('POST', transId)).toEqual([expected]);

  const status = fixture('harbour-pay-status.in.json').replace('HP-7F3K-20931', transId);
  await world.send(world.topics.authorized, { key: 'h1', value: status });
  await eventually('it is reported', () => world.service.ledger().transaction(transId)?.updates[0]?.linked === true);
  const [body = '{}'] = tap.bodies('PATCH', transId);
  const out = JSON.parse(fixture('harbour-pay-status.out.json')) as Record<string, object>;
  const call = { http_status_code: 200, latency: expect.any(Number) as number };
  expect(JSON.parse(body)).toEqual({ [transId]: { ...out['HP-7F3K-20931'], ...call } });
});

test('Avro of another shape is mapped by its own names', async () => {
  const schema = {
    type: 'record',
    name: 'HarbourPayment',
    fields: [
      {
        name: 'payment',
        type: {
          type: 'record',
          name: 'Payment',
          fields: [
            { name: 'ref', type: 'string' },
            {
              name: 'total',
              type: {
                type: 'record',
                name: 'Total',
                fields: [
                  { name: 'minor', type: ['null', 'long'] },
                  { name: 'ccy', type: 'string' },
                ],
              },
            },
          ],
        },
      },
    ],
  };
  const transId = `HP-${randomUUID()}`;
  const id = await world.registry.register(`${world.topics.created}-value`, schema);
  const value = world.registry
    .encoder(schema, id)
    .encode({ payment: { ref: transId, total: { minor: 1250, ccy: 'KWD' } } });
  await world.send(world.topics.created, { key: 'h1', value });
  await eventually('it is scored', () => tap.bodies('POST', transId).length === 1);
  expect(tap.bodies('POST', transId)).toEqual([
    `{"platform_id":"harbour-pay","trans_id":"${transId}","trans_amt":1.250,"trans_currency":"KWD","sub_seller":"harbour direct"}`,
  ]);
});

test('a value that the mapping cannot handle is a letter with the name of the datapoint, and the record as it came', async () => {
  const transId = `HP-${randomUUID()}`;
  const value = paymentOf(transId).replace('"eur"', '"ecu"');
  await world.send(world.topics.created, { key: 'h1', value });
  const letter = await log.find(
    world.letters(world.topics.created),
    (each) => each.value?.toString().includes(transId) === true,
  );
  expect(headerTexts(letter)).toMatchObject({
    'dlq.reason': 'mapping_refused',
    'dlq.detail': 'trans_amt',
    'dlq.stage': 'read',
  });
  expect(letter.value?.toString()).toBe(value);
  expect(tap.bodies('POST', transId)).toEqual([]);
});

test('a record that skip_when names is passed over and counted', async () => {
  const before = await connector.outcome('scoring', 'skip:skip_when');
  const [skipped, sent] = [`HP-${randomUUID()}`, `HP-${randomUUID()}`];
  const rehearsal = paymentOf(skipped).replace('"live"', '"rehearsal"');
  await world.send(world.topics.created, { key: 'h1', value: rehearsal }, { key: 'h1', value: paymentOf(sent) });
  await eventually('the payment behind it is scored', () => tap.bodies('POST', sent).length === 1);
  expect(tap.bodies('POST', skipped)).toEqual([]);
  expect(await connector.outcome('scoring', 'skip:skip_when')).toBe(before + 1);
});

test('a mapping with problems ends the start with all of them, exit code 2', async () => {
  const MAPPING_FILE = fileURLToPath(new URL('harbour-pay-payment.in.json', FIXTURES));
  const broken = await world.start({ MAPPING_FILE });
  expect((await broken.ended).code).toBe(2);
  expect(broken.output).toContain('CONFIG_INVALID');
  expect(broken.output).toContain('line 2, column 3, /mode: "mode" is no flow; give scoring or sync.');
  expect(broken.output).toContain('/merchant');
});
