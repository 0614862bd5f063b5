import { randomUUID } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { PAYMENT_CREATED_SCHEMA } from '../../src/screening/avro.generated.ts';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { headerTexts, type LoggedRecord, type TopicLog } from '../support/topic-log.ts';

const PAN = '4111111111111111';

let world: PaymentWorld;
let connector: ConnectorProcess;
let log: TopicLog;

beforeAll(async () => {
  const env = { CARD_GUARD_EXEMPT: 'loyalty_no', SYNC_BATCH_MAX_AGE_MS: '50' };
  world = await PaymentWorld.open({ ...inject('kafka'), env });
  const { created, authorized } = world.topics;
  log = await world.read(world.letters(created), world.letters(authorized));
  connector = await (await world.start()).ready();
});
afterAll(async () => {
  await world.close();
});

const newId = (): string => `pay-${randomUUID()}`;
const payment = (change: object = {}): Record<string, unknown> & { trans_id: string } => ({
  trans_id: newId(),
  cust_id: 'c1',
  trans_amt: 12.5,
  trans_currency: 'EUR',
  ...change,
});
const scored = (transId: string): number => world.service.ledger().transaction(transId)?.scored ?? 0;
const reported = (transId: string): number => world.service.ledger().transaction(transId)?.updateCount ?? 0;

/** Sends a payment that is scored. */
async function goodPayment(change: object = {}): Promise<string> {
  const value = payment(change);
  await world.send(world.topics.created, { key: 'c1', value });
  await eventually('the payment is scored', () => scored(value.trans_id) === 1);
  return value.trans_id;
}

/** Sends one record and answers the one letter that is written of it. */
async function letterOf(topic: string, value: Buffer | string | object): Promise<LoggedRecord> {
  const before = log.of(world.letters(topic)).length;
  await world.send(topic, { key: `key of ${PAN}`, value, headers: { secret: PAN, traceparent: 'x' } });
  return await eventually('its letter', () => log.of(world.letters(topic))[before] ?? null);
}

/** Nothing of the record but the place where it was read. */
function expectPointer(letter: LoggedRecord, topic: string, said: Readonly<Record<string, string>>): void {
  const headers = headerTexts(letter);
  expect(letter).toMatchObject({ key: null, value: null });
  expect(Object.keys(headers).filter((name) => !name.startsWith('dlq.'))).toEqual([]);
  expect(headers).toMatchObject({
    'dlq.value': 'withheld',
    'dlq.attempts': '1',
    'dlq.source.topic': topic,
    'dlq.source.partition': '0',
    'dlq.account': 'test',
    ...said,
  });
  expect(headers['dlq.source.offset']).toMatch(/^\d+$/);
  expect(JSON.stringify(headers)).not.toContain(PAN);
}

describe('card data on the topic of payments', () => {
  test.for([
    ['in free text', { items: [{ item_desc: `card ${PAN}` }] }, 'pan /items/0/item_desc'],
    ['as a number', { cc_num_hash: Number(PAN) }, 'pan /cc_num_hash'],
    ['as a verification value', { cvv: '123' }, 'verification_value /cvv'],
    ['as a track', { note: ';4111111111111111=25121010000?' }, 'track_data /note'],
  ] as const)('%s is a pointer, and the payment behind it is scored', async ([, change, detail]) => {
    const { created } = world.topics;
    const value = payment(change);
    const letter = await letterOf(created, value);
    expectPointer(letter, created, { 'dlq.reason': 'card_data', 'dlq.stage': 'read', 'dlq.detail': detail });
    await goodPayment();
    expect(scored(value.trans_id)).toBe(0);
  });

  test('in Avro is a pointer, and the payment behind it is scored', async () => {
    const { created } = world.topics;
    const id = await world.registry.register(`${created}-value`, PAYMENT_CREATED_SCHEMA);
    const { fields } = PAYMENT_CREATED_SCHEMA as { readonly fields: readonly { readonly name: string }[] };
    const nothing = Object.fromEntries(fields.map(({ name }) => [name, null]));
    const value = { ...nothing, trans_id: newId(), bill_ad_line1: PAN };
    const letter = await letterOf(created, world.registry.encoder(PAYMENT_CREATED_SCHEMA, id).encode(value));
    expectPointer(letter, created, { 'dlq.reason': 'card_data', 'dlq.detail': 'pan /bill_ad_line1' });
    expect(scored(await goodPayment())).toBe(1);
  });

  test('that cannot be read is a pointer, too', async () => {
    const { created } = world.topics;
    const letter = await letterOf(created, `{"note":"${PAN}"`);
    expectPointer(letter, created, { 'dlq.reason': 'undecodable', 'dlq.detail': 'json' });
    expect(scored(await goodPayment())).toBe(1);
  });

  test('in ids and in what is exempt is nobody’s business: the payment is scored', async () => {
    expect(scored(await goodPayment({ order_id: PAN, loyalty_no: PAN }))).toBe(1);
  });
});

test('card data in the free text of a status update is a pointer, and the update behind it is sent', async () => {
  const { authorized } = world.topics;
  const transId = await goodPayment();
  const update = { trans_id: transId, status: 'declined', ts: '2026-01-01T10:00:00Z' };
  const letter = await letterOf(authorized, { ...update, issuer_decline_reason: `stolen card 4111-1111-1111-1111` });
  expectPointer(letter, authorized, { 'dlq.reason': 'card_data', 'dlq.detail': 'pan /issuer_decline_reason' });
  await world.send(authorized, { key: 'c1', value: { ...update, issuer_decline_reason: 'stolen card' } });
  await eventually('the update behind it is sent', () => reported(transId) > 0);
  expect(reported(transId)).toBe(1);
});

test('a letter too large for its topic becomes a pointer, and the payment behind it is scored', async () => {
  const { created } = world.topics;
  const admin = new Kafka({ brokers: [...inject('kafka').brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  await admin.alterConfigs({
    validateOnly: false,
    resources: [
      { type: 2, name: world.letters(created), configEntries: [{ name: 'max.message.bytes', value: '2000' }] },
    ],
  });
  await admin.disconnect();
  const before = await connector.outcome('scoring', 'dead_letter:not_an_object');
  // The setting reaches the broker's log a little later: until then the letter is written whole.
  const letter = await eventually('a letter that is refused whole', async () => {
    const written = await letterOf(created, JSON.stringify(['x'.repeat(3000)]));
    return written.value === null ? written : null;
  });
  expectPointer(letter, created, { 'dlq.reason': 'not_an_object', 'dlq.stage': 'read' });
  await goodPayment();
  expect(await connector.outcome('scoring', 'dead_letter:not_an_object')).toBeGreaterThan(before);
});

test('pointers are counted by why they are pointers, and nothing tells of what was found', async () => {
  const metrics = await connector.text('/metrics');
  expect(metrics).toMatch(/fraud_connector_dlq_withheld_total\{[^}]*why="card_data"[^}]*\} [1-9]/);
  expect(metrics).toMatch(/fraud_connector_dlq_withheld_total\{[^}]*why="too_large"[^}]*\} 1\b/);
  for (const text of [connector.output, metrics, await connector.text('/status')]) expect(text).not.toContain(PAN);
  expect(world.service.ledger().summary()).toMatchObject({ repeatedScorings: 0, repeatedUpdates: 0, disorders: 0 });
});
