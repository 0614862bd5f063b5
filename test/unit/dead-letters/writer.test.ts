import { Buffer } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import { createDeadLetters } from '../../../src/dead-letters/writer.ts';
import { type OutgoingRecord, type SourceRecord, type WriteOutcome } from '../../../src/engine/ports.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const RECORD: SourceRecord = {
  topic: 'payments.created',
  partition: 0,
  offset: 5n,
  timestampMs: 0,
  key: Buffer.from('k'),
  value: Buffer.from('v'),
  headers: { own: 'x' },
};

const WRITTEN: WriteOutcome = { do: 'written', partition: 0, offset: 1n };
const TOO_LARGE: WriteOutcome = { do: 'refused', why: 'too_large' };

/** Kafka that gives the outcomes in their order. */
function setup(...outcomes: WriteOutcome[]) {
  const written: OutgoingRecord[] = [];
  const said: unknown[] = [];
  const deadLetters = createDeadLetters({
    writer: {
      write: async (record, deadlineMs) => {
        expect(deadlineMs).toBe(4000);
        written.push(record);
        return await Promise.resolve(outcomes[written.length - 1] ?? TOO_LARGE);
      },
    },
    suffix: '.dlq',
    account: 'default',
    connector: 'fraud-screening-connector/0.1.0',
    clock: new ManualClock(),
    emit: (event, fields) => {
      said.push([event, fields]);
    },
    deadlineMs: 4000,
  });
  const write = async (): Promise<string> =>
    await deadLetters.write(RECORD, { reason: 'bad_framing', stage: 'read' }, 1);
  return { write, written, said };
}

describe('a letter that is not acknowledged', () => {
  test.each([
    ['topic missing', 'dead_letter_topic'],
    ['KafkaJSProtocolError UNKNOWN_TOPIC_OR_PARTITION', 'dead_letter_topic'],
    ['KafkaJSProtocolError TOPIC_AUTHORIZATION_FAILED', 'dead_letter_topic'],
    ['KafkaJSConnectionError ECONNREFUSED', 'kafka'],
    ['KafkaJSProtocolError NOT_ENOUGH_REPLICAS', 'kafka'],
    ['not sent yet', 'kafka'],
  ])('is a hold: %s', async (error, cause) => {
    const { write, written, said } = setup({ do: 'unavailable', error });
    expect(await write()).toBe(cause);
    expect(written).toHaveLength(1);
    expect(said).toEqual([]);
  });

  test('as a pointer either is a hold as well', async () => {
    expect(await setup(TOO_LARGE, TOO_LARGE).write()).toBe('dead_letter_topic');
    expect(await setup(TOO_LARGE, { do: 'unavailable', error: 'closed' }).write()).toBe('kafka');
  });
});

describe('a letter', () => {
  test('is said once it is acknowledged', async () => {
    const { write, written, said } = setup(WRITTEN);
    expect(await write()).toBe('written');
    expect(written.map(({ value }) => value)).toEqual([RECORD.value]);
    expect(said).toEqual([['letter_written', { topic: 'payments.created.dlq', reason: 'bad_framing' }]]);
  });

  test.each(['too_large', 'invalid'] as const)('that Kafka refuses as %s is written without the data', async (why) => {
    const { write, written } = setup({ do: 'refused', why }, WRITTEN);
    expect(await write()).toBe('written');
    expect(written[1]).toMatchObject({ key: null, value: null, headers: { 'dlq.value': 'withheld' } });
    expect(written[1]?.headers).not.toHaveProperty('own');
  });
});
