import { type Commit, type Source, type TopicPartition } from '../../src/engine/ports.ts';
import { Recorder, type Variant, type World } from './worlds.ts';

export interface Reader {
  readonly source: Source;
  readonly recorder: Recorder;
  /** What an engine whose records end at once could commit now. */
  readonly commits: () => Commit[];
}

const nameOf = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`;

/** The members of the groups of one test; all are stopped at its end. */
export class Members {
  readonly #world: () => World;
  #started: Source[] = [];

  constructor(world: () => World) {
    this.#world = world;
  }

  async stopAll(): Promise<void> {
    await Promise.all(
      this.#started.map(async (source) => {
        await source.stop();
      }),
    );
    this.#started = [];
  }

  /** Reads on from what is committed, and never commits. */
  async reader(groupId: string, topics: readonly string[], variant: Variant = {}): Promise<Reader> {
    const recorder = new Recorder();
    const source = this.#world().source(groupId, topics, variant);
    this.#started.push(source);
    recorder.onAssigned = (partitions) => {
      for (const { topic, partition, committed, low } of partitions) {
        const next = committed !== null && committed > low ? committed : low;
        source.seek({ topic, partition }, next);
      }
      source.resume(partitions);
    };
    await source.start(recorder);
    return { source, recorder, commits: () => commitsOf(recorder) };
  }

  /** Reads on, and commits in each barrier what it has read, as an engine whose records end at once. */
  async keeper(groupId: string, topics: readonly string[], variant: Variant = {}): Promise<Reader> {
    const keeper = await this.reader(groupId, topics, variant);
    const { source, recorder } = keeper;
    recorder.onBarrier = async () => {
      // Before the first join there is nothing, and after a crash nothing may be committed.
      await source.commit(commitsOf(recorder)).catch(() => undefined);
    };
    return keeper;
  }
}

/** Everything of the newest assignment that has been read. */
function commitsOf({ spans, assignments }: Recorder): Commit[] {
  const now = spans.filter(({ assignment }) => assignment === assignments.length);
  const read = new Map(now.map(({ at, next }) => [nameOf(at), { at, next }]));
  return [...read.values()].map(({ at: { topic, partition }, next }) => ({
    topic,
    partition,
    offset: next,
    metadata: '',
  }));
}

/** The offsets that were handed over, by partition, sorted; those that came twice are there twice. */
export function offsetsByPartition(recorders: readonly Recorder[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const { topic, partition, offset } of recorders.flatMap(({ received }) => received)) {
    const name = nameOf({ topic, partition });
    const offsets = found.get(name);
    if (offsets === undefined) found.set(name, [Number(offset)]);
    else offsets.push(Number(offset));
  }
  for (const offsets of found.values()) offsets.sort((a, b) => a - b);
  return found;
}

/** Whether, within each assignment, all that was handed over followed on from what was before it. */
export function isContiguous({ spans }: Recorder): boolean {
  const nexts = new Map<string, bigint>();
  return spans.every(({ at, from, next, assignment }) => {
    const name = `${nameOf(at)} ${String(assignment)}`;
    const expected = nexts.get(name) ?? from;
    nexts.set(name, next);
    return from === expected;
  });
}

export const range = (count: number, from = 0): number[] => Array.from({ length: count }, (_, index) => from + index);
export const numbered = (count: number, from = 0): string[] => range(count, from).map(String);

/** Whether nothing was handed over between the beginning of a barrier and the next assignment. */
export function isStillInBarriers({ log }: Recorder): boolean {
  let isClosed = false;
  return log.every((said) => {
    if (said === 'barrier begins') isClosed = true;
    if (said === 'assigned') isClosed = false;
    return !isClosed || said !== 'records';
  });
}
