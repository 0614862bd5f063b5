import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Move, World } from '../support/worlds.ts';

const RUNS = Number(process.env['WORLDS'] ?? 1000);

const clean: readonly Move['do'][] = [
  'append',
  'append',
  'append',
  'deliver',
  'deliver',
  'end',
  'end',
  'end',
  'wait',
  'letter',
  'release',
  'time',
  'time',
  'rebalance',
  'join',
  'leave',
  'noLetters',
  'letters',
];
const unclean: readonly Move['do'][] = [...clean, 'commitFails', 'commitLost', 'crash', 'kill'];

const schedule = (moves: readonly Move['do'][]): fc.Arbitrary<Move[]> =>
  fc.array(fc.record({ do: fc.constantFrom(...moves), pick: fc.nat(10_000) }), { minLength: 5, maxLength: 60 });

async function play(moves: readonly Move[]): Promise<World> {
  const world = new World();
  await world.begin();
  for (const move of moves) await world.move(move);
  await world.settle();
  return world;
}

test('loses nothing and keeps every key in order, whatever is killed, lost or assigned anew', async () => {
  await fc.assert(
    fc.asyncProperty(schedule(unclean), async (moves) => {
      const world = await play(moves);
      expect(world.faults).toEqual([]);
      expect(world.missing).toEqual([]);
    }),
    { numRuns: RUNS },
  );
}, 120_000);

test('does nothing twice as long as members join, leave and rebalance in good order', async () => {
  await fc.assert(
    fc.asyncProperty(schedule(clean), async (moves) => {
      const world = await play(moves);
      expect(world.faults).toEqual([]);
      expect(world.missing).toEqual([]);
      expect(world.unclean ? [] : world.doubled).toEqual([]);
    }),
    { numRuns: RUNS },
  );
}, 120_000);
