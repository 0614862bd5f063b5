import { type Engine } from '../../src/engine/engine.ts';
import { type Reading, type SourceRecord } from '../../src/engine/ports.ts';
import { type Cancel, type Clock } from '../../src/kernel/clock.ts';
import { type InMemorySource } from './in-memory-source.ts';
import { type ManualClock } from './manual-clock.ts';
import { type ScriptedFlow } from './scripted-flow.ts';
import { type Witnessed } from './world-oracle.ts';
import { type Plan } from './world-plan.ts';

/** One process of a world. */
export interface Member {
  readonly engine: Engine;
  readonly source: InMemorySource;
  readonly flow: ScriptedFlow;
  readonly witnessed: Witnessed;
  readonly life: Life;
  /** Called for each step in an open batch when the batch is given back. */
  readonly giveBack: Set<() => void>;
  isFetching: boolean;
  isLeaving: boolean;
}

/** Whether a process still acts. */
export interface Life {
  alive: boolean;
  /** The generation in which it died, while what it had sent may arrive. */
  lateIn: number | null;
  readonly end: PromiseWithResolvers<void>;
}

/** The clock as one process sees it: none of its timers runs once it is dead. */
export function clockOf(clock: ManualClock, life: Life): Clock {
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    after: (delayMs: number, task: () => void): Cancel =>
      clock.after(delayMs, () => {
        if (life.alive) task();
      }),
    soon: (task: () => void): void => {
      clock.soon(() => {
        if (life.alive) task();
      });
    },
  };
}

/** What the plan says of a record. */
export function plannedOf({ records }: Plan, { partition, offset }: SourceRecord): Plan['records'][number] | undefined {
  return records[(Number(offset) * 3 + partition) % records.length];
}

export const UNREADABLE: Reading<never> = {
  do: 'dead_letter',
  letter: { reason: 'undecodable', stage: 'read' },
};

/** Whether a record is a dead letter that is refused at first: some of those whose first step would come to that. */
export function isUnreadable({ endings }: Plan, { partition, offset }: SourceRecord): boolean {
  return offset % 2n === 1n && endings[(Number(offset) + partition) % endings.length] === 'letter refused';
}

/** What a dead process waits for. */
export async function never(): Promise<never> {
  return await new Promise<never>(() => undefined);
}
