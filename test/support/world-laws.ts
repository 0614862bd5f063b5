import fc from 'fast-check';
import { type Law } from './kept-seeds.ts';
import { ScheduledWorld } from './scheduled-world.ts';
import { type Incident, type Kill, type Plan } from './world-plan.ts';
import { type Move, World } from './worlds.ts';

const cleanMoves: readonly Move['do'][] = [
  ...(['append', 'append', 'append', 'deliver', 'deliver', 'end', 'end', 'end', 'wait', 'letter'] as const),
  ...(['release', 'time', 'time', 'rebalance', 'join', 'leave', 'noLetters', 'letters'] as const),
];
const uncleanMoves: readonly Move['do'][] = [...cleanMoves, 'commitFails', 'commitLost', 'crash', 'kill'];

const movesOf = (moves: readonly Move['do'][]): fc.Arbitrary<Move[]> =>
  fc.array(fc.record({ do: fc.constantFrom(...moves), pick: fc.nat(10_000) }), {
    minLength: 5,
    maxLength: 60,
    size: 'max',
  });

async function play(moves: readonly Move[]): Promise<World> {
  const world = new World();
  await world.begin();
  for (const move of moves) await world.move(move);
  await world.settle();
  return world;
}

/** Seeded moves: whatever is killed, lost or assigned anew, nothing is lost and every key keeps its order. */
export const movesLoseNothing: Law<Move[]> = {
  name: 'moves lose nothing',
  worlds: movesOf(uncleanMoves),
  check: async (moves) => {
    const world = await play(moves);
    return [...world.faults, ...world.missing.map((item) => `${item} is lost`)];
  },
};

/** Seeded moves in good order: nothing is done twice. */
export const movesDoubleNothing: Law<Move[]> = {
  name: 'moves double nothing',
  worlds: movesOf(cleanMoves),
  check: async (moves) => {
    const world = await play(moves);
    const doubled = world.unclean ? [] : world.doubled;
    return [
      ...world.faults,
      ...world.missing.map((item) => `${item} is lost`),
      ...doubled.map((item) => `${item} was done twice`),
    ];
  },
};

interface Scheduled {
  readonly plan: Plan;
  /** Stands for the order in which everything that is awaited goes on. */
  readonly order: number;
}

const clean: readonly Incident[] = ['join', 'leave', 'rebalance'];
const unclean: readonly Incident[] = [...clean, 'crash', 'crash', 'commit fails', 'commit lost'];
const expiries: readonly Incident[] = ['expire below', 'expire at', 'expire above', 'expire above'];
const FOR_EVER_MS = 1e9;

const anyPlan = (incidents: readonly Incident[], patienceMs: fc.Arbitrary<number>): fc.Arbitrary<Plan> =>
  fc.record({
    records: fc.array(
      fc.record({
        key: fc.nat(3),
        afterHole: rarely(),
        needsSchema: rarely(),
        blocked: rarely(),
      }),
      { minLength: 1, maxLength: 14, size: 'max' },
    ),
    partitions: fc.integer({ min: 1, max: 3 }),
    endings: fc.array(
      fc.constantFrom('deliver', 'deliver', 'batched', 'wait', 'release', 'throw', 'letter', 'letter refused'),
      { minLength: 1, maxLength: 6, size: 'max' },
    ),
    incidents: fc.array(fc.constantFrom(...incidents), { maxLength: 6, size: 'max' }),
    room: fc.integer({ min: 1, max: 4 }),
    buffer: fc.integer({ min: 2, max: 8 }),
    patienceMs,
    inherited: fc.constantFrom('nothing', 'nothing', 'another cluster', 'another offset', 'damaged'),
  });

function rarely(): fc.Arbitrary<boolean> {
  return fc.nat(5).map((chance) => chance === 5);
}

const anyOrder = (): fc.Arbitrary<number> => fc.noShrink(fc.integer());

const scheduled = (incidents: readonly Incident[], patienceMs: fc.Arbitrary<number>): fc.Arbitrary<Scheduled> =>
  fc.record({ plan: anyPlan(incidents, patienceMs), order: anyOrder() });

const hasty = fc.constantFrom(500, 2000, FOR_EVER_MS);

function wrongIn({ oracle, trace }: ScheduledWorld, mayDouble: boolean): readonly string[] {
  const wrong = [
    ...oracle.faults,
    ...oracle.missing.map((item) => `${item} is lost`),
    ...(mayDouble ? oracle.unexcused : oracle.doubled).map((item) => `${item} was done twice`),
  ];
  return wrong.length === 0 ? [] : [...wrong, `after ${trace.join(', ')}`];
}

/** In any order of all that is awaited, members that join, leave and rebalance in good order do nothing twice. */
export const anyOrderDoublesNothing: Law<Scheduled> = {
  name: 'any order doubles nothing',
  worlds: scheduled(clean, fc.constant(FOR_EVER_MS)),
  check: async ({ plan, order }) => wrongIn(await new ScheduledWorld(plan, order).run(), false),
};

/** In any order, with crashes, failing commits and barriers that cannot wait: nothing lost, order kept, doubled only what is excused. */
export const anyOrderLosesNothing: Law<Scheduled> = {
  name: 'any order loses nothing',
  worlds: scheduled(unclean, hasty),
  check: async ({ plan, order }) => wrongIn(await new ScheduledWorld(plan, order).run(), true),
};

/** In any order, retention takes nothing from what was read: the rest of what it takes is reported, with its count. */
export const expiryTakesOnlyUnread: Law<Scheduled> = {
  name: 'expiry takes only unread',
  worlds: scheduled(expiries, fc.constant(FOR_EVER_MS)),
  check: async ({ plan, order }) => {
    const world = await new ScheduledWorld(plan, order).run();
    return [...wrongIn(world, false), ...world.oracle.misreported];
  },
};

interface Killed extends Scheduled {
  readonly from: number;
  readonly pick: number;
  readonly late: boolean;
}

/**
 * A schedule is run to its end, then again for kills at awaits of it: the process is gone in that moment, another begins
 * with what is committed.
 *
 * @param kills how many awaits of a schedule; `each`: all of them.
 */
export const killsLoseNothing = (kills: number | 'each'): Law<Killed> =>
  killsAmid('kills lose nothing', unclean, kills);

/** The same, while retention takes what lies below, at and above where partitions are read: what is lost is reported. */
export const killsAndExpiry = (kills: number | 'each'): Law<Killed> =>
  killsAmid('kills and expiry', [...unclean, ...expiries, ...expiries], kills);

const killsAmid = (name: string, incidents: readonly Incident[], kills: number | 'each'): Law<Killed> => ({
  name,
  worlds: fc.record({
    plan: anyPlan(incidents, hasty),
    order: anyOrder(),
    from: fc.nat(9999),
    pick: fc.nat(2),
    late: fc.boolean(),
  }),
  check: async ({ plan, order, from, pick, late }) => {
    const whole = await new ScheduledWorld(plan, order).run();
    const wrong = wrongIn(whole, true);
    if (wrong.length > 0) return wrong;
    const awaits = whole.trace.length;
    for (const afterTasks of killsAmong(awaits, kills, from)) {
      const kill: Kill = { afterTasks, pick, late };
      const again = await new ScheduledWorld(plan, order, kill).run();
      const wrongNow = wrongIn(again, true);
      if (wrongNow.length > 0) return [...wrongNow, `killed after ${String(afterTasks)} of ${String(awaits)} tasks`];
      if (again.trace.slice(0, afterTasks).join() !== whole.trace.slice(0, afterTasks).join())
        return ['the same order was not the same schedule'];
    }
    return [];
  },
});

function killsAmong(awaits: number, kills: number | 'each', from: number): readonly number[] {
  const count = kills === 'each' ? awaits : Math.min(kills, awaits);
  return Array.from(
    { length: count },
    (_, at) => Math.floor((awaits * from) / 10_000 + (awaits * at) / count) % awaits,
  );
}
