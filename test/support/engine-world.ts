import { Engine } from '../../src/engine/engine.ts';
import { type EngineOptions } from '../../src/engine/engine-options.ts';
import { type DeadLetters, type Flow, type Schemas } from '../../src/engine/ports.ts';
import { type EventFields, type EventName } from '../../src/kernel/emit.ts';
import { type HoldCause, type Letter } from '../../src/kernel/outcome.ts';
import { InMemoryBroker } from './in-memory-broker.ts';
import { type InMemorySource } from './in-memory-source.ts';
import { ManualClock, settled } from './manual-clock.ts';
import { ScriptedFlow } from './scripted-flow.ts';

export const TOPIC = 'payments';
/** Positions that the engine parks. */
export const PARKED = ['payments:1:70'];
export const GROUP = 'group';

/** An engine over an in-memory broker, with a flow whose steps end when the test says so. */
export interface World {
  readonly broker: InMemoryBroker;
  readonly source: InMemorySource;
  readonly flow: ScriptedFlow;
  readonly clock: ManualClock;
  readonly engine: Engine;
  readonly letters: Letter[];
  readonly said: EventName[];
  /** Of the holds that were said, by name. */
  readonly errors: string[];
  letterAnswer: 'written' | HoldCause;
  schemas: Schemas;
}

export function makeWorld(
  broker = new InMemoryBroker(),
  partitionRecords = 1024,
  over: Partial<EngineOptions> = {},
): World {
  if (broker.partitions(TOPIC) === 0) broker.createTopic(TOPIC, 2);
  const flow = new ScriptedFlow();
  const clock = new ManualClock();
  const letters: Letter[] = [];
  const said: EventName[] = [];
  const errors: string[] = [];
  const source = broker.source(GROUP, [TOPIC]);
  const deadLetters: DeadLetters = {
    write: async (_record, letter) => {
      await Promise.resolve();
      if (world.letterAnswer === 'written') letters.push(letter);
      return world.letterAnswer;
    },
  };
  const engine = new Engine({
    source,
    flows: new Map<string, Flow<unknown, unknown>>([[TOPIC, flow]]),
    deadLetters,
    schemas: { fetch: async (id) => await world.schemas.fetch(id) },
    clock,
    draw: () => 0.5,
    emit: (name, fields) => {
      said.push(name);
      if (name === 'hold_started') errors.push((fields as EventFields['hold_started']).error);
    },
    commitIntervalMs: 250,
    clusterHash: 'AAAAAA',
    nonce: 'test',
    parked: new Set(PARKED),
    onGap: 'earliest',
    barrierMs: 2000,
    pressure: { partitionRecords, partitionSpan: 1e6, flowRecords: 10_000, flowBytes: 1e9 },
    ...over,
  });
  const world: World = {
    broker,
    source,
    flow,
    clock,
    engine,
    letters,
    said,
    errors,
    letterAnswer: 'written',
    schemas: { fetch: async () => await Promise.resolve({ do: 'ready' }) },
  };
  return world;
}

/** Starts the engine and lets it join and read. */
export async function started(world: World): Promise<void> {
  await world.engine.start();
  await world.broker.step();
  await settled();
}

/** Moves the clock, then lets promise reactions run. */
export async function tick(world: World, ms: number): Promise<void> {
  world.clock.advance(ms);
  await settled();
}

/** What the group has committed for a partition. */
export const committed = (world: World, partition = 0): bigint | null =>
  world.broker.committed(GROUP, TOPIC, partition)?.offset ?? null;
