import { afterEach, expect, inject, test } from 'vitest';
import { partitionOfKey } from '../../src/edges/kafka/key-partition.ts';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { type NewRecord, PaymentWorld } from '../support/payment-world.ts';

const PARTITIONS = 2;
const SPAN = 10_000;
/** Records of one request. */
const LOT = 2000;

let world: PaymentWorld;
afterEach(async () => {
  await world.close();
});

/** So many keys of one partition, none of them twice. */
function keysOf(partition: number, count: number): readonly string[] {
  const keys: string[] = [];
  for (let n = 0; keys.length < count; n += 1) {
    const key = `k${String(partition)}-${String(n)}`;
    if (partitionOfKey(Buffer.from(key), PARTITIONS) === partition) keys.push(key);
  }
  return keys;
}

const payment = (key: string): NewRecord => ({ key, value: { trans_id: key } });
const unreadable = (key: string): NewRecord => ({ key, value: 'no JSON' });
const tombstone = (key: string): NewRecord => ({ key, value: null });

/** A connector whose dead-letter topic of payments is not there. */
async function withoutTopic(env: Readonly<Record<string, string>> = {}): Promise<ConnectorProcess> {
  world = await PaymentWorld.open({ ...inject('kafka'), partitions: PARTITIONS, env: { DEAD_LETTER_MAX_SHARE: '1' } });
  const connector = await (await world.start(env)).ready();
  await world.deleteTopic(world.letters(world.topics.created));
  return connector;
}

async function send(records: readonly NewRecord[]): Promise<void> {
  for (let from = 0; from < records.length; from += LOT)
    await world.send(world.topics.created, ...records.slice(from, from + LOT));
}

async function pausesOf(connector: ConnectorProcess): Promise<unknown> {
  const partitions = (await connector.status())?.partitions.filter(({ topic }) => topic === world.topics.created);
  return partitions?.toSorted((one, other) => one.partition - other.partition).map(({ pauses }) => pauses);
}

async function eventuallyPaused(connector: ConnectorProcess, pauses: readonly (readonly string[])[]): Promise<void> {
  await eventually(`the pauses are ${JSON.stringify(pauses)}`, async () => {
    return JSON.stringify(await pausesOf(connector)) === JSON.stringify(pauses);
  });
}

test('hundreds of dead letters that cannot be written pause the partition they come from, by name, and take nothing from another', async () => {
  const connector = await withoutTopic();
  const bad = keysOf(0, 700);
  await send(bad.map((key) => unreadable(key)));
  await eventuallyPaused(connector, [['dead_letters'], []]);
  await send(keysOf(1, 1000).map((key) => payment(key)));
  await eventually(
    'a thousand payments are scored',
    async () => (await connector.outcome('scoring', 'delivered')) === 1000,
  );
  expect(await pausesOf(connector)).toEqual([['dead_letters'], []]);
  await eventually('it is said', () =>
    connector.said('hold_started').some(({ cause }) => cause === 'dead_letter_topic'),
  );
  expect(await connector.outcome('scoring', 'dead_letter:undecodable')).toBe(0);
  await world.createTopic(world.letters(world.topics.created));
  await eventually(
    'all dead letters are written',
    async () => (await connector.outcome('scoring', 'dead_letter:undecodable')) === bad.length,
  );
  await eventuallyPaused(connector, [[], []]);
  expect(await connector.stop()).toMatchObject({ code: 0 });
});

test('a partition is read as far as PARTITION_MAX_SPAN behind a record that does not end, then says which record it is, and goes on after it', async () => {
  const connector = await withoutTopic({ PARTITION_MAX_SPAN: String(SPAN) });
  const keys = keysOf(0, SPAN + 2000);
  const [stuck = '', ...others] = keys;
  await send([unreadable(stuck), ...others.map((key) => tombstone(key))]);
  await eventually('the span is full', async () => JSON.stringify(await pausesOf(connector)).includes('span_full'));
  const at = (await connector.status())?.partitions.find(({ pauses }) => pauses.includes('span_full'));
  const position = { topic: at?.topic, partition: at?.partition, offset: at?.committable };
  await eventually('it is said', () => connector.said('hold_started').some(({ cause }) => cause === 'span_full'));
  expect(connector.said('span_full')).toMatchObject([position]);
  expect(Number(at?.next) - Number(at?.committable)).toBeLessThan(SPAN + 1000);
  await world.createTopic(world.letters(world.topics.created));
  await eventually(
    'all have ended',
    async () => (await connector.outcome('scoring', 'skip:tombstone')) === others.length,
  );
  await eventuallyPaused(connector, [[], []]);
  expect(await connector.stop()).toMatchObject({ code: 0 });
});
