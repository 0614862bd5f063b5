import { BucketCounts, OPERATION_SECONDS } from '../kernel/bucket-counts.ts';
import { type Cancel, type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { isFault, nameOf } from '../kernel/fault.ts';
import { encodeMap, METADATA_LIMIT } from './offset-map.ts';
import { type Partition, signOf } from './partition.ts';
import { type AssignedPartition, type Commit, type Source, type TopicPartition } from './ports.ts';

/** As many finished records start a commit before its time has come. */
const COMMIT_AT_RECORDS = 1000;
/** Beyond this nothing new starts until a commit has succeeded: what a crash repeats stays bounded while commits fail. */
const STALL_AT_RECORDS = 2000;
const STALL_AFTER_MS = 5000;
const DOUBTS_KEPT = 8;
/**
 * Where a broker takes less than so many characters, no map is worth the name: reading pauses not by its room, but by
 * how many finished records are left out of it.
 */
const LIMIT_MIN = 512;
const LEFT_OUT_MAX = 2000;
/** Shares of the map's room, or of what may be left out, at which reading of a partition pauses and goes on. */
const MAP_FULL = 0.75;
const MAP_FREE = 0.5;

export interface CommitsParts {
  readonly source: Source;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly intervalMs: number;
  /** Identity of what is written: the cluster's hash, and this process. */
  readonly clusterHash: string;
  readonly nonce: string | ((at: TopicPartition) => string);
  /** Null: nothing may be committed now. */
  readonly partitions: () => Iterable<Partition> | null;
  /** Called at each interval. */
  readonly onInterval: () => void;
  /** Whether new records may start. */
  readonly onStall: (stalled: boolean) => void;
  /** Whether the map of a partition leaves room for more. */
  readonly onMapFull: (partition: Partition, full: boolean) => void;
}

/** What one commit says of one partition, and what the partition was at when it was said. */
interface Saying {
  readonly partition: Partition;
  readonly version: number;
  readonly settled: number;
  readonly leftOut: number;
  readonly commit: Commit;
}

/**
 * Commits what is finished: the committable offset of each partition, and in its metadata the map of what is finished
 * above it. One commit at a time, each interval, sooner when much has finished. An answer that is lost leaves a commit
 * in doubt: it is recognised as ours when it is read back.
 */
export class Commits {
  /** Seconds of each commit, by its end. */
  readonly durations = { ok: new BucketCounts(OPERATION_SECONDS), failed: new BucketCounts(OPERATION_SECONDS) };
  readonly #parts: CommitsParts;
  #running: Promise<void> | null = null;
  #cancel: Cancel = () => undefined;
  /** Records finished and in no successful commit. */
  #unsaved = 0;
  #unsavedSinceMs = 0;
  /** How often what was unsaved has been forgotten: a commit that was under way then has nothing to take off. */
  #forgotten = 0;
  #stalledSinceMs: number | null = null;
  /** Of the commit that failed last; empty: none has since one was acknowledged. */
  #error = '';
  /** Lowered for a broker that takes less. */
  #limit: number = METADATA_LIMIT;

  constructor(parts: CommitsParts) {
    this.#parts = parts;
  }

  start(): void {
    const { clock, intervalMs, onInterval } = this.#parts;
    this.#cancel = clock.after(intervalMs, () => {
      onInterval();
      void this.now();
      this.start();
    });
  }

  stop(): void {
    this.#cancel();
  }

  /** A record of this partition has been settled. */
  settled(partition: Partition): void {
    if (this.#unsaved === 0) this.#unsavedSinceMs = this.#parts.clock.monotonicMs();
    partition.unsavedSinceMs ??= this.#parts.clock.monotonicMs();
    this.#unsaved += 1;
    if (this.#unsaved % COMMIT_AT_RECORDS === 0 && this.#running === null) void this.now();
    if (this.#unsaved >= STALL_AT_RECORDS) this.#stall();
  }

  /** Commits what has changed; a caller during a commit gets one of its own afterwards. Never rejects. */
  async now(): Promise<void> {
    while (this.#running !== null) await this.#running;
    this.#running = this.#once();
    await this.#running;
    this.#running = null;
  }

  /** Whether what was found committed is a commit of this tenure: then nobody else has worked on the partition since. */
  isOurs(partition: Partition, { committed, metadata }: AssignedPartition): boolean {
    const found = signOf(committed, metadata);
    return found === partition.acknowledged || partition.doubtful.includes(found);
  }

  async #once(): Promise<void> {
    const { source, emit, clock } = this.#parts;
    const partitions = this.#parts.partitions();
    if (partitions === null) return;
    const sayings: Saying[] = [];
    for (const partition of partitions)
      if (partition.version !== partition.committedVersion) sayings.push(this.#say(partition));
    if (sayings.length === 0) {
      // What was unsaved went with partitions that were lost: no commit is due that could end a stall.
      this.forget();
      return;
    }
    const [saved, forgotten, saidMs] = [this.#unsaved, this.#forgotten, clock.monotonicMs()];
    for (const { partition, commit } of sayings)
      partition.doubtful = [...partition.doubtful.slice(1 - DOUBTS_KEPT), signOf(commit.offset, commit.metadata)];
    try {
      await source.commit(sayings.map(({ commit }) => commit));
    } catch (error) {
      if (isFault(error, 'METADATA_TOO_LARGE')) this.#limit = Math.floor(this.#limit / 2);
      this.durations.failed.add((clock.monotonicMs() - saidMs) / 1000);
      this.#error = nameOf(error);
      emit('commit_failed', { error: this.#error });
      if (this.#unsaved > 0 && clock.monotonicMs() - this.#unsavedSinceMs > STALL_AFTER_MS) this.#stall();
      return;
    }
    this.#error = '';
    this.durations.ok.add((clock.monotonicMs() - saidMs) / 1000);
    for (const { partition, version, settled, leftOut, commit } of sayings) {
      partition.committed = commit.offset;
      partition.acknowledged = signOf(commit.offset, commit.metadata);
      partition.committedVersion = version;
      partition.doubtful = [];
      partition.saved = settled;
      partition.leftOut = leftOut;
      // What found no room in the map stays unsaved.
      const sinceMs = leftOut > 0 ? (partition.unsavedSinceMs ?? saidMs) : saidMs;
      partition.unsavedSinceMs = partition.unsaved === 0 ? null : sinceMs;
    }
    if (forgotten === this.#forgotten) this.#unsaved -= saved;
    this.#unsavedSinceMs = clock.monotonicMs();
    this.#resume();
  }

  #say(partition: Partition): Saying {
    const { clusterHash, nonce, onMapFull } = this.#parts;
    const { tracker, topic, version, settled } = partition;
    const offset = tracker.committable;
    const ownNonce = typeof nonce === 'string' ? nonce : nonce(partition);
    const map = {
      clusterHash,
      nonce: ownNonce,
      offset,
      timestampMs: tracker.oldestMs,
      ranges: tracker.finishedRanges(),
    };
    const { text, used, leftOut } = encodeMap(map, this.#limit);
    const share = this.#limit < LIMIT_MIN ? leftOut / LEFT_OUT_MAX : used;
    if (share >= MAP_FULL) onMapFull(partition, true);
    else if (share <= MAP_FREE) onMapFull(partition, false);
    const commit = { topic, partition: partition.partition, offset, metadata: text };
    return { partition, version, settled, leftOut, commit };
  }

  #stall(): void {
    if (this.#stalledSinceMs !== null) return;
    this.#stalledSinceMs = this.#parts.clock.monotonicMs();
    this.#parts.emit('hold_started', { cause: 'kafka', scope: 'commit', error: this.#error });
    this.#parts.onStall(true);
  }

  #resume(): void {
    if (this.#stalledSinceMs === null) return;
    const afterMs = Math.round(this.#parts.clock.monotonicMs() - this.#stalledSinceMs);
    this.#stalledSinceMs = null;
    this.#parts.emit('hold_ended', { cause: 'kafka', scope: 'commit', afterMs });
    this.#parts.onStall(false);
  }

  /** What was finished for partitions that are lost is nobody's here any more. */
  forget(): void {
    this.#unsaved = 0;
    this.#forgotten += 1;
    this.#resume();
  }
}
