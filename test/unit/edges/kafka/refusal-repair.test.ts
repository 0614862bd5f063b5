import { expect, test } from 'vitest';
import { type AskingPool, tellRefusals } from '../../../../src/edges/kafka/refusal-repair.ts';

/** As kafkajs': one broker after the other, and what they say is forgotten. */
function pool(brokers: number): AskingPool {
  const made: AskingPool = {
    withBroker: async (callback) => {
      for (let broker = 0; broker < brokers; broker += 1) {
        try {
          return await callback({ broker });
        } catch {
          // As there.
        }
      }
      return null;
    },
  };
  tellRefusals(made);
  return made;
}

const refusal = Object.assign(new Error('refused'), { type: 'GROUP_AUTHORIZATION_FAILED' });

test('a refusal by every broker is told', async () => {
  await expect(pool(3).withBroker(async () => await Promise.reject(refusal))).rejects.toBe(refusal);
});

test('other failures are forgotten as before, and an answer of another broker is an answer', async () => {
  expect(await pool(2).withBroker(async () => await Promise.reject(new Error('away')))).toBeNull();
  let asked = 0;
  const answer = await pool(2).withBroker(async () => {
    asked += 1;
    if (asked === 1) throw refusal;
    return await Promise.resolve('found');
  });
  expect(answer).toBe('found');
});
