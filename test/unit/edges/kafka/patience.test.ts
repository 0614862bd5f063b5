import { expect, test } from 'vitest';
import { Patience } from '../../../../src/edges/kafka/patience.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

function patient() {
  const clock = new ManualClock();
  const said: string[] = [];
  const patience = new Patience({
    clock,
    draw: () => 1,
    onAskFailed: (error) => said.push(error),
    onAnswered: () => said.push('answered'),
  });
  return { clock, said, patience };
}

const failing = (type: string): Error => Object.assign(new Error('x'), { name: 'KafkaJSProtocolError', type });

test('an answer that comes at once is given, and nothing is said', async () => {
  const { said, patience } = patient();
  expect(
    await patience.ask(
      async () => await Promise.resolve(7),
      () => true,
    ),
  ).toBe(7);
  expect(said).toEqual([]);
});

test('is asked again after ever longer waits until an answer comes, and says each failure and its end', async () => {
  const { clock, said, patience } = patient();
  const triedMs: number[] = [];
  const answer = patience.ask(
    async () => {
      triedMs.push(clock.monotonicMs());
      if (triedMs.length < 3) throw failing('LEADER_NOT_AVAILABLE');
      return await Promise.resolve(7);
    },
    () => true,
  );
  for (let at = 0; at < 10; at += 1) {
    await settled();
    clock.advance(100);
  }
  expect(await answer).toBe(7);
  expect(triedMs).toEqual([0, 200, 600]);
  const failed = 'KafkaJSProtocolError LEADER_NOT_AVAILABLE';
  expect(said).toEqual([failed, failed, 'answered']);
});

test('brokers that do not answer are asked again, by the name of that', async () => {
  const { clock, said, patience } = patient();
  let tries = 0;
  const answer = patience.ask(
    async () => ((tries += 1) === 1 ? await new Promise<never>(() => undefined) : await Promise.resolve(7)),
    () => true,
  );
  clock.advance(10_000);
  await settled();
  clock.advance(200);
  expect(await answer).toBe(7);
  expect(said).toEqual(['timeout', 'answered']);
});

test('an answer that nobody wants any more is none, and neither is its failure', async () => {
  const { said, patience } = patient();
  let isWanted = true;
  const late = Promise.withResolvers<number>();
  const answer = patience.ask(
    async () => await late.promise,
    () => isWanted,
  );
  const failed = patience.ask(
    async () => {
      await late.promise;
      throw failing('LEADER_NOT_AVAILABLE');
    },
    () => isWanted,
  );
  isWanted = false;
  late.resolve(7);
  expect(await Promise.all([answer, failed])).toEqual([null, null]);
  expect(said).toEqual([]);
});

test('waits for nothing once it is woken, and leaves no timer behind', async () => {
  const { clock, patience } = patient();
  let isWanted = true;
  const asks = ['one', 'other'].map(
    async (name) =>
      await patience.ask(
        async () => await Promise.reject<string>(failing(name)),
        () => isWanted,
      ),
  );
  await settled();
  isWanted = false;
  patience.wake();
  expect(await Promise.all(asks)).toEqual([null, null]);
  expect(clock.pending).toBe(0);
});
