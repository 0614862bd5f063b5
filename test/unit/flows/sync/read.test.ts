import { describe, expect, test } from 'vitest';
import { readUpdate, type UpdateReader } from '../../../../src/flows/sync/read.ts';
import { type SourceRecord } from '../../../../src/engine/ports.ts';
import { approved, record, RULES } from './builders.ts';

const READER: UpdateReader = {
  decoder: { decode: () => ({ do: 'value', value: approved('avro-1') }) },
  rules: RULES,
  recordMaxBytes: 200,
};

function end(source: SourceRecord, reader = READER): unknown {
  const reading = readUpdate(source, reader, { nowMs: 5, heldMs: 2 });
  if (reading.do === 'dead_letter') return reading.letter.reason;
  return reading.do === 'item' ? reading.item.transId : reading;
}

describe('a record that cannot be an update', () => {
  test.each<[string, unknown, string]>([
    ['broken JSON', '{', 'undecodable'],
    ['a list', [], 'not_an_object'],
    ['no trans_id', approved(undefined), 'trans_id_missing'],
    ['an empty trans_id', approved(''), 'trans_id_missing'],
    ['a trans_id that is no exact number', approved(2 ** 53), 'trans_id_missing'],
    ['an inherited trans_id', '{"__proto__":{"trans_id":"t"},"status":"error"}', 'trans_id_missing'],
    ['no status', approved('t', { status: null }), 'status_unknown'],
    ['no time', approved('t', { ts: 'now' }), 'ts_invalid'],
    ['too many bytes', approved('t', { note: 'x'.repeat(200) }), 'record_too_large'],
  ])('ends as a letter: %s', (_, value, reason) => {
    expect(end(record(value))).toBe(reason);
  });

  test('is passed over when it is a tombstone', () => {
    expect(end(record(null))).toEqual({ do: 'skip', rule: 'tombstone' });
  });

  test('waits for the schema that it names', () => {
    const reader: UpdateReader = { ...READER, decoder: { decode: () => ({ do: 'needs', schema: 7 }) } };
    expect(end(record(null, { value: Buffer.from([0, 0, 0, 0, 7, 1]) }), reader)).toEqual({ do: 'needs', schema: 7 });
  });

  test('is refused here where its own payment method decides, and not where its score may save it', () => {
    const reader: UpdateReader = {
      ...READER,
      rules: { ...RULES, chargebackProtection: true, cardMethods: ['card'] },
    };
    expect(end(record(approved('t', { acq_ref_id: null, pmt_method: 'card' })), reader)).toBe('acq_ref_id_missing');
    expect(end(record(approved('t', { acq_ref_id: null })), reader)).toBe('t');
  });
});

describe('an update', () => {
  test.each([
    ['t-1', 't-1'],
    [42, '42'],
    [' T ', ' T '],
    ['__proto__', '__proto__'],
  ])('keeps its id: %j', (given, transId) => {
    expect(end(record(approved(given)))).toBe(transId);
  });

  test('is read from Avro as well, and remembers when it came', () => {
    const framed = record(null, { value: Buffer.from([0, 0, 0, 0, 7, 1]) });
    expect(readUpdate(framed, READER, { nowMs: 5, heldMs: 2 })).toMatchObject({
      do: 'item',
      item: { transId: 'avro-1', arrivedMs: 5, heldBeforeMs: 2 },
    });
  });
});
