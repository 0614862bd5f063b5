import fc from 'fast-check';
import { expect, test } from 'vitest';
import { DELIVERED, type HoldCause } from '../../src/kernel/outcome.ts';
import { makeWorld, tick, TOPIC } from '../support/engine-world.ts';
import { InMemoryBroker } from '../support/in-memory-broker.ts';

const PARTITIONS = 3;
const TICK_MS = 50;
const END_MS = 60_000;

/** A record with a key of its own. */
interface Planned {
  readonly isUnreadable: boolean;
  /** After the one before. */
  readonly afterMs: number;
}

interface Plan {
  readonly records: readonly Planned[];
  readonly room: number;
  /** Of the one step of each record. */
  readonly stepMs: number;
  /** How long the dead-letter topic fails, and how long each write to it takes until then. */
  readonly failsMs: number;
  readonly writeMs: number;
}

const plans: fc.Arbitrary<Plan> = fc.record({
  records: fc.array(
    fc.record({
      isUnreadable: fc.nat(2).map((chance) => chance === 0),
      afterMs: fc.integer({ min: 0, max: 4 }).map((ticks) => ticks * TICK_MS),
    }),
    { minLength: 5, maxLength: 60, size: 'max' },
  ),
  room: fc.integer({ min: 1, max: 4 }),
  stepMs: fc.integer({ min: 0, max: 20 }).map((ticks) => ticks * TICK_MS),
  failsMs: fc.integer({ min: 0, max: END_MS / 2 }),
  writeMs: fc.constantFrom(0, 1000, 10_000),
});

/** When steps began, in turn; and how many dead letters were written in the end. */
async function played({
  records,
  room,
  stepMs,
  failsMs,
  writeMs,
}: Plan): Promise<readonly [readonly number[], number]> {
  const broker = new InMemoryBroker();
  broker.createTopic(TOPIC, PARTITIONS);
  let written = 0;
  const world = makeWorld(broker, 10_000, {
    parked: new Set(),
    deadLetters: {
      write: async () => {
        if (clock.monotonicMs() >= failsMs) {
          written += 1;
          return await Promise.resolve('written');
        }
        return await new Promise<HoldCause>((resolve) => {
          clock.after(writeMs, () => {
            resolve('dead_letter_topic');
          });
        });
      },
    },
  });
  const { clock, flow } = world;
  const beganMs: number[] = [];
  flow.limit = room;
  flow.readings = ({ value }) =>
    records[Number(value)]?.isUnreadable === true
      ? { do: 'dead_letter', letter: { reason: 'undecodable', stage: 'read' } }
      : null;
  flow.onOpen = ({ end }) => {
    beganMs.push(clock.monotonicMs());
    clock.after(stepMs, () => {
      end(DELIVERED);
    });
  };
  await world.engine.start();
  await broker.step();
  for (const [at, { afterMs }] of records.entries()) {
    for (let ms = 0; ms < afterMs; ms += TICK_MS) await tick(world, TICK_MS);
    broker.append(TOPIC, at % PARTITIONS, { key: String(at), value: String(at) });
    broker.deliver();
    await tick(world, 0);
  }
  while (clock.monotonicMs() < END_MS) await tick(world, TICK_MS);
  return [beganMs, written];
}

test('records start when they would start if no dead letter waited, however long the topic of those fails', async () => {
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const [began, written] = await played(plan);
      const [calm] = await played({ ...plan, failsMs: 0 });
      expect(began).toEqual(calm);
      expect([began.length, written]).toEqual([
        plan.records.filter(({ isUnreadable }) => !isUnreadable).length,
        plan.records.filter(({ isUnreadable }) => isUnreadable).length,
      ]);
    }),
    { numRuns: 30 },
  );
}, 60_000);
