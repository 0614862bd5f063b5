import { assignUnits, type Claim, NO_CLAIM } from '../../src/engine/assignment.ts';
import {
  type AssignedPartition,
  type Commit,
  type OutgoingRecord,
  type RecordHeaders,
  type RecordWriter,
  type Source,
  type SourceEvents,
  type SourceRecord,
  type TopicPartition,
  type WriteOutcome,
} from '../../src/engine/ports.ts';

export interface Appended {
  readonly key?: Buffer | string | null;
  readonly value?: Buffer | string | null;
  readonly timestampMs?: number;
  readonly headers?: RecordHeaders;
}

/**
 * When what a source awaits goes on. `commit sent` and `left` are requests on their way to the broker: what they ask for
 * takes effect after them; `commit answered` and the others are answers on their way back.
 */
export type Pace = (at: 'started' | 'commit sent' | 'commit answered' | 'read back' | 'left') => Promise<void>;

const atOnce: Pace = async () => {
  await Promise.resolve();
};

export interface Committed {
  readonly offset: bigint;
  readonly metadata: string;
}

interface Log {
  low: bigint;
  next: bigint;
  readonly records: SourceRecord[];
}

interface Group {
  readonly members: Set<InMemorySource>;
  readonly committed: Map<string, Committed>;
  generation: number;
  /** Somebody came or went since the last rebalance. */
  unsettled: boolean;
}

/**
 * A log and its consumer groups, without time: nothing moves but by `step`, `rebalance` and `deliver`.
 *
 * Faithful where an engine may trip: the eager protocol (every member passes its barrier before any joins), commits that
 * know no owner, offsets with gaps, a log start that moves, an answer to a commit that gets lost.
 */
export class InMemoryBroker {
  readonly #topics = new Map<string, Log[]>();
  readonly #groups = new Map<string, Group>();
  #made = 0;
  /** The writer answers `unavailable` while this is false. */
  writable = true;
  /** Called with each commit that is stored. */
  onCommit: (commit: Commit) => void = () => undefined;

  createTopic(name: string, partitions: number): void {
    this.#topics.set(
      name,
      Array.from({ length: partitions }, () => ({ low: 0n, next: 0n, records: [] })),
    );
  }

  /** Appends one record and returns its offset. */
  append(topic: string, partition: number, record: Appended = {}): bigint {
    const log = this.#log(topic, partition);
    const offset = log.next;
    log.records.push({
      topic,
      partition,
      offset,
      timestampMs: record.timestampMs ?? 0,
      key: toBuffer(record.key),
      value: toBuffer(record.value),
      headers: record.headers ?? {},
    });
    log.next += 1n;
    return offset;
  }

  /** Offsets that hold no record: a transaction marker, or what compaction took away. */
  skipOffsets(topic: string, partition: number, count = 1): void {
    this.#log(topic, partition).next += BigInt(count);
  }

  /** Retention: what is below `low` is gone. */
  expire(topic: string, partition: number, low: bigint): void {
    const log = this.#log(topic, partition);
    log.low = low;
    log.records.splice(0, log.records.filter(({ offset }) => offset < low).length);
  }

  /** What a partition holds now. */
  records(topic: string, partition?: number): readonly SourceRecord[] {
    if (partition !== undefined) return this.#log(topic, partition).records;
    return (this.#topics.get(topic) ?? []).flatMap((log) => log.records);
  }

  watermarks(topic: string, partition: number): { readonly low: bigint; readonly high: bigint } {
    const log = this.#log(topic, partition);
    return { low: log.low, high: log.next };
  }

  partitions(topic: string): number {
    return this.#topics.get(topic)?.length ?? 0;
  }

  /** A member to be. It joins at the next `rebalance` after its `start`. */
  source(groupId: string, topics: readonly string[], pace: Pace = atOnce): InMemorySource {
    const id = `member-${(this.#made += 1)}`;
    return new InMemorySource({ broker: this, id, groupId, topics, pace });
  }

  writer(): RecordWriter {
    return {
      write: async ({ topic, key, value, headers }: OutgoingRecord): Promise<WriteOutcome> => {
        await Promise.resolve();
        const count = this.partitions(topic);
        if (!this.writable || count === 0) return { do: 'unavailable', error: 'unwritable' };
        const partition = (key ?? Buffer.alloc(0)).reduce((sum, byte) => sum + byte, 0) % count;
        return { do: 'written', partition, offset: this.append(topic, partition, { key, value, headers }) };
      },
    };
  }

  committed(groupId: string, topic: string, partition: number): Committed | null {
    return this.#group(groupId).committed.get(nameOfPartition({ topic, partition })) ?? null;
  }

  /** What anybody with the right to may do; also what another process has committed meanwhile. */
  commitAs(groupId: string, commit: Commit): void {
    const { offset, metadata } = commit;
    this.#group(groupId).committed.set(nameOfPartition(commit), { offset, metadata });
    this.onCommit(commit);
  }

  /** How many times the group has come together. */
  generation(groupId: string): number {
    return this.#group(groupId).generation;
  }

  /** Whether somebody came or went since the last rebalance. */
  isUnsettled(groupId: string): boolean {
    return this.#group(groupId).unsettled;
  }

  /** Every member passes its barrier, then the partitions are assigned anew. */
  async rebalance(groupId: string): Promise<void> {
    const group = this.#group(groupId);
    group.unsettled = false;
    await Promise.all(
      [...group.members].map(async (member) => {
        await member.barrier();
      }),
    );
    group.generation += 1;
    const members = [...group.members];
    const topics = [...new Set(members.flatMap((member) => member.topics))];
    const unitCount = Math.max(0, ...topics.map((topic) => this.partitions(topic)));
    const units = assignUnits(
      unitCount,
      members.map(({ id, claim }) => ({ id, claim })),
    );
    await Promise.all(
      members.map(async (member) => {
        const own = units.get(member.id) ?? [];
        await member.readBack();
        const found = topics.flatMap((topic) =>
          own
            .filter((partition) => partition < this.partitions(topic))
            .map((partition) => this.#found(groupId, topic, partition)),
        );
        member.join({ generation: group.generation, units: own }, found);
      }),
    );
  }

  /** Hands every member what its fetches would bring, at most `max` records a partition. Returns how many records. */
  deliver(max = 500): number {
    let count = 0;
    for (const group of this.#groups.values()) for (const member of group.members) count += member.fetch(max);
    return count;
  }

  /** Rebalances the groups that need it, then delivers. Returns how many records were delivered. */
  async step(max = 500): Promise<number> {
    for (const [groupId, group] of this.#groups) if (group.unsettled) await this.rebalance(groupId);
    return this.deliver(max);
  }

  enter(groupId: string, member: InMemorySource): void {
    const group = this.#group(groupId);
    group.members.add(member);
    group.unsettled = true;
  }

  leave(groupId: string, member: InMemorySource): void {
    const group = this.#group(groupId);
    if (group.members.delete(member)) group.unsettled = true;
  }

  #found(groupId: string, topic: string, partition: number): AssignedPartition {
    const committed = this.committed(groupId, topic, partition);
    return {
      topic,
      partition,
      committed: committed === null || committed.offset < 0n ? null : committed.offset,
      metadata: committed?.metadata ?? '',
      ...this.watermarks(topic, partition),
    };
  }

  #log(topic: string, partition: number): Log {
    const log = this.#topics.get(topic)?.[partition];
    if (log === undefined) throw new Error(`no partition ${partition} of topic ${topic}`);
    return log;
  }

  #group(groupId: string): Group {
    const known = this.#groups.get(groupId);
    if (known !== undefined) return known;
    const made: Group = { members: new Set(), committed: new Map(), generation: 0, unsettled: false };
    this.#groups.set(groupId, made);
    return made;
  }
}

interface Owned {
  readonly at: TopicPartition;
  /** Null until `seek`. */
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
        flowing && next !== null && next < this.#broker.watermarks(at.topic, at.partition).high,
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
    const { high } = this.#broker.watermarks(at.topic, at.partition);
    const records = this.#broker
      .records(at.topic, at.partition)
      .filter(({ offset }) => offset >= from)
      .slice(0, max);
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

function nameOfPartition({ topic, partition }: TopicPartition): string {
  return `${topic} ${partition}`;
}

function toBuffer(text: Buffer | string | null | undefined): Buffer | null {
  if (text === null || text === undefined) return null;
  return Buffer.from(text);
}
