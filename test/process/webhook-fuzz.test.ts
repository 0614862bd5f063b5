import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { ENDPOINT, REQUEST_TIMEOUT_MS, runCampaign } from '../fuzz/campaign.ts';
import { sendPlan } from '../fuzz/connection.ts';
import { keptRequests, planOfKept } from '../fuzz/corpus.ts';
import { Dice } from '../fuzz/dice.ts';
import { KafkaReceiver } from '../fuzz/kafka-receiver.ts';
import { Receiver } from '../fuzz/receiver.ts';
import { MAX_BYTES, plainWebhook, reviewBody, signedNear } from '../fuzz/wire.ts';

test('nothing that can be sent makes the receiver write what nobody has signed, answer what is not documented, miscount or end', async () => {
  const options = { requests: 12_000, from: 0, concurrency: 96, round: 700 };
  const quiet = { say: () => {}, signal: new AbortController().signal };
  const { failures, faults, answers, written } = await runCampaign({ ...options, ...quiet, seed: 20_261_121 });
  expect(failures).toEqual([]);
  expect(faults).toEqual([]);
  const all = ['200', '400', '401', '404', '405', '413', '415', '503'];
  expect(Object.keys(answers)).toEqual(expect.arrayContaining(all));
  expect(written).toBeGreaterThan(1000);
});

test('with a real Kafka behind it, too: what is answered 200 is in the topics, and nothing else', async () => {
  const target = await KafkaReceiver.start(inject('kafka'));
  const options = { requests: 3000, from: 0, concurrency: 64, round: 400, target };
  const quiet = { say: () => {}, signal: new AbortController().signal };
  const { failures, faults, written } = await runCampaign({ ...options, ...quiet, seed: 7 });
  expect(failures).toEqual([]);
  expect(faults).toEqual([]);
  expect(written).toBeGreaterThan(500);
});

describe('what once went wrong', () => {
  let receiver: Receiver;
  beforeAll(async () => {
    const limits = { maxBytes: MAX_BYTES, requestTimeoutMs: REQUEST_TIMEOUT_MS, ackMs: 0, fillMemory: false };
    receiver = await Receiver.start({ ...ENDPOINT, ...limits });
  });
  afterAll(async () => {
    await receiver.close();
  });

  test.each([...keptRequests()])('%s', async (_name, kept) => {
    const url = new URL(receiver.url);
    const sightings = await Promise.all(Array.from({ length: 30 }, async () => await sendPlan(url, planOfKept(kept))));
    expect(sightings.flatMap(({ wrong }) => wrong ?? [])).toEqual([]);
    expect(kept.statuses).toEqual(expect.arrayContaining(sightings.flatMap(({ statuses }) => statuses)));
    expect((await receiver.report()).written).toEqual([]);
    const dice = new Dice(1, 1);
    const good = plainWebhook(signedNear(dice, reviewBody(dice, `after ${kept.why}`), ENDPOINT));
    const plan = {
      ...planOfKept(kept),
      bytes: good,
      end: 'wait',
      answers: [{ statuses: [200], id: null }],
      open: false,
    } as const;
    expect((await sendPlan(url, plan)).statuses).toEqual([200]);
    expect((await receiver.report()).written).toHaveLength(1);
  });
});
