import { expect, test } from 'vitest';
import { runDyingBrokers } from '../fuzz/dying-brokers.ts';

test(
  'every webhook that is answered 200 is in Kafka, whichever brokers die meanwhile, and every event gets there in the end',
  { timeout: 300_000 },
  async () => {
    const events = 2000;
    const outcome = await runDyingBrokers({ events, rate: 200, speed: 60, say: () => {} });
    expect(outcome).toMatchObject({ events, delivered: events, failed: 0, lost: 0, untold: 0, torn: 0, letters: 0 });
    // Only what Kafka has may be told; the rest is asked to come again.
    expect(Object.keys(outcome.answers)).toEqual(expect.arrayContaining(['200', '503']));
    expect(outcome.answers).not.toHaveProperty('none');
    // What had no answer may be there twice; readers tell it by its event_id.
    expect(outcome.duplicates).toBeLessThan(events / 2);
  },
);
