import { Kafka, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { headerTexts, type LoggedRecord, type TopicLog } from '../support/topic-log.ts';

const PARTITIONS = 3;
const KEYS = ['k1', 'k2', 'k3', 'k4', 'k5'];
const EACH = 20;

let world: PaymentWorld;
let connector: ConnectorProcess;
let log: TopicLog;

beforeAll(async () => {
  const env = { DEAD_LETTER_MAX_SHARE: '1' };
  world = await PaymentWorld.open({ ...inject('kafka'), partitions: PARTITIONS, env });
  log = await world.read(world.letters(world.topics.created), world.letters(world.topics.authorized));
  connector = await (await world.start()).ready();
});
afterAll(async () => {
  await world.close();
});

const scored = (transId: string): boolean => world.service.ledger().transaction(transId)?.scored === 1;

async function lettersOf(topic: string, count: number): Promise<readonly LoggedRecord[]> {
  return await eventually(`${String(count)} letters`, () => {
    const found = log.of(world.letters(topic));
    return found.length >= count && found;
  });
}

async function eventuallyHeld(flow: string): Promise<void> {
  await eventually('the hold is named', async () =>
    ((await connector.flow(flow))?.waits ?? []).some(({ cause }) => cause === 'dead_letter_topic'),
  );
}

async function setTopic(name: string, config: Readonly<Record<string, string>>): Promise<void> {
  const admin = new Kafka({ brokers: [...inject('kafka').brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const configEntries = Object.entries(config).map(([entry, value]) => ({ name: entry, value }));
  await admin.alterConfigs({ validateOnly: false, resources: [{ type: 2, name, configEntries }] });
  await admin.disconnect();
}

test('the letters of a key are in one partition, in the order of the log, whether they were made at reading or by the service', async () => {
  const { created } = world.topics;
  const only = { transIdPrefixes: KEYS.map((key) => `${key}-`) };
  world.service.faults.set({ status: { code: 400, share: 1 }, operations: ['score'], only });
  for (let turn = 0; turn < EACH; turn += 1)
    await world.send(
      created,
      ...KEYS.flatMap((key) => [
        { key, value: turn % 2 === 0 ? `bad ${String(turn)}` : { trans_id: `${key}-${String(turn)}` } },
        // A service that refuses everybody makes no dead letters.
        { key: `good-${key}`, value: { trans_id: `good-${key}-${String(turn)}` } },
      ]),
    );
  const letters = await lettersOf(created, KEYS.length * EACH);
  world.service.faults.set({});
  for (const key of KEYS) {
    const own = letters.filter((letter) => letter.key?.toString() === key);
    const offsets = own.map((letter) => Number(headerTexts(letter)['dlq.source.offset']));
    expect(own).toHaveLength(EACH);
    expect(new Set(own.map(({ partition }) => partition)).size).toBe(1);
    expect(own.map(({ partition }) => String(partition))).toEqual(
      own.map((letter) => headerTexts(letter)['dlq.source.partition']),
    );
    expect(offsets).toEqual(offsets.toSorted((one, other) => one - other));
  }
  const reasons = new Set(letters.map((letter) => headerTexts(letter)['dlq.reason']));
  expect(reasons).toEqual(new Set(['undecodable', 'status_400']));
});

test('key, value and headers are the bytes that they were, those included that are no text, or of one name', async () => {
  const { authorized } = world.topics;
  const [key, value] = [Buffer.from([0xff, 0x00, 0xfe]), Buffer.from([0x7b, 0xff, 0x80, 0x00])];
  const headers = {
    binary: Buffer.from([0x00, 0xff, 0x80, 0x0a]),
    twice: [Buffer.from([0xc3, 0x28]), Buffer.from('second')],
    empty: Buffer.alloc(0),
    'dlq.attempts': Buffer.from('7'),
  };
  const producer = new Kafka({ brokers: [...inject('kafka').brokers], logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  await producer.send({ topic: authorized, messages: [{ key, value, headers }] });
  await producer.disconnect();
  const [letter] = await lettersOf(authorized, 1);
  expect([letter?.key, letter?.value]).toEqual([key, value]);
  const { binary, twice, empty } = headers;
  expect(letter?.headers).toMatchObject({ binary, twice, empty });
  expect(letter?.headers['dlq.attempts']?.toString()).toBe('8');
});

describe('a letter that cannot be written holds its record, and goes out when it can be', () => {
  test('because its topic takes nothing of its size, not even the pointer', async () => {
    const { created } = world.topics;
    const before = log.of(world.letters(created)).length;
    await setTopic(world.letters(created), { 'max.message.bytes': '64' });
    // The setting reaches the broker's log a little later: until then letters are written.
    await eventually('a letter is held', async () => {
      await world.send(created, { key: 'small', value: 'no JSON' });
      const waits = (await connector.flow('scoring'))?.waits ?? [];
      return waits.some(({ cause }) => cause === 'dead_letter_topic');
    });
    await world.send(created, { key: 'other', value: { trans_id: 'behind-1' } });
    await eventually('the payment of another key is scored', () => scored('behind-1'));
    await setTopic(world.letters(created), { 'max.message.bytes': '1048588' });
    const sent = await eventually('no letter is held', async () => {
      const flow = await connector.flow('scoring');
      return flow !== null && flow.buffered === 0 && (flow.outcomes['dead_letter:undecodable'] ?? 0);
    });
    const letters = await lettersOf(created, before + sent - (KEYS.length * EACH) / 2);
    const offsets = letters
      .filter(({ headers }) => headers['dlq.reason']?.toString() === 'undecodable')
      .map(
        (letter) =>
          `${headerTexts(letter)['dlq.source.partition'] ?? ''}/${headerTexts(letter)['dlq.source.offset'] ?? ''}`,
      );
    expect(new Set(offsets).size).toBe(sent);
  });

  test('because its topic is not there, in the same process', async () => {
    const { authorized } = world.topics;
    const bad = { trans_id: 'late-1', status: 'paid', ts: '2026-01-01T10:00:00Z' };
    await world.deleteTopic(world.letters(authorized));
    await world.send(authorized, { key: 'late', value: bad });
    await eventuallyHeld('sync');
    await world.send(world.topics.created, { key: 'fine', value: { trans_id: 'fine-1' } });
    await world.send(authorized, { key: 'fine', value: { ...bad, trans_id: 'fine-1', status: 'error' } });
    await eventually(
      'the update of another key is sent',
      () => world.service.ledger().transaction('fine-1')?.updateCount === 1,
    );
    expect(await connector.outcome('sync', 'dead_letter:status_unknown')).toBe(0);
    // Said after two seconds; so long the topic is away.
    await eventually('the hold is said', () =>
      connector.said('hold_started').some(({ cause, scope }) => cause === 'dead_letter_topic' && scope === 'sync'),
    );
    await world.createTopic(world.letters(authorized));
    const again = await world.read(world.letters(authorized));
    const letter = await again.find(world.letters(authorized), () => true, 60_000);
    expect(JSON.parse(String(letter.value))).toEqual(bad);
    await eventually('it has ended', async () => (await connector.outcome('sync', 'dead_letter:status_unknown')) === 1);
    expect(again.records).toHaveLength(1);
  });
});
