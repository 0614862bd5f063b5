import { randomUUID } from 'node:crypto';
import { type IHeaders, type ITopicConfig, Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { headerTexts, type LoggedRecord } from '../support/topic-log.ts';
import { expectAllSettled, expectNothingTold, StruckWorld } from './struck-world.ts';

const MANY = 10_000;
const MB = 1_048_576;

let struck: StruckWorld;
const kafka = new Kafka({ brokers: [...inject('kafka').brokers], logLevel: logLevel.NOTHING });
const admin = kafka.admin();
const producer = kafka.producer();

beforeAll(async () => {
  await Promise.all([admin.connect(), producer.connect()]);
  struck = await StruckWorld.open({ ...inject('kafka'), env: { DEAD_LETTER_MAX_SHARE: '1' } });
});
afterAll(async () => {
  await Promise.all([admin.disconnect(), producer.disconnect()]);
  await struck.close();
});

type Options = NonNullable<ITopicConfig['configEntries']>;

async function configure(of: 'created' | 'authorized', configEntries: Options): Promise<void> {
  const name = struck.world.topics[of];
  await admin.alterConfigs({ validateOnly: false, resources: [{ type: 2, name, configEntries }] });
}

/** The letter of the record that has this header. */
async function letterWith(of: 'created' | 'authorized', mark: string): Promise<LoggedRecord> {
  const letters = struck.world.letters(struck.world.topics[of]);
  return await struck.log.find(letters, (letter) => headerTexts(letter)['mark'] === mark);
}

const manyHeaders = Object.fromEntries(Array.from({ length: MANY }, (_, index) => [`h${String(index)}`, 'v']));

describe('a record that is read as any other', () => {
  test('has ten thousand headers', async () => {
    const id = struck.newId();
    await struck.world.send(struck.world.topics.created, { ...struck.payment(id), headers: manyHeaders });
    await struck.scored(id, ...(await struck.pay(1)));
    // Nothing was late meanwhile: the member has kept its place in the group.
    expect(struck.connector.said('source_failed')).toEqual([]);
    expect(struck.connector.said('partitions_assigned')).toHaveLength(1);
  });

  test('has no key', async () => {
    const [first, second] = [struck.newId(), struck.newId()];
    for (const id of [first, second])
      await struck.world.send(struck.world.topics.created, { ...struck.payment(id), key: null });
    await struck.scored(first, second);
    await struck.world.send(struck.world.topics.authorized, { ...struck.update(first), key: null });
    await struck.reported(first);
    expect(struck.seen(second)).toMatchObject({ requests: 1, scored: 1 });
  });

  test.for([
    ['none', '-1'],
    ['of 1970', '0'],
    ['in fifty minutes', String(Date.now() + 3_000_000)],
  ])('has a timestamp %s', async ([, timestamp = '']) => {
    const id = struck.newId();
    const { key = null, value } = struck.payment(id);
    const { created } = struck.world.topics;
    await producer.send({ topic: created, messages: [{ key, value: JSON.stringify(value), timestamp }] });
    await struck.scored(id);
    await struck.report(id);
    await struck.reported(id);
    expect(struck.seen(id)).toMatchObject({ requests: 1, scored: 1 });
  });

  test.for(['gzip', 'snappy', 'lz4', 'zstd'])('comes in a batch that is packed with %s', async (codec) => {
    // The broker packs anew what it stores.
    for (const of of ['created', 'authorized'] as const)
      await configure(of, [{ name: 'compression.type', value: codec }]);
    const ids = await struck.pay(20);
    await struck.report(...ids);
    await struck.reported(...ids);
    expect(ids.map((id) => struck.seen(id)?.requests)).toEqual(ids.map(() => 1));
  });
});

describe('a record that cannot be sent is a letter with all that it had, and what is behind it goes on', () => {
  test('though it has ten thousand headers', async () => {
    const mark = randomUUID();
    const value = '{"trans_id":';
    await struck.world.send(struck.world.topics.created, { key: mark, value, headers: { mark, ...manyHeaders } });
    const letter = await letterWith('created', mark);
    expect(headerTexts(letter)).toMatchObject({ 'dlq.reason': 'undecodable', h0: 'v', [`h${String(MANY - 1)}`]: 'v' });
    await struck.scored(...(await struck.pay(1)));
  });

  test('though its headers are named like what every object has', async () => {
    const mark = randomUUID();
    const names = ['constructor', 'toString', '__proto__'];
    const headers = Object.fromEntries([['mark', mark], ...names.map((name) => [name, 'held'])]) as IHeaders;
    await struck.world.send(struck.world.topics.authorized, { key: mark, value: '[]', headers });
    const letter = await letterWith('authorized', mark);
    const held = new Map(Object.entries(letter.headers).map(([name, value]) => [name, String(value)]));
    expect(names.map((name) => held.get(name))).toEqual(names.map(() => 'held'));
    expect(held.get('dlq.reason')).toBe('not_an_object');
  });

  test('though its key has a megabyte', async () => {
    for (const of of ['created', 'authorized'] as const)
      await configure(of, [{ name: 'max.message.bytes', value: String(16 * MB) }]);
    const mark = randomUUID();
    const key = `${mark}${'k'.repeat(1_000_000)}`;
    // To a partition that is named: kafkajs' own choice by the key would take minutes.
    const { created } = struck.world.topics;
    await producer.send({ topic: created, messages: [{ partition: 0, key, value: '42', headers: { mark } }] });
    await struck.scored(...(await struck.pay(1)));
    expect((await letterWith('created', mark)).key?.length).toBe(key.length);
  });

  test('though its headers have more than a record may: it says where that is', async () => {
    const { authorized } = struck.world.topics;
    const headers = { large: 'h'.repeat(2 * MB) };
    await producer.send({ topic: authorized, messages: [{ partition: 0, key: 'k', value: '42', headers }] });
    const letters = struck.world.letters(authorized);
    const letter = await struck.log.find(letters, (each) => headerTexts(each)['dlq.reason'] === 'record_too_large');
    expect([letter.key, letter.value]).toEqual([null, null]);
    expect(headerTexts(letter)['dlq.source.offset']).toMatch(/^\d+$/);
  });

  test('though it has ten megabytes, which is more than one fetch brings', async () => {
    const letters = struck.world.letters(struck.world.topics.created);
    const value = JSON.stringify({ ...(struck.payment(struck.newId()).value as object), filler: 'x'.repeat(10 * MB) });
    await struck.world.send(struck.world.topics.created, { key: 'k', value });
    await struck.scored(...(await struck.pay(1)));
    const letter = await struck.log.find(letters, (each) => headerTexts(each)['dlq.reason'] === 'record_too_large');
    expect(letter.value).toBeNull();
  });
});

test('in all of this nothing was lost or out of order, and nothing was told of what was in it', async () => {
  await expectAllSettled(struck);
  expect(struck.reasons.toSorted()).toEqual([
    'not_an_object',
    'not_an_object',
    'record_too_large',
    'record_too_large',
    'undecodable',
  ]);
  await expectNothingTold(struck);
});
