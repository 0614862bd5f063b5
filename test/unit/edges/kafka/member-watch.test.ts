import { describe, expect, test } from 'vitest';
import { MemberWatch } from '../../../../src/edges/kafka/member-watch.ts';
import { type Watermarks } from '../../../../src/edges/kafka/offset-reader.ts';
import { type Watched } from '../../../../src/edges/kafka/watchdog.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const watching = (
  watermarks: () => Promise<Watermarks[]>,
  missing: () => Promise<string[]> = async () => await Promise.resolve([]),
) => {
  const clock = new ManualClock();
  const suspicions: string[] = [];
  const reading: Watched[] = [{ topic: 't', partition: 0, expected: 5n }];
  const watch = new MemberWatch({
    clock,
    sessionTimeoutMs: 6000,
    topics: ['t'],
    offsets: { watermarks, missing },
    reading: () => reading,
    onSuspect: (error) => suspicions.push(error),
  });
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 1000) {
      clock.advance(1000);
      watch.heartbeat();
      await settled();
    }
  };
  watch.start();
  return { clock, suspicions, watch, pass };
};

describe('the watch over a membership', () => {
  test('believes one broker that does not know a topic only when another connection says so too', async () => {
    let gone: string[] = [];
    const { suspicions, watch } = watching(
      async () => await Promise.resolve([]),
      async () => await Promise.resolve(gone),
    );
    watch.unknownTopic();
    await settled();
    expect(suspicions).toEqual([]);
    gone = ['t'];
    watch.unknownTopic();
    await settled();
    expect(suspicions).toEqual(['UNKNOWN_TOPIC_OR_PARTITION']);
  });

  test('says nothing of a topic when brokers do not answer, or the membership is over', async () => {
    const { suspicions, watch } = watching(
      async () => await Promise.resolve([]),
      async () => await Promise.reject(new Error('away')),
    );
    watch.unknownTopic();
    await settled();
    watch.stop();
    watch.unknownTopic();
    await settled();
    expect(suspicions).toEqual([]);
  });

  test('suspects a source that leaves a lagging partition unread', async () => {
    const { suspicions, pass } = watching(async () => await Promise.resolve([{ partition: 0, low: 0n, high: 6n }]));
    await pass(140_000);
    expect(suspicions).toEqual([]);
    await pass(30_000);
    expect(suspicions[0]).toBe('WATCHDOG_NO_FETCH');
  });

  test('suspects nobody while brokers do not tell what a log holds', async () => {
    const { suspicions, pass } = watching(async () => await Promise.reject(new Error('away')));
    await pass(600_000);
    expect(suspicions).toEqual([]);
  });

  test('looks no more once it is stopped', () => {
    const { clock, suspicions, watch } = watching(async () => await Promise.resolve([]));
    watch.stop();
    clock.advance(600_000);
    expect(clock.pending).toBe(0);
    expect(suspicions).toEqual([]);
  });
});
