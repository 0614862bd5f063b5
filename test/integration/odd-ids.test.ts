import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type FraudScore, FRAUD_SCORE_SCHEMA } from '../../src/screening/avro.generated.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { headerTexts, type TopicLog } from '../support/topic-log.ts';

/** Names that objects of JavaScript treat in a way of their own, or that texts and bytes write differently. */
const IDS: readonly string[] = [
  '__proto__',
  'constructor',
  'hasOwnProperty',
  'toString',
  'length',
  'error_msg',
  'status',
  'null',
  ' leading and trailing ',
  '2',
  '1',
  '007',
  '18446744073709551616',
  'é',
  'e\u0301',
  '😀👩‍👩‍👧',
  '\u2028\u0000\r\n"\\',
  'x'.repeat(500),
  '\ud800',
  'half \udfff',
];
/** As whole numbers in the record. */
const NUMBERS: readonly number[] = [42, 9_007_199_254_740_991, -1];
const ALL = [...IDS, ...NUMBERS.map(String)];
const REFUSED = ['__proto__', '2', '😀👩‍👩‍👧'];
const TS = '2026-01-01T10:00:00Z';

let world: PaymentWorld;
let log: TopicLog;

beforeAll(async () => {
  const env = { SYNC_BATCH_MAX_AGE_MS: '1000' };
  world = await PaymentWorld.open({ ...inject('kafka'), env, service: { reviewAfterMs: 3_600_000 } });
  log = await world.read(
    world.letters(world.topics.created),
    world.letters(world.topics.authorized),
    world.topics.scores,
  );
  await (await world.start()).ready();
});
afterAll(async () => {
  await world.close();
});

/** JSON text of a record whose id is as given; written as text, since an object would lose some. */
function record(id: string | number, rest: string): { readonly key: string; readonly value: string } {
  return { key: 'c1', value: `{"trans_id":${JSON.stringify(id)},${rest}}` };
}

const updatesOf = (id: string): number => world.service.ledger().transaction(id)?.updateCount ?? 0;

describe('ids of every kind', () => {
  test('are scored and linked under the very same text, in one PATCH', async () => {
    const ids = [...IDS, ...NUMBERS];
    await world.send(world.topics.created, ...ids.map((id) => record(id, '"trans_amt":1')));
    await world.send(world.topics.authorized, ...ids.map((id) => record(id, `"status":"error","ts":"${TS}"`)));
    const ledger = world.service.ledger();
    await eventually('every status has come', () => ledger.summary().updates >= ALL.length);
    const odd = ALL.filter((id) => {
      const seen = ledger.transaction(id);
      return seen?.scored !== 1 || seen.updateCount !== 1 || seen.updates[0]?.linked !== true;
    });
    expect(odd).toEqual([]);
    expect([...ledger.transactions()].map(({ transId }) => transId).toSorted()).toEqual(ALL.toSorted());
    expect(ledger.summary()).toMatchObject({ unlinked: 0, refusedBatches: 0, refusedUpdates: 0 });
    expect(ledger.summary().largestBatch).toBeGreaterThan(1);
    expect(log.of(world.letters(world.topics.created))).toEqual([]);
    expect(log.of(world.letters(world.topics.authorized))).toEqual([]);
  });

  test('are in their scores as they are, but for half a pair of surrogates, which UTF-8 has no bytes for', async () => {
    const scores = await eventually('every score is there', () => {
      const found = log.of(world.topics.scores);
      return found.length >= ALL.length && found;
    });
    const read = await Promise.all(
      scores.map(async ({ value }) => await world.decode<FraudScore>(FRAUD_SCORE_SCHEMA, value)),
    );
    expect(read.map((score) => score.trans_id).toSorted()).toEqual(ALL.map((id) => id.toWellFormed()).toSorted());
    expect(scores.map(({ key }) => key?.toString())).toEqual(read.map((score) => score.trans_id));
  });

  test('are refused one by one where the answer refuses them so, and their neighbours are not', async () => {
    world.service.faults.set({ patchPerId: { transIds: REFUSED, form: 'ok_false' } });
    await world.send(
      world.topics.authorized,
      ...IDS.map((id) => record(id, `"status":"approved","ts":"${TS}","acq_ref_id":"arn"`)),
    );
    await eventually('the neighbours are accepted', () =>
      IDS.every((id) => updatesOf(id) === (REFUSED.includes(id) ? 1 : 2)),
    );
    const letters = await eventually('the letters are there', () => {
      const found = log.of(world.letters(world.topics.authorized));
      return found.length >= REFUSED.length && found;
    });
    world.service.faults.set({});
    const ids = letters.map(({ value }) => (JSON.parse(String(value)) as { trans_id: string }).trans_id);
    expect(ids.toSorted()).toEqual(REFUSED.toSorted());
    for (const letter of letters) expect(headerTexts(letter)['dlq.reason']).toBe('rejected_by_service');
  });
});
