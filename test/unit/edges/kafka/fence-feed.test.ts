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
    fence.confirmed(clock.monotonicMs());
    fence.open();
  };

  test('is closed before the member is assigned', () => {
    fence.confirmed(0);
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

  test('goes on from one answered heartbeat to the next', () => {
    assigned();
    for (let beats = 0; beats < 5; beats += 1) {
      clock.advance(3000);
      fence.answered(clock.monotonicMs());
    }
    clock.advance(5999);
    expect(fence.mayWrite()).toBe(true);
  });

  test('counts from when the heartbeat was sent, not from when its answer was read', () => {
    assigned();
    clock.advance(5000);
    fence.answered(500);
    clock.advance(1500);
    expect(fence.mayWrite()).toBe(false);
  });

  test('stays closed after a lapse for all answered heartbeats, until a sync of the generation is answered', () => {
    assigned();
    clock.advance(6000);
    expect(fence.hasLapsed).toBe(true);
    for (let beats = 0; beats < 3; beats += 1) {
      fence.answered(clock.monotonicMs());
      clock.advance(1000);
      expect(fence.mayWrite()).toBe(false);
    }
    expect(fence.heartbeatAtMs).toBe(clock.monotonicMs() - 1000);
    fence.confirmed(clock.monotonicMs());
    expect(fence.hasLapsed).toBe(false);
    expect(fence.mayWrite()).toBe(true);
  });

  test('takes an answer that was read after the lapse for none, though its heartbeat was sent before', () => {
    assigned();
    clock.advance(7000);
    fence.answered(5500);
    expect(fence.mayWrite()).toBe(false);
  });

  test('does not lapse where nothing was ever confirmed: heartbeats alone begin no lease', () => {
    fence.open();
    fence.answered(clock.monotonicMs());
    expect(fence.mayWrite()).toBe(false);
    expect(fence.hasLapsed).toBe(false);
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
    own.confirmed(0);
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

  test('is closed after a stop beyond the lease, until a sync sent afterwards is answered', () => {
    const stopped = new StoppableClock();
    const own = new FenceFeed({ clock: stopped, sessionTimeoutMs: 10_000 });
    own.start();
    own.confirmed(0);
    own.open();
    stopped.freeze(12_000);
    stopped.advance(100);
    own.answered(stopped.monotonicMs());
    stopped.advance(1);
    own.answered(stopped.monotonicMs());
    expect(own.mayWrite()).toBe(false);
    stopped.advance(1);
    own.confirmed(stopped.monotonicMs());
    expect(own.mayWrite()).toBe(true);
  });

  test('is closed after the machine was suspended, for its clock stood still: only a sync sent afterwards opens it', () => {
    const own = new SuspendableClock();
    const feed = new FenceFeed({ clock: own, sessionTimeoutMs: 10_000 });
    feed.start();
    feed.confirmed(0);
    feed.open();
    own.advance(1000);
    own.wallMs += 60_000;
    expect(feed.mayWrite()).toBe(false);
    expect(feed.hasLapsed).toBe(true);
    own.advance(100);
    feed.answered(own.monotonicMs());
    expect(feed.mayWrite()).toBe(false);
    feed.confirmed(own.monotonicMs());
    expect(feed.mayWrite()).toBe(true);
  });

  test('takes what was sent before a suspension and answered after it for no proof, also where nothing had asked meanwhile', () => {
    for (const isLeased of [true, false]) {
      const own = new SuspendableClock();
      const feed = new FenceFeed({ clock: own, sessionTimeoutMs: 10_000 });
      feed.start();
      if (isLeased) feed.confirmed(0);
      feed.open();
      own.advance(950);
      own.wallMs += 60_000;
      feed.answered(940);
      feed.confirmed(940);
      expect([feed.mayWrite(), feed.hasLapsed]).toEqual([false, true]);
      own.advance(10);
      feed.confirmed(own.monotonicMs());
      expect(feed.mayWrite()).toBe(true);
    }
  });

  test('costs one confirmation where the wall clock is set forward, and nothing where it is set back or a little forward', () => {
    const own = new SuspendableClock();
    const feed = new FenceFeed({ clock: own, sessionTimeoutMs: 10_000 });
    feed.start();
    feed.confirmed(0);
    feed.open();
    for (const stepMs of [-3_600_000, -2500, 2000]) {
      own.wallMs += stepMs;
      expect(feed.mayWrite()).toBe(true);
      own.advance(100);
    }
    own.wallMs += 3_600_000;
    expect(feed.mayWrite()).toBe(false);
    own.advance(100);
    feed.confirmed(own.monotonicMs());
    for (let beats = 0; beats < 10; beats += 1) {
      expect(feed.mayWrite()).toBe(true);
      own.advance(1000);
      feed.answered(own.monotonicMs());
    }
  });

  test('leaves no timer behind', () => {
    fence.stop();
    expect(clock.pending).toBe(0);
    expect(fence.mayWrite()).toBe(false);
  });
});

/** Its wall clock may be set, or go on while all else stands still, as on a machine that is suspended. */
class SuspendableClock extends ManualClock {
  wallMs = 0;

  override nowMs(): number {
    return super.nowMs() + this.wallMs;
  }
}

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
