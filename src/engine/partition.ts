import { Entry, type EntryParts } from './entry.ts';
import { Fifo } from './fifo.ts';
import {
  type AssignedPartition,
  type PartitionStatus,
  type PauseReason,
  type Position,
  type Tenure,
  type TopicPartition,
} from './ports.ts';
import { Tracker } from './tracker.ts';

/**
 * One owned partition, from its assignment to its loss: what was read of it, in lanes.
 *
 * Lanes: records of one lane run one after another in the order of the log. A lane is its head entry in a map, the
 * others hang behind it, so a lane that holds one record costs one map entry. A lane that becomes free puts its next
 * record before those that have just been read: oldest first, else the committable offset would lag by a whole buffer.
 */
export class Partition implements Tenure, TopicPartition {
  readonly topic: string;
  readonly partition: number;
  readonly epoch: number;
  phase: 'owned' | 'lost' = 'owned';
  readonly tracker: Tracker;
  /** The offset from which this tenure counts: the first one to be read, or one of which the log has lost what follows. */
  readonly start: bigint;
  /** The last offset the broker acknowledged of ours; null: none yet. */
  committed: bigint | null;
  /** The last acknowledged commit, and those whose outcome is not known, as `signOf` writes them. */
  acknowledged: string;
  doubtful: string[] = [];
  /** Counts what changes what a commit would say. */
  version = 0;
  committedVersion = 0;
  /** Records ended here, and how many of them the last acknowledged commit says. */
  settled = 0;
  saved = 0;
  /** Offsets that have ended and did not fit into its map. */
  leftOut = 0;
  /** Since when something that has ended here is in no acknowledged commit; null: everything is. */
  unsavedSinceMs: number | null = null;
  /** What the record at the committed offset must carry for the restored map to be of this log; null: not known, or checked. */
  mapTimestampMs: number | null = null;
  highWatermark: bigint;
  asOfMs = 0;
  timestampMs = 0;
  running = 0;
  /** How many of those need no room of the flow. */
  writing = 0;
  buffered = 0;
  /** How many of them are dead letters that are not written yet. */
  deadLetters = 0;
  /** Steps of an earlier tenure of this partition that have not ended: nothing starts before they have. */
  orphans = 0;
  readonly pauses = new Set<PauseReason>();
  /** Whether its dispatcher has it in the round of partitions with ready records. */
  inRound = false;
  /** Records that were added. */
  #added = 0;
  /** Heads of key queues that were tried and have not ended. */
  failing = 0;
  /** Records in their key queues, and their size. */
  failingRecords = 0;
  failingBytes = 0;
  readonly #lanes = new Map<string, Entry>();
  readonly #resumed = new Fifo<Entry>();
  readonly #ready = new Fifo<Entry>();
  /** Ready records of which something only has to be written: they need no room of the flow. */
  readonly #toWrite = new Fifo<Entry>();

  constructor(found: AssignedPartition, epoch: number, start: bigint) {
    this.topic = found.topic;
    this.partition = found.partition;
    this.epoch = epoch;
    this.start = start;
    this.tracker = new Tracker(start);
    this.committed = found.committed;
    this.acknowledged = signOf(found.committed, found.metadata);
    this.highWatermark = found.high;
  }

  /** Whether a record of it may start that needs no room of the flow. */
  get mayWrite(): boolean {
    return this.phase !== 'lost' && this.#toWrite.size > 0 && this.orphans === 0;
  }

  get keyQueues(): number {
    return this.#lanes.size;
  }

  get hasReady(): boolean {
    return this.#resumed.size > 0 || this.#ready.size > 0;
  }

  /** Whether a record of it may start, as far as it is concerned. */
  get mayStart(): boolean {
    return this.phase !== 'lost' && this.hasReady && this.orphans === 0;
  }

  /** Adds a record to its lane; ready at once if the lane was empty. */
  add(parts: Omit<EntryParts, 'ordinal'>): Entry {
    const entry = new Entry(this, { ...parts, ordinal: this.#added });
    this.#added += 1;
    this.buffered += 1;
    const head = this.#lanes.get(parts.lane);
    if (head === undefined) {
      this.#lanes.set(parts.lane, entry);
      (entry.isToWrite ? this.#toWrite : this.#ready).push(entry);
    } else {
      entry.state = 'queued';
      head.tail.next = entry;
      head.tail = entry;
      head.laneRecords += 1;
      head.laneBytes += entry.bytes;
      if (head.isRepeat) this.failed(0, 1, entry.bytes);
    }
    return entry;
  }

  /** The oldest record that may start; stays until `takeReady`. */
  peekReady(): Entry | undefined {
    return this.#resumed.peek() ?? this.#ready.peek();
  }

  takeReady(): Entry | undefined {
    return this.#resumed.shift() ?? this.#ready.shift();
  }

  /** The head of a key queue that became ready last; stays until `takeNewest`. */
  peekNewest(): Entry | undefined {
    return this.#ready.peekLast() ?? this.#resumed.peekLast();
  }

  takeNewest(): Entry | undefined {
    return this.#ready.takeLast() ?? this.#resumed.takeLast();
  }

  /** The oldest record that needs no room of the flow. */
  takeToWrite(): Entry | undefined {
    return this.#toWrite.shift();
  }

  /** Puts a lane's head that was waiting, blocked or released before all that has just been read. */
  resume(entry: Entry): void {
    entry.state = 'ready';
    (entry.isToWrite ? this.#toWrite : this.#resumed).push(entry);
  }

  /** So many more key queues have a head that was tried, with so many records. */
  failed(keyQueues: number, records: number, bytes: number): void {
    this.failing += keyQueues;
    this.failingRecords += records;
    this.failingBytes += bytes;
  }

  /** Ends a lane's head: its tracker passes it, the next record of the lane is ready. */
  settle(entry: Entry): void {
    this.tracker.settle(entry.tracked);
    this.version += 1;
    this.settled += 1;
    this.buffered -= 1;
    const next = entry.next;
    if (next === null) {
      this.#lanes.delete(entry.lane);
      return;
    }
    next.tail = entry.tail;
    next.laneRecords = entry.laneRecords - 1;
    next.laneBytes = entry.laneBytes - entry.bytes;
    entry.next = null;
    this.#lanes.set(entry.lane, next);
    this.resume(next);
  }

  /** What a crash would do again of what has ended here. */
  get unsaved(): number {
    return this.settled - this.saved + this.leftOut;
  }

  holds(lane: string): boolean {
    return this.#lanes.has(lane);
  }

  /** Timestamp of the first record of a lane that has not ended; null: none is held. */
  oldestHeldMs(lane: string): number | null {
    return this.#lanes.get(lane)?.record.timestampMs ?? null;
  }

  /** Heads of all lanes, in no order. */
  heads(): Iterable<Entry> {
    return this.#lanes.values();
  }

  /** Forgets everything read: the tenure is over. Steps that still run end without effect. */
  lose(): void {
    this.phase = 'lost';
    this.#lanes.clear();
    this.#resumed.clear();
    this.#ready.clear();
    this.#toWrite.clear();
    this.buffered = 0;
    this.deadLetters = 0;
  }

  get position(): Position {
    return {
      next: this.tracker.next,
      highWatermark: this.highWatermark,
      asOfMs: this.asOfMs,
      timestampMs: this.timestampMs,
    };
  }

  get status(): PartitionStatus {
    return {
      topic: this.topic,
      partition: this.partition,
      next: this.tracker.next,
      committable: this.tracker.committable,
      committed: this.committed,
      highWatermark: this.highWatermark,
      buffered: this.buffered,
      pauses: [...this.pauses],
      oldestUnfinishedMs: this.tracker.oldestMs,
      lastReadMs: this.timestampMs === 0 ? null : this.timestampMs,
    };
  }
}

/** A commit as one text, to compare with. */
export function signOf(offset: bigint | null, metadata: string): string {
  return offset === null ? '' : `${String(offset)} ${metadata}`;
}
