import { describe, expect, test } from 'vitest';
import { WebhookFlow } from '../../../../src/app/dead-letters/webhook-flow.ts';
import { toParkedRecord } from '../../../../src/dead-letters/letter.ts';
import { type OutgoingRecord, type SourceRecord, type WriteOutcome } from '../../../../src/engine/ports.ts';
import { type FraudReview } from '../../../../src/screening/avro.generated.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { reviewBody, SECRET, sign } from '../../../support/webhooks.ts';

const PARKED_MS = Date.UTC(2025, 0, 1);

function parked(change: Readonly<Record<string, unknown>> = {}, secret = SECRET): SourceRecord {
  const body = reviewBody(change);
  const timestamp = '2025-01-01T00:00:00Z';
  const { key, value, headers } = toParkedRecord(
    {
      topic: 'r.dlq',
      body,
      signature: sign(body, timestamp, secret),
      timestamp,
      signatureHeader: 'x-servicewebhook-signature',
      timestampHeader: 'x-servicewebhook-timestamp',
    },
    { account: 'a', connector: 'c', failedAtMs: PARKED_MS },
  );
  return { topic: 'r.dlq', partition: 0, offset: 3n, timestampMs: PARKED_MS, key, value, headers };
}

function rig(outcome: WriteOutcome = { do: 'written', partition: 0, offset: 0n }) {
  const left: string[] = [];
  const written: OutgoingRecord[] = [];
  const encoded: FraudReview[] = [];
  const flow = new WebhookFlow({
    isChosen: ({ offset }) => offset === 3n,
    onLeft: (_letter, why) => left.push(why),
    secrets: () => ['another-secret-of-at-least-24-bytes', SECRET],
    forms: { signatureForms: ['hex', 'base64'], timestampForms: ['rfc3339'] },
    context: {
      topic: 'r',
      account: 'a',
      source: '/x',
      encoder: {
        encode: (review) => {
          encoded.push(review);
          return Buffer.from('encoded');
        },
      },
    },
    writer: {
      write: async (record) => {
        written.push(record);
        return await Promise.resolve(outcome);
      },
    },
    publishTimeoutMs: 1000,
    clock: new ManualClock(),
  });
  const run = async (letter: SourceRecord) => {
    const reading = flow.read(letter);
    if (reading.do !== 'item') throw new Error(`no item: ${JSON.stringify(reading)}`);
    expect(flow.lane(reading.item)).toBe('pay-0001');
    const tenure = { epoch: 1, phase: 'owned' } as const;
    const { item } = reading;
    const lane = flow.lane(item);
    return await flow.run({ record: letter, item, attempt: 1, carry: undefined, tenure, lane, ordinal: 0 });
  };
  return { flow, left, written, encoded, run };
}

describe('a parked webhook stays', () => {
  test.for([
    ['signed with a secret that is not configured', parked({}, 'no-secret-of-ours-0000000000000'), 'bad_signature'],
    ['whose body was changed', { ...parked(), value: reviewBody({ decision: 'bad' }) }, 'bad_signature'],
    ['without its signature', { ...parked(), headers: {} }, 'bad_signature'],
    ['without its body', { ...parked(), value: null }, 'bad_signature'],
    ['that is still not understood', parked({ decision: 'splendid' }), 'still_unrecognised'],
  ] as const)('%s', ([, letter, why]) => {
    const { flow, left } = rig();
    expect(flow.read(letter)).toEqual({ do: 'skip', rule: 'out_of_range' });
    expect(left).toEqual([why]);
  });

  test('that Kafka never takes', async () => {
    const { run, left } = rig({ do: 'refused', why: 'too_large' });
    expect(await run(parked())).toEqual({ do: 'skip', rule: 'out_of_range' });
    expect(left).toEqual(['refused_by_kafka']);
  });
});

test('what was not chosen is passed over, and nobody is told', () => {
  const { flow, left } = rig();
  expect(flow.read({ ...parked(), offset: 4n })).toEqual({ do: 'skip', rule: 'out_of_range' });
  expect(left).toEqual([]);
});

test('a review is published as it would have been when it came, however long ago', async () => {
  const { run, written, encoded } = rig();
  expect(await run(parked({ decision: 'bad' }))).toEqual({ do: 'delivered' });
  expect(written[0]).toMatchObject({ topic: 'r', key: Buffer.from('pay-0001') });
  expect(encoded[0]).toMatchObject({ decision: 'bad', received_at: PARKED_MS });
});

test('Kafka being away is waited out', async () => {
  const { run, left, flow } = rig({ do: 'unavailable', error: 'x' });
  expect(await run(parked())).toEqual({ do: 'wait', forMs: 1000, why: 'kafka' });
  expect([left, flow.room()]).toEqual([[], 16]);
});
