import { type Commit, type TopicPartition } from '../../engine/ports.ts';

/** A partition of the present assignment, as this source reads it. */
export interface Owned {
  readonly at: TopicPartition;
  /** The next offset to be handed over; null until the engine has said where to begin. */
  expected: bigint | null;
  /** The engine wants records. */
  wanted: boolean;
  /**
   * Not null: the log may not hold `expected`, and nothing is fetched before `seekTo`. It stands for this one suspicion: a
   * later one is another object. What has been fetched before goes on.
   */
  suspicion: object | null;
}

/** The partitions of the present assignment. */
export class OwnedPartitions {
  readonly #all = new Map<string, Owned>();

  /** All begin anew: nothing flows, nothing is known of where they are read. Those owned before stay the same objects. */
  assign(assignment: Readonly<Record<string, readonly number[]>>): TopicPartition[] {
    const before = new Map(this.#all);
    this.#all.clear();
    for (const [topic, partitions] of Object.entries(assignment))
      for (const partition of partitions) {
        const at = { topic, partition };
        const name = nameOfPartition(at);
        const anew = { expected: null, wanted: false, suspicion: null };
        this.#all.set(name, Object.assign(before.get(name) ?? { at }, anew));
      }
    return [...this.#all.values()].map(({ at }) => at);
  }

  clear(): void {
    this.#all.clear();
  }

  /** Those that are to be fetched now, as far as the engine and the log are concerned. */
  reading(): { readonly topic: string; readonly partition: number; readonly expected: bigint }[] {
    return [...this.#all.values()]
      .filter(isRead)
      .map(({ at: { topic, partition }, expected }) => ({ topic, partition, expected }));
  }

  get(at: TopicPartition): Owned | undefined {
    return this.#all.get(nameOfPartition(at));
  }

  has(at: TopicPartition): boolean {
    return this.#all.has(nameOfPartition(at));
  }
}

/** Whether records of the partition may be handed over. */
export function flows(owned: Owned | undefined): owned is Owned & { expected: bigint } {
  return owned !== undefined && owned.wanted && owned.expected !== null;
}

/** Whether more of the partition may be fetched, beside what has been. */
export function isRead(owned: Owned | undefined): owned is Owned & { expected: bigint } {
  return flows(owned) && owned.suspicion === null;
}

/** The engine has said where reading begins, or the log holds what was in doubt. */
export function seekTo(owned: Owned, next: bigint): void {
  owned.expected = next;
  owned.suspicion = null;
}

/** A partition's name as a key of a map. */
export function nameOfPartition({ topic, partition }: TopicPartition): string {
  return `${topic} ${partition}`;
}

/** Partitions grouped by topic, as kafkajs wants them. */
export function toKafkaPartitions(partitions: readonly TopicPartition[]): { topic: string; partitions: number[] }[] {
  const topics = new Map<string, number[]>();
  for (const { topic, partition } of partitions) topics.set(topic, [...(topics.get(topic) ?? []), partition]);
  return [...topics].map(([topic, of]) => ({ topic, partitions: of }));
}

/** Commits grouped by topic, as kafkajs wants them. */
export function toKafkaOffsets(
  commits: readonly Commit[],
): { topic: string; partitions: { partition: number; offset: string; metadata: string }[] }[] {
  const topics = Map.groupBy(commits, ({ topic }) => topic);
  return [...topics].map(([topic, of]) => ({
    topic,
    partitions: of.map(({ partition, offset, metadata }) => ({ partition, offset: offset.toString(), metadata })),
  }));
}
