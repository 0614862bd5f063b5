import { seededDraw } from '../../src/sandbox/service/chance.ts';
import { BulkProducer } from './bulk-producer.ts';
import { BatchBuilder } from './record-batch.ts';
import { type Keys } from './arguments.ts';

/** Of each topic of a bench. */
export const PARTITIONS = 12;
export const TOPIC = 'bench.created';

/** Which key each record has, by number. */
export type KeyOf = (record: number) => number;

/** The keys of a bench, and how many there are. */
export interface KeyPlan {
  readonly keyOf: KeyOf;
  readonly keys: number;
}

const EVEN_KEYS = 10_000;
const ZIPF_KEYS = 1000;
const ZIPF_EXPONENT = 1.1;
/** The key of a Zipf plan that has the most records. */
export const HOTTEST_OF_ZIPF = 0;
const SEED = 20_261_121;
/** Of one batch: below what a broker takes, and below what a consumer asks of a partition at once. */
const BATCH_BYTES = 256 * 1024;

/** `even`: 10,000 keys in turn. `zipf`: 1,000 keys; the n-th has 1 / n^1.1 of what the first one has. */
export function keyPlan(keys: Keys): KeyPlan {
  if (keys === 'even') return { keys: EVEN_KEYS, keyOf: (record) => record % EVEN_KEYS };
  const draw = seededDraw(SEED);
  const upTo: number[] = [];
  let sum = 0;
  for (let key = 0; key < ZIPF_KEYS; key += 1) upTo.push((sum += 1 / (key + 1) ** ZIPF_EXPONENT));
  return { keys: ZIPF_KEYS, keyOf: () => firstAbove(upTo, draw() * sum) };
}

/** So many keys, each as likely as any other: the same key comes again soon now and then, as it does in life. */
export function drawnKeyPlan(keys: number): KeyPlan {
  const draw = seededDraw(SEED);
  return { keys, keyOf: () => Math.floor(draw() * keys) };
}

/** The share of records that the most frequent key really has. */
export function hottestShare(keyOfRecord: Uint32Array, keys: number): number {
  const counts = new Uint32Array(keys);
  for (const key of keyOfRecord) counts[key] = (counts[key] ?? 0) + 1;
  return counts.reduce((most, count) => Math.max(most, count), 0) / keyOfRecord.length;
}

/**
 * Fills the topic and answers the key of each record. Records of a key are in one partition, in order of their numbers.
 * Values are JSON: `small` of about 100 bytes, else of 704, as a payment has them, or as `value` makes them (in latin1).
 */
export async function fillTopic(options: {
  readonly broker: string;
  readonly records: number;
  readonly keyOf: KeyOf;
  readonly small: boolean;
  readonly topic?: string;
  readonly partitions?: number;
  readonly value?: (record: number, key: number) => string;
}): Promise<Uint32Array> {
  const { broker, records, keyOf, small, topic = TOPIC, partitions = PARTITIONS } = options;
  const toValue = options.value ?? ((record: number, key: number): string => valueOf(record, key, small));
  const keyOfRecord = Uint32Array.from({ length: records }, (_, record) => keyOf(record));
  const producer = await BulkProducer.open(broker);
  const builders = Array.from({ length: partitions }, () => new BatchBuilder(BATCH_BYTES));
  const nowMs = Date.now();
  try {
    for (let record = 0; record < records; record += 1) {
      const key = keyOfRecord[record] ?? 0;
      const partition = key % partitions;
      const builder = builders[partition]!;
      const value = toValue(record, key);
      if (builder.add(nameOfKey(key), value)) continue;
      await producer.send(topic, partition, builder.take(nowMs));
      builder.add(nameOfKey(key), value);
    }
    for (const [partition, builder] of builders.entries())
      if (builder.count > 0) await producer.send(topic, partition, builder.take(nowMs));
  } finally {
    producer.close();
  }
  return keyOfRecord;
}

const RECORD_DIGITS = 8;
/** What every value begins with, so that the service finds a record's number at one place. */
const VALUE_HEAD = '{"trans_id":"b';

/** The number of the record that a request's body is of. */
export function recordOf(body: Buffer, from = 0): number {
  let record = 0;
  const start = from + VALUE_HEAD.length;
  for (let at = start; at < start + RECORD_DIGITS; at += 1) record = record * 10 + (body[at] ?? 0) - 48;
  return record;
}

export function valueOf(record: number, key: number, small: boolean): string {
  const head = `${VALUE_HEAD}${String(record).padStart(RECORD_DIGITS, '0')}","cust_id":"${nameOfKey(key)}"`;
  return small ? `${head},"trans_amt":59.9,"trans_currency":"EUR"}` : head + REST;
}

export function nameOfKey(key: number): string {
  return `c${String(key).padStart(6, '0')}`;
}

const PAYMENT_BYTES = 704;
const REST = fillUp({
  platform_id: 'shop-1',
  order_id: 'o-1',
  items: [{ item_id: 7, item_desc: 'Trail shoes', item_amt: 59.9, quantity: 1 }],
  trans_amt: 59.9,
  trans_currency: 'EUR',
  trans_ts: '2026-03-01T12:00:00Z',
  pmt_method: 'credit card',
  cc_num_hash: 'a'.repeat(64),
  cc_bin: '400000',
  cc_exp_dt: '1229',
  bill_ad_city: 'Leipzig',
  bill_ad_line1: 'Lindenweg 1',
  bill_ad_zip: '04103',
  bill_ad_ctry: 'DE',
  cust_email: 'ada.adler@example.com',
  cust_last_name: 'Adler',
  cust_first_name: 'Ada',
  ip: '198.51.100.7',
});

/** The members as text that follows others, as long as makes a value of a payment's usual size. */
function fillUp(members: object): string {
  const rest = JSON.stringify({ ...members, sub_seller: '' }).slice(1);
  const missing = PAYMENT_BYTES - VALUE_HEAD.length - RECORD_DIGITS - '","cust_id":"c000000"'.length - 1 - rest.length;
  return `,${rest.slice(0, -2)}${'s'.repeat(Math.max(0, missing))}"}`;
}

function firstAbove(upTo: readonly number[], drawn: number): number {
  let [low, high] = [0, upTo.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((upTo[middle] ?? Infinity) > drawn) high = middle;
    else low = middle + 1;
  }
  return low;
}
