import { type PartitionMetadata, type Producer } from 'kafkajs';
import { describe, expect, test } from 'vitest';
import { TopicWriter } from '../../../../src/edges/kafka/topic-writer.ts';
import { type OutgoingRecord, type WriteOutcome } from '../../../../src/engine/ports.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const closed = Object.assign(new Error('Closed connection'), { name: 'KafkaJSConnectionClosedError' });
const PARTITION: PartitionMetadata = {
  partitionErrorCode: 0,
  partitionId: 0,
  leader: 1,
  replicas: [1],
  isr: [1],
};
const record = (bytes: number): OutgoingRecord => ({
  topic: 't',
  key: Buffer.from('k'),
  value: Buffer.alloc(bytes),
  headers: {},
});
const LARGE = 1024 * 1024;

/** A broker that ends the connection on requests over half a megabyte; others are answered, or not. */
function cutting(answers: { readonly metadata: boolean }) {
  const clock = new ManualClock();
  let sends = 0;
  let isKnown = false;
  const producer: Pick<Producer, 'connect' | 'disconnect' | 'send'> = {
    connect: async () => {
      await Promise.resolve();
    },
    disconnect: async () => {
      await Promise.resolve();
    },
    send: async ({ topic, messages }) => {
      sends += 1;
      await Promise.resolve();
      if (messages.some(({ value }) => (value?.length ?? 0) > LARGE / 2)) throw closed;
      return [{ topicName: topic, partition: 0, errorCode: 0, baseOffset: '5' }];
    },
  };
  const writer = new TopicWriter({
    topic: 't',
    producer: producer as Producer,
    partitioner: () => 0,
    partitionsOf: async () => {
      if (isKnown && !answers.metadata) throw closed;
      isKnown = true;
      return await Promise.resolve([PARTITION]);
    },
    clock,
    draw: () => 0.5,
    onRetry: () => {},
  });
  const write = async (bytes: number): Promise<WriteOutcome> => {
    const outcomes: WriteOutcome[] = [];
    void writer.write(record(bytes), 10_000).then((of) => outcomes.push(of));
    for (let step = 0; step < 200 && outcomes.length === 0; step += 1) {
      await settled();
      clock.advance(100);
    }
    const [outcome] = outcomes;
    if (outcome === undefined) throw new Error('it never ended');
    return outcome;
  };
  return { write, sends: () => sends };
}

describe('a record on which the connection ends', () => {
  test('is too large where others are answered, and what comes next is written', async () => {
    const { write, sends } = cutting({ metadata: true });
    expect(await write(LARGE)).toEqual({ do: 'refused', why: 'too_large' });
    // Once with others, then three times alone.
    expect(sends()).toBe(4);
    expect(await write(10)).toEqual({ do: 'written', partition: 0, offset: 5n });
  });

  test('waits where nobody is answered: then it is an outage', async () => {
    const { write, sends } = cutting({ metadata: false });
    expect(await write(LARGE)).toMatchObject({ do: 'unavailable' });
    expect(sends()).toBeGreaterThan(4);
  });
});
