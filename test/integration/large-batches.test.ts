import { readFileSync } from 'node:fs';
import kafkajs from 'kafkajs';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { sendPacked } from '../support/packed-sender.ts';
import { packedZeros } from '../support/record-batches.ts';
import { headerTexts } from '../support/topic-log.ts';
import { expectAllSettled, StruckWorld } from './struck-world.ts';

const { CompressionTypes, Kafka, logLevel } = kafkajs;

const MIB = 1024 * 1024;
const GIB_IN_KIB = 1024 * 1024;

let struck: StruckWorld;
const kafka = new Kafka({ brokers: [...inject('kafka').brokers], logLevel: logLevel.NOTHING });
const producer = kafka.producer();

beforeAll(async () => {
  await producer.connect();
  struck = await StruckWorld.open({ ...inject('kafka'), env: { DEAD_LETTER_MAX_SHARE: '1' } });
});
afterAll(async () => {
  await producer.disconnect();
  await struck.close();
});

/** The most memory that a process has had, in KiB. */
function peakOf(pid: number): number {
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]);
}

/** A batch of payments with a record of zeros in their middle; answers the ids of the payments. */
async function sendZeros(
  name: 'gzip' | 'zstd',
  size: number,
  of: 'created' | 'authorized',
): Promise<readonly string[]> {
  const ids = [struck.newId(), struck.newId()];
  const [before, behind] = ids.map((id) => {
    const { key = null, value } = of === 'created' ? struck.payment(id) : struck.update(id);
    return { key, value: JSON.stringify(value) };
  });
  const parts = { before: before === undefined ? [] : [before], behind: behind === undefined ? [] : [behind] };
  const codec = name === 'gzip' ? CompressionTypes.GZIP : CompressionTypes.ZSTD;
  const packed = await packedZeros(name, size, parts);
  await sendPacked(producer, { topic: struck.world.topics[of], partition: 0 }, { codec, packed, count: 3 });
  return ids;
}

const pointers = (of: 'created' | 'authorized'): number =>
  struck.log
    .of(struck.world.letters(struck.world.topics[of]))
    .filter((letter) => headerTexts(letter)['dlq.reason'] === 'record_too_large')
    .filter(({ key, value }) => key === null && value === null).length;

describe('records that unpack to very much', () => {
  test.for(['gzip', 'zstd'] as const)(
    'are pointers one by one, the others of their batch are scored: %s',
    async (codec) => {
      const before = pointers('created');
      const ids = await sendZeros(codec, 120 * MIB, 'created');
      await struck.scored(...ids, ...(await struck.pay(5)));
      await eventually('the pointer is there', () => pointers('created') > before);
      expect(pointers('created')).toBe(before + 1);
    },
  );

  test.for([
    ['gzip', 800],
    ['zstd', 1900],
  ] as const)('are pointers with all of a batch that comes to too much: %s, %i MiB', async ([codec, mebibytes]) => {
    const before = [pointers('created'), pointers('authorized')] as const;
    const ids = await sendZeros(codec, mebibytes * MIB, 'created');
    await sendZeros(codec, mebibytes * MIB, 'authorized');
    const good = await struck.pay(5);
    await struck.report(...good);
    await struck.reported(...good);
    await eventually('the pointers are there', () => pointers('created') === before[0] + 3);
    await eventually('the pointers are there', () => pointers('authorized') === before[1] + 3);
    for (const id of ids) expect(struck.seen(id)).toBeNull();
  });

  test('take little memory, also in a row, and the membership stays', async () => {
    for (let round = 0; round < 4; round += 1)
      for (const codec of ['gzip', 'zstd'] as const) await sendZeros(codec, 250 * MIB, 'created');
    await struck.scored(...(await struck.pay(20)));
    await expectAllSettled(struck);
    expect(peakOf(struck.connector.pid)).toBeLessThan(GIB_IN_KIB);
    expect(struck.connector.said('partitions_assigned')).toHaveLength(1);
    expect(struck.connector.said('source_failed')).toEqual([]);
    expect(new Set(struck.reasons)).toEqual(new Set(['record_too_large']));
  });
});
