import { describe, expect, test } from 'vitest';
import { type Flow } from '../../../src/engine/ports.ts';
import { type Cancel, type Clock } from '../../../src/kernel/clock.ts';
import { DELIVERED } from '../../../src/kernel/outcome.ts';
import { ReplayedFlow } from '../../../src/replay/replayed-flow.ts';
import { TokenBucket } from '../../../src/resilience/token-bucket.ts';
import { makeWorld, started, tick, TOPIC } from '../../support/engine-world.ts';
import { InMemoryBroker } from '../../support/in-memory-broker.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { ScriptedFlow } from '../../support/scripted-flow.ts';

/** As a machine's: each look is later than the one before, and a timer may run up to a millisecond early. */
class CreepingClock implements Clock {
  readonly hands = new ManualClock();
  /** How many there were. */
  timers = 0;
  readonly #earlyMs: number;
  #creptMs = 0;

  constructor(earlyMs: number) {
    this.#earlyMs = earlyMs;
  }

  nowMs(): number {
    return this.hands.nowMs();
  }

  monotonicMs(): number {
    this.#creptMs += 0.004;
    return this.hands.monotonicMs() + this.#creptMs;
  }

  after(delayMs: number, task: () => void): Cancel {
    this.timers += 1;
    return this.hands.after(delayMs - this.#earlyMs, task);
  }

  soon(task: () => void): void {
    this.hands.soon(task);
  }
}

describe('where nothing else happens', () => {
  test('what a record makes due that was started by the end of another one falls due', async () => {
    const world = makeWorld();
    for (const value of ['a1', 'a2']) world.broker.append(TOPIC, 0, { key: 'a', value });
    await started(world);
    world.flow.onRun = () => {
      world.flow.dueMs = world.clock.monotonicMs() + 50;
    };
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    expect(world.flow.items).toEqual(['a1', 'a2']);
    await tick(world, 50);
    expect(world.flow.ticks).toHaveLength(1);
  });

  test('a record that had to wait when the one before it ended is asked again', async () => {
    const world = makeWorld();
    for (const value of ['a1', 'a2']) world.broker.append(TOPIC, 0, { key: 'a', value });
    await started(world);
    world.flow.blocks = () => 'not_scored_yet';
    world.flow.started[0]?.end(DELIVERED);
    await settled();
    world.flow.blocks = () => null;
    await tick(world, 500);
    expect(world.flow.items).toEqual(['a1', 'a2']);
  });

  test('and one that was woken and has to wait again', async () => {
    const world = makeWorld();
    world.broker.append(TOPIC, 0, { key: 'a', value: 'a1' });
    world.flow.blocks = () => 'not_scored_yet';
    await started(world);
    await tick(world, 400);
    world.flow.signals?.wake('a');
    world.flow.blocks = () => null;
    await tick(world, 1000);
    expect(world.flow.items).toEqual(['a1']);
  });

  test('every record is started at its rate, however early timers run and however long it takes to look', async () => {
    const records = 30;
    for (let earlyMs = 0; earlyMs < 0.9; earlyMs += 0.01) {
      const clock = new CreepingClock(earlyMs);
      const inner = new ScriptedFlow();
      inner.answer = () => DELIVERED;
      const bucket = new TokenBucket(100, clock.monotonicMs());
      const flow = new ReplayedFlow<string, unknown>({
        flow: inner,
        refuses: () => null,
        unread: 'letter',
        onSend: () => undefined,
        bucket,
        clock,
      });
      flow.open();
      const broker = new InMemoryBroker();
      broker.createTopic(TOPIC, 1);
      for (let at = 0; at < records; at += 1) broker.append(TOPIC, 0, { key: String(at), value: String(at) });
      const flows = new Map<string, Flow<unknown, unknown>>([[TOPIC, flow]]);
      const { engine } = makeWorld(broker, undefined, { flows, clock, source: broker.source('group', [TOPIC]) });
      await engine.start();
      await broker.step();
      for (let ms = 0; ms < 400; ms += 5) {
        clock.hands.advance(5);
        await settled();
      }
      expect([earlyMs, inner.items.length]).toEqual([earlyMs, records]);
      // Nor does it look all the time.
      expect(clock.timers).toBeLessThan(10 * records);
      await engine.stop(0);
    }
  });
});
