import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { type FetchedBroker, readFetches, readOf } from '../../../../src/edges/kafka/fetch-repair.ts';
import { batchOf, markerOf } from '../../../support/record-batches.ts';

const load = createRequire(import.meta.url);

/** kafkajs' batch: what it hands to a consumer of a partition that it has fetched. */
interface Batch {
  readonly messages: readonly { readonly offset: string }[];
  isEmpty(): boolean;
  lastOffset(): string;
}
const KafkajsBatch = load('kafkajs/src/consumer/batch') as new (topic: string, from: string, of: object) => Batch;

const PARTS = { recordMaxBytes: 1000, batchMaxBytes: 10_000, turn: async () => await Promise.resolve() };

/** An answer of version 4 with one partition. */
function answer(bytes: Buffer): Buffer {
  const head = Buffer.alloc(4 + 4 + 2 + 1 + 4 + 4 + 2 + 8 + 8 + 4 + 4);
  head.writeInt32BE(1, 4);
  head.writeInt16BE(1, 8);
  head.write('t', 10);
  head.writeInt32BE(1, 11);
  head.writeInt32BE(5, 15);
  head.writeBigInt64BE(100n, 21);
  head.writeInt32BE(bytes.length, 41);
  return Buffer.concat([head, bytes]);
}

/** What kafkajs makes of a fetch from this offset, on a cluster whose broker answers so. */
async function fetched(bytes: Buffer, from: string): Promise<Batch> {
  const broker: FetchedBroker = {
    connectionPool: {
      send: async (protocol) => await protocol.response.decode(answer(bytes)),
    },
    async fetch() {
      return await this.connectionPool.send({
        request: { apiName: 'Fetch', apiVersion: 4 },
        response: { decode: async () => await Promise.reject(new Error("kafkajs' own")), parse: null },
      });
    },
  };
  const cluster = { findBroker: async (_of: { readonly nodeId: string }) => await Promise.resolve(broker as unknown) };
  readFetches(cluster, PARTS);
  // Asked for again at each fetch.
  await cluster.findBroker({ nodeId: '1' });
  const found = (await cluster.findBroker({ nodeId: '1' })) as FetchedBroker;
  const topics = [{ topic: 't', partitions: [{ partition: 5, fetchOffset: from }] }];
  const { responses } = (await found.fetch({ topics })) as {
    readonly responses: readonly { readonly partitions: readonly object[] }[];
  };
  return new KafkajsBatch('t', from, responses[0]?.partitions[0] ?? {});
}

describe('what a consumer has fetched', () => {
  test('is one message for a partition, with what was read of it', async () => {
    const batch = await fetched(
      batchOf({ baseOffset: 7n, records: [{ value: 'a' }, { value: Buffer.alloc(2000) }] }),
      '7',
    );
    expect(batch.messages).toHaveLength(1);
    expect(batch.lastOffset()).toBe('8');
    const read = readOf(batch.messages[0]);
    expect(read?.next).toBe(9n);
    expect(
      read?.records.map(({ topic, partition, offset, unread }) => [topic, partition, offset, unread?.why]),
    ).toEqual([
      ['t', 5, 7n, undefined],
      ['t', 5, 8n, 'record_too_large'],
    ]);
  });

  test('lets reading go on where there are only markers', async () => {
    const batch = await fetched(Buffer.concat([markerOf(7n, 1n, 'commit'), markerOf(8n, 2n, 'abort')]), '7');
    expect([batch.isEmpty(), batch.lastOffset()]).toEqual([false, '8']);
    expect(readOf(batch.messages[0])).toEqual({ records: [], next: 9n });
  });

  test('is an empty batch where there was nothing to read', async () => {
    const batch = await fetched(Buffer.alloc(0), '7');
    expect(batch.isEmpty()).toBe(true);
    expect(readOf(batch.messages[0])).toBeNull();
  });
});
