import { randomUUID } from 'node:crypto';
import { afterEach, expect, inject, test, vi } from 'vitest';
import { createKafkaAdmin } from '../../src/edges/kafka/admin.ts';
import { createKafkaWriter } from '../../src/edges/kafka/writer.ts';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { connect } from './worlds.ts';

const HOURS_13_MS = 13 * 3_600_000;

afterEach(() => {
  vi.restoreAllMocks();
});

// Kafka takes no timestamp from more than an hour ahead; the client writes the one of this clock into every record.
test('a clock that is hours ahead is no fault of a record: it waits, and is written when the clock is right', async () => {
  const topic = `written-${randomUUID()}`;
  const { client, emit } = connect(inject('kafka').brokers);
  const admin = createKafkaAdmin(client);
  await admin.createTopics([{ topic, partitions: 1, replication: 1 }]);
  const writer = createKafkaWriter({ client, emit, clock: systemClock, draw: systemDraw });
  try {
    const record = { topic, key: Buffer.from('k'), value: Buffer.from('v'), headers: {} };
    const real = Date.now.bind(Date);
    vi.spyOn(Date, 'now').mockImplementation(() => real() + HOURS_13_MS);
    expect(await writer.write(record, 2000)).toMatchObject({
      do: 'unavailable',
      error: expect.stringContaining('INVALID_TIMESTAMP') as string,
    });
    const waits = writer.write(record, 20_000);
    vi.restoreAllMocks();
    expect(await waits).toMatchObject({ do: 'written' });
  } finally {
    await writer.close();
    await admin.close();
  }
});
