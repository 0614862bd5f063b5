import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Payment, readPayment } from '../../../../src/flows/scoring/read.ts';
import { isIpAddress, type RequestExtras, requestHeaders } from '../../../../src/flows/scoring/request.ts';
import { createJob, createRecord, failed, Rig } from './rig.ts';

const OFF: RequestExtras = { forwardIp: false, idempotencyHeader: null };
const FORWARD: RequestExtras = { ...OFF, forwardIp: true };
const KEYED: RequestExtras = { ...OFF, idempotencyHeader: 'Idempotency-Key' };

const payment = (ip: string | null, transId = 'T1'): Payment => ({ ...createJob().item, transId, ip });
const keyOf = (item = payment(null), record = createRecord()): string | undefined =>
  requestHeaders(record, item, KEYED)?.[1];

describe('an address that is none goes out in no header', () => {
  test.each([
    '198.51.100.7\r\nx-evil: 1',
    '198.51.100.7\n',
    '\r198.51.100.7',
    '198.51.100.7\u0000',
    '198.51.100.7 ',
    ' 198.51.100.7',
    '198.51.100.7, 203.0.113.9',
    '198.51.100.7:443',
    '198.51.100',
    '198.51.100.256',
    '198.51.100.07',
    '1.2.3.4.5',
    '１.2.3.4',
    'ünknown',
    '😀',
    '[2001:db8::1]',
    'fe80::1%eth0',
    '2001:db8::/32',
    '2001:db8::1::2',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7::8',
    '12345::',
    '1.2.3.4::',
    '::1.2.3',
    ':1:2:3:4:5:6:7',
    ':',
    ':::',
    '',
    'x'.repeat(100_000),
  ])('%j', (ip) => {
    expect(requestHeaders(createRecord(), payment(ip), FORWARD)).toBeUndefined();
  });

  test.each(['null', '7', '["198.51.100.7"]', '{}', 'true', '""'])('as JSON %s', (ip) => {
    const reading = readPayment(createRecord({ value: Buffer.from(`{"trans_id":"T1","ip":${ip}}`) }), {
      decoder: { decode: () => ({ do: 'needs', schema: 1 }) },
      recordMaxBytes: 1_000,
    });
    expect(reading).toMatchObject({ do: 'item', item: { ip: null } });
  });
});

describe('an address', () => {
  test.each([
    '0.0.0.0',
    '255.255.255.255',
    '198.51.100.7',
    '::',
    '::1',
    '2001:DB8::1',
    '1:2:3:4:5:6:7::',
    '::ffff:1.2.3.4',
  ])('%s goes out as it came, where that is turned on', (ip) => {
    expect(requestHeaders(createRecord(), payment(ip), FORWARD)).toEqual(['x-forwarded-for', ip]);
    expect(requestHeaders(createRecord(), payment(ip), OFF)).toBeUndefined();
  });

  test('is what Node takes for one, but for zones', () => {
    const part = fc.constantFrom(
      '0',
      '00',
      '1',
      'ff',
      'abcd',
      '12345',
      ':',
      '::',
      '.',
      '1.2.3.4',
      '256',
      'g',
      '%',
      ' ',
    );
    const texts = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.array(part, { maxLength: 16 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        expect(isIpAddress(text)).toBe(isIP(text) !== 0 && !text.includes('%'));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('the key of a request', () => {
  test('is the SHA-256 of its place and its trans_id, as 64 lower-case hexadecimal digits', () => {
    const expected = createHash('sha256').update('payments.created/3/42/T1').digest('hex');
    expect(requestHeaders(createRecord(), payment(null), KEYED)).toEqual(['Idempotency-Key', expected]);
    expect(expected).toMatch(/^[0-9a-f]{64}$/);
  });

  test('is another for another place or another trans_id, and says nothing of either', () => {
    const keys = [
      keyOf(),
      keyOf(payment(null, 'T2')),
      keyOf(payment(null, '\r\nx-evil: 1')),
      keyOf(payment(null), createRecord({ offset: 43n })),
      keyOf(payment(null), createRecord({ partition: 34, offset: 2n })),
      keyOf(payment(null), createRecord({ topic: 'payments.created.dlq' })),
    ];
    expect(new Set(keys).size).toBe(keys.length);
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{64}$/);
  });

  test('is the same in every attempt of a payment, with its address', async () => {
    const rig = new Rig({ extras: { ...KEYED, forwardIp: true } });
    const job = createJob();
    rig.judged = [failed(), failed({ why: 'timed_out', ambiguous: true })];
    await rig.runToEnd({ ...job, item: payment('::1') });
    expect(rig.headers).toHaveLength(3);
    expect(new Set(rig.headers.map((headers) => headers?.join()))).toEqual(
      new Set([`x-forwarded-for,::1,Idempotency-Key,${String(keyOf())}`]),
    );
  });

  test('is none where no header is named', async () => {
    const rig = new Rig();
    await rig.flow.run(createJob());
    expect(rig.headers).toEqual([undefined]);
  });
});
