import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { followCoordinator } from '../../../../src/edges/kafka/coordinator-repair.ts';
import { type ConsumerGroup, type Retrier, type Runner } from '../../../../src/edges/kafka/group-internals.ts';
import { forgetFailures } from '../../../../src/edges/kafka/retry-repair.ts';

const createRetry = createRequire(import.meta.url)('kafkajs/src/retry') as (of: object) => Retrier;
const lost = (): Error => Object.assign(new Error('x'), { retriable: true });

/** A runner whose attempts fail, each after so many heartbeats, with kafkajs' own retries: three. */
const running = async (beatsBeforeFailures: readonly number[], error = lost()) => {
  let lastRequest = 0;
  let attempts = 0;
  const consumerGroup = {
    get lastRequest() {
      return lastRequest;
    },
    connect: async () => await Promise.resolve(),
    recoverFromFetch: async () => await Promise.resolve(),
    heartbeat: async () => {
      lastRequest += 1;
      await Promise.resolve();
    },
  } as unknown as ConsumerGroup;
  followCoordinator(consumerGroup);
  let runs = 0;
  const ended = Promise.withResolvers<string>();
  const runner: Runner = {
    consumerGroup,
    retrier: createRetry({ retries: 3, initialRetryTime: 1, maxRetryTime: 1, factor: 0, multiplier: 1 }),
    scheduleFetchManager(this: Runner) {
      runs += 1;
      void this.retrier(async () => {
        const beats = beatsBeforeFailures[attempts];
        if (beats === undefined) return;
        attempts += 1;
        for (let beat = 0; beat < beats; beat += 1) await consumerGroup.heartbeat({ interval: 0 });
        throw error;
      }).then(
        () => {
          if (attempts === beatsBeforeFailures.length) ended.resolve('works');
          else this.scheduleFetchManager();
        },
        () => {
          ended.resolve('crashed');
        },
      );
    },
  };
  forgetFailures(runner);
  runner.scheduleFetchManager();
  return { end: await ended.promise, attempts, runs };
};

describe("a fetcher's failures", () => {
  test('end the membership when they come one after the other', async () => {
    expect(await running([0, 0, 0, 0, 0, 0])).toMatchObject({ end: 'crashed', attempts: 4 });
    expect(await running([5, 5, 5, 5, 5, 5])).toMatchObject({ end: 'crashed', attempts: 4 });
  });

  test('end it at once when they are not to be retried, however long it has worked', async () => {
    const fatal = Object.assign(new Error('x'), { retriable: false });
    expect(await running([20, 20], fatal)).toMatchObject({ end: 'crashed', attempts: 1 });
  });

  test('are forgotten when it has worked for a session since', async () => {
    expect(await running(Array.from({ length: 30 }, () => 10))).toMatchObject({ end: 'works', attempts: 30 });
  });
});
