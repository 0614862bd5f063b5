import { type Reading, type SourceRecord } from '../../engine/ports.ts';
import { readTransId, toTransactionJson } from '../../screening/transaction.ts';
import { decodeRecord, type RecordReader } from '../decode.ts';

/** A payment to be scored. */
export interface Payment {
  readonly transId: string;
  /** The request's body. */
  readonly body: Buffer;
  /** The datapoint `pmt_method`; null: not given. */
  readonly paymentMethod: string | null;
  /** The datapoint `ip` as it came, if it is a text; null: not given. */
  readonly ip: string | null;
}

/** Reads a payment; what came as JSON and is not mapped goes out as it came, byte for byte. */
export function readPayment(record: SourceRecord, reader: RecordReader): Reading<Payment> {
  const decoded = decodeRecord(record, reader);
  if (decoded.do !== 'object') return decoded;
  const { value, json } = decoded;
  const transId = readTransId(value['trans_id']);
  if (transId === null) return { do: 'dead_letter', letter: { reason: 'trans_id_missing', stage: 'read' } };
  const body = json ?? Buffer.from(toTransactionJson(value), 'utf8');
  return {
    do: 'item',
    item: { transId, body, paymentMethod: textOf(value['pmt_method']), ip: textOf(value['ip']) },
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
