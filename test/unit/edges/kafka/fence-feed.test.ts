import { beforeEach, describe, expect, test } from 'vitest';
import { FenceFeed } from '../../../../src/edges/kafka/fence-feed.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

describe('FenceFeed', () => {
  let clock: ManualClock;
  let fence: FenceFeed;

  beforeEach(() => {
    clock = new ManualClock();
    fence = new FenceFeed({ clock, sessionTimeoutMs: 10_000 });
    fence.start();
  });
  const assigned = (): void => {
    fence.answered(clock.monotonicMs());
    fence.open();
  };

  test('is closed before the member is assigned', () => {
    fence.answered(0);
    expect(fence.mayWrite()).toBe(false);
  });

  test('is closed when assigned without an answered heartbeat', () => {
    fence.open();
    expect(fence.mayWrite()).toBe(false);
  });

  test('is closed during a rebalance', () => {
    assigned();
    fence.close();
    expect(fence.mayWrite()).toBe(false);
  });

  test('lets bytes out until 0.6 of the session after the heartbeat was sent', () => {
    assigned();
    clock.advance(5999);
    expect(fence.mayWrite()).toBe(true);
    clock.advance(1);
    expect(fence.mayWrite()).toBe(false);
  });

  test('counts from when the heartbeat was sent, not from when its answer was read', () => {
    assigned();
    clock.advance(7000);
    fence.answered(500);
    expect(fence.mayWrite()).toBe(false);
  });

  test('is not moved back by the answer to an older heartbeat', () => {
    clock.advance(1000);
    assigned();
    fence.answered(10);
    clock.advance(5500);
    expect(fence.mayWrite()).toBe(true);
  });

  test('is closed after the process was stopped, until a heartbeat sent afterwards is answered', () => {
    const stopped = new StoppableClock();
    const own = new FenceFeed({ clock: stopped, sessionTimeoutMs: 10_000 });
    own.start();
    own.answered(0);
    own.open();
    stopped.freeze(2500);
    expect(own.mayWrite()).toBe(false);
    stopped.advance(100);
    own.answered(2400);
    expect(own.mayWrite()).toBe(false);
    stopped.advance(1);
    own.answered(stopped.monotonicMs());
    expect(own.mayWrite()).toBe(true);
  });

  test('leaves no timer behind', () => {
    fence.stop();
    expect(clock.pending).toBe(0);
    expect(fence.mayWrite()).toBe(false);
  });
});

/** Its time goes on while its timers do not run, as between SIGSTOP and SIGCONT. */
class StoppableClock extends ManualClock {
  #skippedMs = 0;

  override monotonicMs(): number {
    return super.monotonicMs() + this.#skippedMs;
  }

  freeze(ms: number): void {
    this.#skippedMs += ms;
  }
}
