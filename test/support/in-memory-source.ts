import { type Claim, NO_CLAIM } from '../../src/engine/assignment.ts';
import {
  type AssignedPartition,
  type Commit,
  type Source,
  type SourceEvents,
  type SourceRecord,
  type TopicPartition,
} from '../../src/engine/ports.ts';
import { type InMemoryBroker } from './in-memory-broker.ts';

/**
 * When what a source awaits goes on. `commit sent` and `left` are requests on their way to the broker: what they ask for
 * takes effect after them; `commit answered` and the others are answers on their way back.
 */
export type Pace = (at: 'started' | 'commit sent' | 'commit answered' | 'read back' | 'left') => Promise<void>;

interface Owned {
  readonly at: TopicPartition;
  /** Null until `seek`: at first, and where the log does not hold the offset that was to be read. */
  next: bigint | null;
  flowing: boolean;
}

/**
 * A member of an in-memory group: `idle` (not started, or stopped), `joining` (no membership; or the barrier has passed
 * and the assignment is not there), `owning`. Only `owning` reads; only `owning`, and the barrier itself, commit.
 */
export class InMemorySource implements Source {
  readonly id: string;
  readonly topics: readonly string[];
  readonly #broker: InMemoryBroker;
  readonly #groupId: string;
  readonly #owned = new Map<string, Owned>();
  #phase: 'idle' | 'joining' | 'owning' = 'idle';
  #mayCommit = false;
  #events: SourceEvents | undefined;
  #claim: Claim = NO_CLAIM;
  #failures: ('before' | 'after')[] = [];
  readonly #pace: Pace;
  /** Resolves when the member is gone without a word: nobody waits for it. */
  readonly #gone = Promise.withResolvers<void>();
  /** Every request to commit that reached the broker. */
  readonly commits: Commit[] = [];

  constructor(options: {
    readonly broker: InMemoryBroker;
    readonly id: string;
    readonly groupId: string;
    readonly topics: readonly string[];
    readonly pace: Pace;
  }) {
    this.#broker = options.broker;
    this.id = options.id;
    this.#groupId = options.groupId;
    this.topics = options.topics;
    this.#pace = options.pace;
  }

  get phase(): 'idle' | 'joining' | 'owning' {
    return this.#phase;
  }

  get claim(): Claim {
    return this.#claim;
  }

  /** Partitions that are read now. */
  get flowing(): readonly TopicPartition[] {
    return [...this.#owned.values()].filter(({ flowing }) => flowing).map(({ at }) => at);
  }

  /** Whether a fetch would bring something. */
  get isBehind(): boolean {
    if (this.#phase !== 'owning') return false;
    return [...this.#owned.values()].some(
      ({ at, next, flowing }) =>
        flowing && next !== null && next !== this.#broker.watermarks(at.topic, at.partition).high,
    );
  }

  async start(events: SourceEvents): Promise<void> {
    await this.#pace('started');
    this.#events = events;
    this.#phase = 'joining';
    this.#broker.enter(this.#groupId, this);
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.#flow(partitions, false);
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.#flow(partitions, true);
  }

  seek(at: TopicPartition, next: bigint): void {
    const owned = this.#owned.get(nameOfPartition(at));
    if (owned !== undefined) owned.next = next;
  }

  async commit(commits: readonly Commit[]): Promise<void> {
    if (!this.#mayCommit) throw new Error('not a member now');
    if (commits.some((commit) => !this.#owned.has(nameOfPartition(commit)))) throw new Error('not owned');
    const { generation } = this.#claim;
    await this.#pace('commit sent');
    if (generation !== this.#broker.generation(this.#groupId)) throw new Error('another generation');
    const failure = this.#failures.shift();
    if (failure === 'before') throw new Error('commit failed');
    for (const commit of commits) {
      this.commits.push(commit);
      this.#broker.commitAs(this.#groupId, commit);
    }
    await this.#pace('commit answered');
    if (failure === 'after') throw new Error('the answer was lost');
  }

  async stop(): Promise<void> {
    await this.#pace('left');
    this.#forget();
    this.#phase = 'idle';
    this.#broker.leave(this.#groupId, this);
  }

  /** The next commit fails: `before` it reached the broker, or `after` it was stored. */
  failCommit(when: 'before' | 'after' = 'before'): void {
    this.#failures.push(when);
  }

  /** The membership ends; the source comes back with the next rebalance. */
  crash(error = 'crashed'): void {
    this.#forget();
    this.#phase = 'joining';
    this.#claim = NO_CLAIM;
    this.#broker.enter(this.#groupId, this);
    this.#events?.lost(error);
  }

  /** kill -9: gone without a word to the engine. */
  vanish(): void {
    this.#forget();
    this.#phase = 'idle';
    this.#broker.leave(this.#groupId, this);
    this.#events = undefined;
    this.#gone.resolve();
  }

  /** For the broker: the members' part of a rebalance. */
  async barrier(): Promise<void> {
    await Promise.race([this.#events?.barrier(), this.#gone.promise]);
    this.#mayCommit = false;
    if (this.#phase === 'owning') this.#phase = 'joining';
  }

  /** For the broker: the time until the member has read back what is committed. */
  async readBack(): Promise<void> {
    await Promise.race([this.#pace('read back'), this.#gone.promise]);
  }

  /** For the broker: what this member owns from now on. */
  join(claim: Claim, found: readonly AssignedPartition[]): void {
    if (this.#phase !== 'joining') return;
    this.#owned.clear();
    for (const { topic, partition } of found)
      this.#owned.set(nameOfPartition({ topic, partition }), { at: { topic, partition }, next: null, flowing: false });
    this.#claim = claim;
    this.#phase = 'owning';
    this.#mayCommit = true;
    this.#events?.assigned(found);
  }

  /** For the broker: one fetch of every partition that flows. */
  fetch(max: number): number {
    let count = 0;
    if (this.#phase !== 'owning') return count;
    for (const owned of this.#owned.values()) if (owned.flowing) count += this.#fetch(owned, max);
    return count;
  }

  #fetch(owned: Owned, max: number): number {
    const { at, next: from } = owned;
    if (from === null) return 0;
    const { low, high } = this.#broker.watermarks(at.topic, at.partition);
    if (from < low || from > high) {
      owned.next = null;
      this.#events?.outOfRange(at, { low, high });
      return 0;
    }
    const records = this.#broker
      .records(at.topic, at.partition)
      .filter(({ offset }) => offset >= from)
      .slice(0, max)
      .map((record) => copyOf(record));
    const last = records.at(-1);
    const next = last === undefined || records.length < max ? high : last.offset + 1n;
    this.#events?.position(at, high);
    if (next <= from) return 0;
    owned.next = next;
    this.#events?.records(at, from, next, records);
    return records.length;
  }

  #flow(partitions: readonly TopicPartition[], flowing: boolean): void {
    for (const at of partitions) {
      const owned = this.#owned.get(nameOfPartition(at));
      if (owned !== undefined) owned.flowing = flowing;
    }
  }

  #forget(): void {
    this.#owned.clear();
    this.#mayCommit = false;
  }
}

/** A broker sends bytes: a record that is read again is another object. */
function copyOf(record: SourceRecord): SourceRecord {
  return { ...record };
}

export function nameOfPartition({ topic, partition }: TopicPartition): string {
  return `${topic} ${partition}`;
}
