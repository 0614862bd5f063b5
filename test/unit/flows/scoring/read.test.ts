import { expect, test } from 'vitest';
import { type SourceRecord, type ValueDecoder } from '../../../../src/engine/ports.ts';
import { readPayment } from '../../../../src/flows/scoring/read.ts';

const record = (value: string | Buffer): SourceRecord => ({
  topic: 'payments.created',
  partition: 0,
  offset: 7n,
  timestampMs: 0,
  key: null,
  value: Buffer.from(value),
  headers: {},
});
const decoder: ValueDecoder = {
  decode: () => ({ do: 'value', value: { trans_id: 'T1', trans_amt: 10.5, ip: null, pmt_method: 'card' } }),
};

test.each(['{}', '{"trans_id":""}', '{"trans_id":null}', '{"trans_id":1e300}', '{"trans_id":["T1"]}'])(
  'refuses %s for want of a trans_id',
  (json) => {
    expect(readPayment(record(json), { decoder, recordMaxBytes: 1_000 })).toEqual({
      do: 'dead_letter',
      letter: { reason: 'trans_id_missing', stage: 'read' },
    });
  },
);

test('sends what came as JSON byte for byte', () => {
  const source = record('{ "trans_id":7, "trans_amt":10.10, "ip":null }');
  const reading = readPayment(source, { decoder, recordMaxBytes: 1_000 });
  expect(reading).toEqual({ do: 'item', item: { transId: '7', body: source.value, paymentMethod: null, ip: null } });
  expect(reading.do === 'item' && reading.item.body).toBe(source.value);
});

test('sends what came as Avro as JSON, without what was not given', () => {
  const body = Buffer.from('{"trans_id":"T1","trans_amt":10.5,"pmt_method":"card"}');
  expect(readPayment(record(Buffer.from([0, 0, 0, 0, 1, 2])), { decoder, recordMaxBytes: 1_000 })).toEqual({
    do: 'item',
    item: { transId: 'T1', body, paymentMethod: 'card', ip: null },
  });
});
