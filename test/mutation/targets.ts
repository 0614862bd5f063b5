/** Tests that can tell a changed source from the right one. */
export interface Target {
  readonly source: string;
  readonly tests: readonly string[];
  /** The share of mutants, in percent, that these tests must notice. */
  readonly atLeast: number;
}

const unit = (name: string): string => `test/unit/engine/${name}.test.ts`;
const property = (name: string): string => `test/property/${name}.test.ts`;

/** The pure modules of the engine, each with the tests that speak of it: the fewer, the faster a mutant is done. */
export const TARGETS: readonly Target[] = [
  { source: 'src/engine/tracker.ts', tests: [unit('tracker'), property('offset-map')], atLeast: 90 },
  { source: 'src/engine/offset-map.ts', tests: [unit('offset-map'), property('offset-map')], atLeast: 90 },
  { source: 'src/engine/partition.ts', tests: [unit('partition')], atLeast: 90 },
  { source: 'src/engine/assignment.ts', tests: [unit('assignment'), property('assignment')], atLeast: 90 },
  { source: 'src/engine/fifo.ts', tests: [unit('fifo')], atLeast: 90 },
  { source: 'src/engine/pressure.ts', tests: [unit('pressure')], atLeast: 90 },
  { source: 'src/engine/wait-queue.ts', tests: [unit('wait-queue')], atLeast: 90 },
  { source: 'src/engine/start-position.ts', tests: [unit('start-position')], atLeast: 90 },
];
