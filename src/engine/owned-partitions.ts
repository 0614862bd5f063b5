import { type Partition } from './partition.ts';
import { type TopicPartition } from './ports.ts';

/** The partitions of the present assignment, and how much of earlier tenures of them still runs. */
export class OwnedPartitions {
  readonly #owned = new Map<string, Partition>();
  /** Steps of partitions that were lost while these ran, by name: the next tenure waits for them. */
  readonly #leaving = new Map<string, number>();

  get size(): number {
    return this.#owned.size;
  }

  get(at: TopicPartition): Partition | undefined {
    return this.#owned.get(nameOfPartition(at));
  }

  /** All of them; one may be lost while they are gone through. */
  values(): IterableIterator<Partition> {
    return this.#owned.values();
  }

  /** Those that an assignment does not have any more. */
  notIn(assignment: readonly TopicPartition[]): Partition[] {
    const names = new Set(assignment.map(nameOfPartition));
    return [...this.#owned].filter(([name]) => !names.has(name)).map(([, partition]) => partition);
  }

  /** Whether a commit of any of them would say something new. */
  get isUnsaved(): boolean {
    return [...this.#owned.values()].some(({ version, committedVersion }) => version !== committedVersion);
  }

  own(partition: Partition, nowMs: number): void {
    const name = nameOfPartition(partition);
    partition.asOfMs = nowMs;
    partition.orphans = this.#leaving.get(name) ?? 0;
    this.#owned.set(name, partition);
  }

  /** Ends a tenure; what runs of it ends without effect. */
  lose(partition: Partition): void {
    const name = nameOfPartition(partition);
    this.#owned.delete(name);
    const running = partition.running + partition.orphans;
    if (running > 0) this.#leaving.set(name, running);
    partition.lose();
  }

  /** A step of a tenure that is over has ended; the partition that may start now, if there is one. */
  orphanEnded(of: Partition): Partition | undefined {
    const name = nameOfPartition(of);
    const left = (this.#leaving.get(name) ?? 1) - 1;
    if (left > 0) this.#leaving.set(name, left);
    else this.#leaving.delete(name);
    const heir = this.#owned.get(name);
    if (heir !== undefined) heir.orphans = left;
    return left === 0 ? heir : undefined;
  }
}

function nameOfPartition({ topic, partition }: TopicPartition): string {
  return `${topic}/${String(partition)}`;
}
