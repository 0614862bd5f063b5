import { Buffer } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import { createDeadLetters } from '../../../src/dead-letters/writer.ts';
import { type OutgoingRecord, type SourceRecord, type WriteOutcome } from '../../../src/engine/ports.ts';
import { createCardGuard } from '../../../src/screening/card-guard.ts';
import { type Letter } from '../../../src/kernel/outcome.ts';
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
const UNREADABLE: Letter = { reason: 'bad_framing', stage: 'read' };
const PAN = '4111111111111111';

const json = (value: object): Buffer => Buffer.from(JSON.stringify(value));

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
    guard: createCardGuard([]),
    clock: new ManualClock(),
    emit: (event, fields) => {
      said.push([event, fields]);
    },
    deadlineMs: 4000,
  });
  const write = async (change: Partial<SourceRecord> = {}, letter: Letter = UNREADABLE): Promise<string> =>
    await deadLetters.write({ ...RECORD, ...change }, letter, 1);
  return { write, written, said };
}

describe('a letter that is not acknowledged', () => {
  test.each([
    'topic missing',
    'KafkaJSProtocolError TOPIC_AUTHORIZATION_FAILED',
    'KafkaJSConnectionError ECONNREFUSED',
  ])('is a hold of its topic, whatever the reason: %s', async (error) => {
    const { write, written, said } = setup({ do: 'unavailable', error });
    expect(await write()).toBe('dead_letter_topic');
    expect(written).toHaveLength(1);
    expect(said).toEqual([]);
  });

  test('as a pointer either is a hold as well', async () => {
    expect(await setup(TOO_LARGE, TOO_LARGE).write()).toBe('dead_letter_topic');
    expect(await setup(TOO_LARGE, { do: 'unavailable', error: 'closed' }).write()).toBe('dead_letter_topic');
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
    const { write, written, said } = setup({ do: 'refused', why }, WRITTEN);
    expect(await write()).toBe('written');
    expect(written[1]).toMatchObject({ key: null, value: null, headers: { 'dlq.value': 'withheld' } });
    expect(written[1]?.headers).not.toHaveProperty('own');
    expect(said).toEqual([
      ['letter_withheld', { topic: 'payments.created.dlq', why }],
      ['letter_written', { topic: 'payments.created.dlq', reason: 'bad_framing' }],
    ]);
  });
});

describe('a letter of a record that is too large', () => {
  const nothing = { key: null, value: null, headers: {} };
  const pointer = { key: null, value: null, headers: { 'dlq.value': 'withheld', 'dlq.source.offset': '5' } };

  test.each([
    ['was never read', { ...nothing, unread: { why: 'record_too_large', batch: null } }, 'record_too_large'],
    ['is of a batch that does not unpack', { ...nothing, unread: { why: 'undecodable', batch: 3n } }, 'undecodable'],
    [
      'was not read when an operator parked it',
      { ...nothing, unread: { why: 'record_too_large', batch: null } },
      'parked_by_operator',
    ],
    ['was read under another limit', {}, 'record_too_large'],
  ] as const)('is a pointer from the first attempt on: it %s', async (_is, change, reason) => {
    const { write, written, said } = setup(WRITTEN);
    expect(await write(change, { reason, stage: 'read' })).toBe('written');
    expect(written).toMatchObject([pointer]);
    expect(said.at(0)).toEqual(['letter_withheld', { topic: 'payments.created.dlq', why: 'unread' }]);
  });

  test.each(['key', 'value', 'headers'] as const)('is not even tried whole beyond 16 MiB of its %s', async (part) => {
    const large = Buffer.alloc(16 * 1024 * 1024 + 1);
    const { write, written, said } = setup(WRITTEN);
    expect(await write({ [part]: part === 'headers' ? { large } : large })).toBe('written');
    expect(written.map(({ key, value, headers: of }) => [key, value, Object.hasOwn(of, 'large')].map(Boolean))).toEqual(
      [[false, false, false]],
    );
    expect(said.at(0)).toEqual(['letter_withheld', { topic: 'payments.created.dlq', why: 'too_large' }]);
  });

  test('is tried whole up to that', async () => {
    const { write, written } = setup(WRITTEN);
    const value = Buffer.alloc(15 * 1024 * 1024);
    await write({ value });
    expect(written[0]?.value).toBe(value);
  });
});

describe('a letter of a record with card data', () => {
  const avro = Buffer.concat([Buffer.from([0, 0, 0, 0, 1, 32]), Buffer.from(PAN)]);

  test.each([
    ['that the guard has found', json({}), { reason: 'card_data', stage: 'read', detail: 'pan /note' }],
    ['that is broken JSON', Buffer.from(`{"note":"${PAN}`), { reason: 'undecodable', stage: 'read' }],
    ['that is Avro of an unknown schema', avro, { reason: 'schema_unknown', stage: 'read' }],
    ['that a mapping leaves out', json({ card: PAN }), { reason: 'status_400', stage: 'score' }],
  ] as const)('%s is a pointer from the first attempt on', async (_is, value, letter) => {
    const { write, written, said } = setup(WRITTEN);
    expect(await write({ value }, letter)).toBe('written');
    expect(written).toHaveLength(1);
    expect(written[0]).toMatchObject({ key: null, value: null });
    const { headers = {} } = written[0] ?? {};
    expect(headers).toMatchObject({
      'dlq.value': 'withheld',
      'dlq.reason': letter.reason,
      'dlq.source.partition': '0',
      'dlq.source.offset': '5',
    });
    expect(Object.keys(headers).filter((name) => !name.startsWith('dlq.'))).toEqual([]);
    expect(JSON.stringify(headers)).not.toContain(PAN);
    expect(said.at(0)).toEqual(['letter_withheld', { topic: 'payments.created.dlq', why: 'card_data' }]);
  });

  test.each([
    ['an id', json({ trans_id: PAN }), { reason: 'status_400', stage: 'score' }],
    ['Avro that was read', avro, { reason: 'status_400', stage: 'score' }],
    ['nothing', null, { reason: 'connector_fault', stage: 'read' }],
  ] as const)('is whole where what looks like it is %s', async (_is, value, letter) => {
    const { write, written, said } = setup(WRITTEN);
    expect(await write({ value }, letter)).toBe('written');
    expect(written[0]?.value).toEqual(value);
    expect(said).toHaveLength(1);
  });

  test('waits where even the pointer is refused, and nothing is said', async () => {
    const { write, said } = setup(TOO_LARGE);
    expect(await write({}, { reason: 'card_data', stage: 'read' })).toBe('dead_letter_topic');
    expect(said).toEqual([]);
  });
});
