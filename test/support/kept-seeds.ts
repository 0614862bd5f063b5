import { readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';

/** Something that holds of every world; `check` answers what was wrong in one. */
export interface Law<World> {
  readonly name: string;
  readonly worlds: fc.Arbitrary<World>;
  readonly check: (world: World) => Promise<readonly string[]>;
}

/** A world that once broke a law, as fast-check finds it again. */
export interface KeptSeed {
  readonly law: string;
  readonly seed: number;
  readonly path: string;
  /** What was wrong. */
  readonly what: string;
}

const KEPT = new URL('../fixtures/worlds/seeds.json', import.meta.url);
const SEEDS_AS_TEXT = 300;

/** The seeds that are kept for a law. */
export function keptSeeds(law: string): readonly KeptSeed[] {
  return readKept().filter((kept) => kept.law === law);
}

/**
 * Checks a law in the worlds of its kept seeds, then in `runs` new ones, and tells of a world that breaks it; null: none
 * does. Such a world is made as small as it goes and, outside of CI, its seed is kept: the next run begins with it.
 */
export async function brokenBy<World>(law: Law<World>, runs: number): Promise<string | null> {
  for (const { seed, path, what } of keptSeeds(law.name))
    for (const world of fc.sample(law.worlds, { seed, path, numRuns: 1 })) {
      const wrong = await law.check(world);
      const name = `kept seed ${String(seed)}, path ${path} (${what})`;
      if (wrong.length > 0) return `${wrong.join('\n')}\n${name}\n${fc.stringify(world)}`;
    }
  const property = fc.asyncProperty(law.worlds, async (world) => {
    const wrong = await law.check(world);
    if (wrong.length > 0) throw new Error(wrong.join('\n'));
  });
  const details = await fc.check(property, { numRuns: runs });
  if (!details.failed) return null;
  const wrong = details.errorInstance instanceof Error ? details.errorInstance.message : 'failed';
  const [what = ''] = wrong.split('\n');
  const where = keep({ law: law.name, seed: details.seed, path: details.counterexamplePath ?? '0', what });
  return `${wrong}\n${(await fc.asyncDefaultReportMessage(details)) ?? ''}\n${where}`;
}

function keep(seed: KeptSeed): string {
  if (process.env['CI'] === 'true') return 'In CI no seed is kept.';
  writeFileSync(
    KEPT,
    `${JSON.stringify([...readKept(), { ...seed, what: seed.what.slice(0, SEEDS_AS_TEXT) }], null, 2)}\n`,
  );
  return 'Its seed is kept in test/fixtures/worlds/seeds.json: every run begins with it.';
}

function readKept(): readonly KeptSeed[] {
  return JSON.parse(readFileSync(KEPT, 'utf8')) as readonly KeptSeed[];
}
