import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { PAYMENT_AUTHORIZED_SCHEMA, PAYMENT_CREATED_SCHEMA } from '../../src/screening/avro.generated.ts';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { type NewRecord, PaymentWorld } from '../support/payment-world.ts';
import { headerTexts, type LoggedRecord, type TopicLog } from '../support/topic-log.ts';

const MAX_BYTES = 4096;

let world: PaymentWorld;
let connector: ConnectorProcess;
let log: TopicLog;

beforeAll(async () => {
  const env = { RECORD_MAX_BYTES: String(MAX_BYTES), SYNC_BATCH_MAX_AGE_MS: '50' };
  world = await PaymentWorld.open({ ...inject('kafka'), env });
  const { created, authorized, scores } = world.topics;
  log = await world.read(world.letters(created), world.letters(authorized), scores);
  connector = await (await world.start()).ready();
});
afterAll(async () => {
  await world.close();
});

const newId = (): string => `pay-${randomUUID()}`;

const payment = (transId: string): Record<string, unknown> => ({
  trans_id: transId,
  cust_id: 'c1',
  cust_email: 'someone@example.com',
  trans_amt: 12.5,
  trans_currency: 'EUR',
});

const update = (transId: string): Record<string, unknown> => ({
  trans_id: transId,
  status: 'approved',
  ts: '2026-01-01T10:00:00Z',
  acq_ref_id: 'arn-1',
});

/** Byte 0 and a schema id, then what is given. */
function framed(id: number, ...payload: readonly number[]): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(id, 1);
  return Buffer.concat([head, Buffer.from(payload)]);
}

const scored = (transId: string): number => world.service.ledger().transaction(transId)?.scored ?? 0;
const reported = (transId: string): number => world.service.ledger().transaction(transId)?.updateCount ?? 0;

/** A good payment, sent behind what went before and scored. */
async function goodPayment(): Promise<string> {
  const transId = newId();
  await world.send(world.topics.created, { key: 'c1', value: payment(transId) });
  await eventually('the payment behind it is scored', () => scored(transId) === 1);
  return transId;
}

/** A good status update of a payment that is scored, sent behind what went before and accepted. */
async function goodUpdate(): Promise<void> {
  const transId = await goodPayment();
  await world.send(world.topics.authorized, { key: 'c1', value: update(transId) });
  await eventually('the update behind it is sent', () => reported(transId) === 1);
}

/** Sends a record that cannot be processed, with headers of its own, and answers its letter. */
async function letterOf(topic: string, value: NewRecord['value'], limitMs?: number): Promise<LoggedRecord> {
  const mark = randomUUID();
  await world.send(topic, { key: `key-${mark}`, value, headers: { mark, other: 'kept' } });
  return await log.find(world.letters(topic), (letter) => headerTexts(letter)['mark'] === mark, limitMs);
}

interface Bad {
  readonly is: string;
  readonly value: () => NewRecord['value'];
  readonly reason: string;
  readonly detail?: string;
  readonly stage?: string;
}

/** Neither topic takes these. */
const UNREADABLE: readonly Bad[] = [
  {
    is: 'bytes that are no UTF-8',
    value: () => Buffer.from([0x7b, 0xff, 0xfe]),
    reason: 'undecodable',
    detail: 'utf8',
  },
  { is: 'text that is no JSON', value: () => '{"trans_id":', reason: 'undecodable', detail: 'json' },
  { is: 'a JSON array', value: () => '[{"trans_id":"a"}]', reason: 'not_an_object' },
  { is: 'a JSON number', value: () => '42', reason: 'not_an_object' },
  { is: 'a JSON string', value: () => '"pay"', reason: 'not_an_object' },
  { is: 'JSON null', value: () => 'null', reason: 'not_an_object' },
  { is: 'an object without trans_id', value: () => ({ cust_id: 'c1' }), reason: 'trans_id_missing' },
  { is: 'an object with an empty trans_id', value: () => payment(''), reason: 'trans_id_missing' },
  { is: 'an empty value', value: () => Buffer.alloc(0), reason: 'bad_framing', detail: 'empty' },
  ...[1, 2, 3, 4].map((length) => ({
    is: `a frame of ${String(length)} bytes`,
    value: () => Buffer.alloc(length),
    reason: 'bad_framing',
    detail: 'short',
  })),
];

/** The sync topic does not take these either. */
const UNSENDABLE: readonly Bad[] = [
  {
    is: 'an unknown status',
    value: () => ({ ...update(newId()), status: 'refunded' }),
    reason: 'status_unknown',
    stage: 'rules',
  },
  {
    is: 'a ts without a zone',
    value: () => ({ ...update(newId()), ts: '2026-01-01T10:00:00' }),
    reason: 'ts_invalid',
    stage: 'rules',
  },
  {
    is: 'declined without a reason',
    value: () => ({ ...update(newId()), status: 'declined' }),
    reason: 'decline_reason_missing',
    stage: 'rules',
  },
];

/** The letter holds the record as it was, and says why, whence and by whom. */
function expectLetter(letter: LoggedRecord, topic: string, bad: Pick<Bad, 'reason' | 'detail' | 'stage'>): void {
  const headers = headerTexts(letter);
  expect(headers).toMatchObject({
    other: 'kept',
    'dlq.reason': bad.reason,
    'dlq.stage': bad.stage ?? 'read',
    'dlq.attempts': '1',
    'dlq.source.topic': topic,
    'dlq.source.partition': '0',
    'dlq.account': 'test',
    ...(bad.detail === undefined ? {} : { 'dlq.detail': bad.detail }),
  });
  expect(letter.key?.toString()).toBe(`key-${headers['mark'] ?? ''}`);
  expect(headers['dlq.source.offset']).toMatch(/^\d+$/);
  expect(headers['dlq.connector']).toMatch(/^fraud-screening-connector\/\d/);
  for (const time of ['dlq.source.timestamp', 'dlq.failed_at'])
    expect(headers[time]).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
}

function bytesOf(value: NewRecord['value']): Buffer | null {
  if (value === null || Buffer.isBuffer(value)) return value;
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
}

describe('on the topic of payments', () => {
  test.for(UNREADABLE)('$is is a letter, and the payment behind it is scored', async (bad) => {
    const value = bad.value();
    const letter = await letterOf(world.topics.created, value);
    expectLetter(letter, world.topics.created, bad);
    expect(letter.value).toEqual(bytesOf(value));
    await goodPayment();
  });

  test('null is skipped and counted, and the payment behind it is scored', async () => {
    const before = await connector.outcome('scoring', 'skip:tombstone');
    await world.send(world.topics.created, { key: 'c1', value: null });
    await goodPayment();
    expect(await connector.outcome('scoring', 'skip:tombstone')).toBe(before + 1);
  });

  test('a payment the service refuses is a letter with its status and words, and a score that says it failed', async () => {
    world.service.faults.set({ status: { code: 400, share: 1 }, operations: ['score'] });
    const transId = newId();
    const letter = await letterOf(world.topics.created, payment(transId));
    world.service.faults.set({});
    expectLetter(letter, world.topics.created, { reason: 'status_400', stage: 'score' });
    expect(headerTexts(letter)).toMatchObject({
      'dlq.http_status': '400',
      'dlq.service_error': 'a fault of the sandbox',
    });
    const score = await log.find(world.topics.scores, ({ key }) => key?.toString() === transId);
    expect(score.value?.includes('status_400')).toBe(true);
    await goodPayment();
  });
});

describe('on the topic of status updates', () => {
  test.for([...UNREADABLE, ...UNSENDABLE])('$is is a letter, and the update behind it is sent', async (bad) => {
    const value = bad.value();
    const letter = await letterOf(world.topics.authorized, value);
    expectLetter(letter, world.topics.authorized, bad);
    expect(letter.value).toEqual(bytesOf(value));
    await goodUpdate();
  });

  test('null is skipped and counted, and the update behind it is sent', async () => {
    const before = await connector.outcome('sync', 'skip:tombstone');
    await world.send(world.topics.authorized, { key: 'c1', value: null });
    await goodUpdate();
    expect(await connector.outcome('sync', 'skip:tombstone')).toBe(before + 1);
  });

  test('an update the service refuses is a letter alone, and its neighbours in the batch are sent', async () => {
    const [culprit, ...others] = [await goodPayment(), await goodPayment(), await goodPayment()];
    world.service.faults.set({ patchRejects: [culprit ?? ''] });
    const mark = randomUUID();
    await world.send(world.topics.authorized, ...others.map((transId) => ({ key: 'c1', value: update(transId) })), {
      key: 'c1',
      value: update(culprit ?? ''),
      headers: { mark },
    });
    for (const transId of others) await eventually('its neighbour is sent', () => reported(transId) === 1);
    // Its refusal is its own fault once another was accepted since.
    await goodUpdate();
    const letter = await log.find(world.letters(world.topics.authorized), (each) => headerTexts(each)['mark'] === mark);
    world.service.faults.set({});
    expect(headerTexts(letter)).toMatchObject({
      'dlq.reason': 'status_400',
      'dlq.stage': 'sync',
      'dlq.http_status': '400',
      'dlq.service_error': 'the sandbox was told to reject one of these updates',
    });
    expect(reported(culprit ?? '')).toBe(0);
  });
});

/** A value with every field of its schema: null where it has none. */
function whole(schema: object, value: Record<string, unknown>): Record<string, unknown> {
  const { fields } = schema as { readonly fields: readonly { readonly name: string }[] };
  return { ...Object.fromEntries(fields.map(({ name }) => [name, null])), ...value };
}

describe('Avro', () => {
  const schemas = [
    ['created', PAYMENT_CREATED_SCHEMA, payment] as const,
    ['authorized', PAYMENT_AUTHORIZED_SCHEMA, update] as const,
  ];
  const ids = new Map<string, number>();
  beforeAll(async () => {
    for (const [name, schema] of schemas)
      ids.set(name, await world.registry.register(`${world.topics[name]}-value`, schema));
  });
  test('is read as JSON is: a payment is scored, its status linked', async () => {
    const transId = newId();
    for (const [name, schema, make] of schemas) {
      const value = world.registry.encoder(schema, ids.get(name) ?? 0).encode(whole(schema, make(transId)));
      await world.send(world.topics[name], { key: 'c1', value });
    }
    await eventually('it is scored and linked', () => {
      const seen = world.service.ledger().transaction(transId);
      return seen?.scored === 1 && seen.updates[0]?.linked === true;
    });
    expect(world.service.ledger().transaction(transId)).toMatchObject({
      custId: 'c1',
      updates: [{ status: 'approved' }],
    });
  });

  test.for(schemas)('cut off is a letter, and what is behind it goes on: %s', async ([name, schema, make]) => {
    const value = world.registry.encoder(schema, ids.get(name) ?? 0).encode(whole(schema, make(newId())));
    const letter = await letterOf(world.topics[name], value.subarray(0, 12));
    expectLetter(letter, world.topics[name], { reason: 'undecodable' });
    expect(letter.value).toEqual(value.subarray(0, 12));
    await (name === 'created' ? goodPayment() : goodUpdate());
  });

  test.for(['created', 'authorized'] as const)(
    'of an unknown schema waits for a second look, then is a letter, and what is behind it goes on: %s',
    async (name) => {
      const flow = name === 'created' ? 'scoring' : 'sync';
      const value = framed(name === 'created' ? 2_000_000_001 : 2_000_000_002, 1, 2, 3);
      const sentMs = performance.now();
      const coming = letterOf(world.topics[name], value, 20_000);
      await eventually('the partition waits for the schema', async () =>
        ((await connector.flow(flow))?.waits ?? []).some(({ cause }) => cause === 'schema_pending'),
      );
      const letter = await coming;
      expect(performance.now() - sentMs).toBeGreaterThan(5000);
      expectLetter(letter, world.topics[name], { reason: 'schema_unknown' });
      expect(letter.value).toEqual(value);
      await (name === 'created' ? goodPayment() : goodUpdate());
    },
  );
});

test.for(['created', 'authorized'] as const)(
  'a record over RECORD_MAX_BYTES is a letter that says where it is, and what is behind it goes on: %s',
  async (of) => {
    const topic = world.topics[of];
    const value = { ...payment(newId()), filler: 'x'.repeat(MAX_BYTES) };
    await world.send(topic, { key: 'k', value, headers: { other: 'kept' } });
    const letter = await log.find(
      world.letters(topic),
      (found) => headerTexts(found)['dlq.reason'] === 'record_too_large',
    );
    expect([letter.key, letter.value]).toEqual([null, null]);
    const headers = headerTexts(letter);
    expect(headers).toMatchObject({ 'dlq.value': 'withheld', 'dlq.stage': 'read', 'dlq.source.topic': topic });
    expect(Object.keys(headers).filter((name) => !name.startsWith('dlq.'))).toEqual([]);
    await goodUpdate();
  },
);

test('no record is lost, doubled or out of order in all of this, and each bad one is one letter', async () => {
  await eventually('everything is committed', async () =>
    ((await connector.status())?.partitions ?? []).every(({ lag }) => lag === '0'),
  );
  expect(world.service.ledger().summary()).toMatchObject({
    repeatedScorings: 0,
    repeatedUpdates: 0,
    disorders: 0,
    unlinked: 0,
  });
  for (const topic of [world.topics.created, world.topics.authorized]) {
    const sources = log.of(world.letters(topic)).map((letter) => headerTexts(letter)['dlq.source.offset']);
    expect(new Set(sources).size).toBe(sources.length);
  }
});
