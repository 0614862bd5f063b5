import { describe, expect, test } from 'vitest';
import { LOOK_MS, type WatchVerdict, Watchdog, type Watched } from '../../../../src/edges/kafka/watchdog.ts';

const SESSION_MS = 30_000;
const at = (expected: bigint, partition = 0): Watched => ({ topic: 't', partition, expected });
const high = (offset: bigint, partition = 0) => [{ partition, high: offset }];

/** A watchdog and what it looks at, look by look. */
const watched = (sessionTimeoutMs = SESSION_MS) => {
  const dog = new Watchdog(sessionTimeoutMs);
  let nowMs = 5_000_000;
  /** Looks for so long, with heartbeats unless told, and gives the last verdict. */
  const pass = (
    ms: number,
    reading: readonly Watched[],
    { beats = true, ends = (): void => {} }: { beats?: boolean; ends?: () => void } = {},
  ): WatchVerdict => {
    let verdict: WatchVerdict = { do: 'nothing' };
    for (let passed = 0; passed < ms && verdict.do !== 'end'; passed += LOOK_MS) {
      nowMs += LOOK_MS;
      if (beats) dog.heartbeat();
      verdict = dog.look(nowMs, reading);
      if (verdict.do === 'ask') ends();
    }
    return verdict;
  };
  dog.look(nowMs, []);
  return { dog, pass, sleep: (ms: number) => (nowMs += ms) };
};

describe('the watchdog', () => {
  test('ends a membership whose heartbeats have not been answered for 120 s', () => {
    const { pass } = watched();
    expect(pass(110_000, [], { beats: false })).toEqual({ do: 'nothing' });
    expect(pass(10_000, [], { beats: false })).toEqual({ do: 'end', error: 'WATCHDOG_NO_HEARTBEAT' });
  });

  test('waits four sessions for a heartbeat where that is longer', () => {
    const { pass } = watched(60_000);
    expect(pass(230_000, [], { beats: false })).toEqual({ do: 'nothing' });
    expect(pass(10_000, [], { beats: false })).toMatchObject({ do: 'end' });
  });

  test('ends a membership that does not fetch what a partition holds', () => {
    const { dog, pass } = watched();
    const ends = (): void => {
      dog.ends('t', high(8n));
    };
    expect(pass(120_000, [at(7n)], { ends })).toEqual({ do: 'nothing' });
    expect(pass(30_000, [at(7n)], { ends })).toEqual({ do: 'ask', topics: ['t'] });
    expect(pass(20_000, [at(7n)], { ends })).toEqual({ do: 'end', error: 'WATCHDOG_NO_FETCH' });
  });

  test('leaves an idle partition alone, however long', () => {
    const { dog, pass } = watched();
    const ends = (): void => {
      dog.ends('t', high(7n));
    };
    expect(pass(3_600_000, [at(7n)], { ends })).toEqual({ do: 'ask', topics: ['t'] });
  });

  test('gives a record that has just been written time to be fetched', () => {
    const { dog, pass } = watched();
    pass(600_000, [at(7n)]);
    dog.ends('t', high(8n));
    expect(pass(20_000, [at(7n)])).toEqual({ do: 'ask', topics: ['t'] });
    dog.ends('t', high(8n));
    expect(pass(10_000, [at(8n)])).toEqual({ do: 'nothing' });
  });

  test('never suspects a partition that the engine has paused', () => {
    const { dog, pass } = watched();
    pass(110_000, [at(7n)]);
    expect(pass(600_000, [])).toEqual({ do: 'nothing' });
    dog.ends('t', high(9n));
    expect(pass(110_000, [at(7n)])).toEqual({ do: 'nothing' });
  });

  test('does not count what a stopped process has slept through', () => {
    const { dog, pass, sleep } = watched();
    const ends = (): void => {
      dog.ends('t', high(8n));
    };
    pass(60_000, [at(7n)], { ends });
    sleep(3_600_000);
    expect(pass(40_000, [at(7n)], { beats: false, ends })).toEqual({ do: 'nothing' });
  });

  test('takes no proof from ends that are not told', () => {
    const { pass } = watched();
    expect(pass(3_600_000, [at(7n)])).toEqual({ do: 'ask', topics: ['t'] });
  });
});
