/**
 * All that the engine, a flow and the edges say to each other. No client library, no timers.
 *
 * The division of labour: THE ENGINE OWNS EVERY WAIT. A flow reads a record, names its lane, says whether it may start
 * and runs one step that never sleeps. A waiting record stays at the head of its lane, uses no slot and holds no
 * promise; so a rebalance has nothing to unwind but what is at the service, in an open batch or at the writer.
 *
 * Times named `nowMs` are monotonic milliseconds; `timestampMs` are milliseconds since 1970.
 */
import { type Distribution } from '../kernel/bucket-counts.ts';
import { type HoldCause, type Letter, type Settlement } from '../kernel/outcome.ts';
import { type RecordSpan } from '../kernel/tracing.ts';

/** Header values as Kafka gives them, null included; a name that occurs twice has an array. */
export type RecordHeaders = Readonly<Record<string, Buffer | string | null | (Buffer | string | null)[] | undefined>>;

/** One record of a topic. Key and value are its own copies: holding them pins nothing else. */
export interface SourceRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
  readonly timestampMs: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: RecordHeaders;
  /** Why key, value and headers are not here although the record may have some; absent: they are as they were written. */
  readonly unread?: Unread;
}

export interface Unread {
  /** The record or its batch is larger than it may be; or the batch, which arrived as it was written, cannot be unpacked. */
  readonly why: 'record_too_large' | 'undecodable';
  /** The base offset of the batch, if nothing of it was read; null: the reason is this record's own. */
  readonly batch: bigint | null;
}

export interface TopicPartition {
  readonly topic: string;
  readonly partition: number;
}

/** Ownership of one partition, shared by all its jobs. It ends when the partition is lost, never by a new generation alone. */
export interface Tenure {
  readonly epoch: number;
  /** `lost`: results of this tenure are thrown away. */
  readonly phase: 'owned' | 'lost';
}

export type SchemaId = number;

/** What `read` made of a record: something to work on, its end already, or a schema that has to be fetched first. */
export type Reading<Item> =
  | { readonly do: 'item'; readonly item: Item }
  | { readonly do: 'needs'; readonly schema: SchemaId }
  | Settlement;

/** What one step came to. `wait` keeps in `carry` what was achieved (a score already received), so that a wait never repeats a POST; `error` names what went wrong, without data. `release`: nothing achieved, nothing settled, back to the head of its lane. */
export type Step<Carry> =
  | Settlement
  | {
      readonly do: 'wait';
      readonly forMs: number;
      readonly why: HoldCause;
      readonly carry?: Carry;
      readonly error?: string;
    }
  | { readonly do: 'release' };

export interface Job<Item, Carry> {
  readonly record: SourceRecord;
  readonly item: Item;
  /** 1 for the first step of this record, one more after each `wait`. */
  readonly attempt: number;
  readonly carry: Carry | undefined;
  readonly tenure: Tenure;
  readonly lane: string;
  /** How many records of its assignment were read before it, less those that are known to have ended. */
  readonly ordinal: number;
  /** Absent: it is not traced. */
  readonly span?: RecordSpan | undefined;
}

/** What the engine gives a flow when it is built in. */
export interface EngineSignals {
  /** The head of this lane, if it waits, may be asked again now. */
  wake(lane: string): void;
  /** Records that wait for one of these causes may be asked again sooner: within `withinMs`. */
  hurry(causes: readonly HoldCause[], withinMs: number): void;
  /** `room`, `due` or what `mayStart` depends on has changed outside of a step. */
  changed(): void;
  /** From 0 to 1: how much of what may be kept in memory is taken by records that were tried before and those behind them, of the flow or of this partition, whichever is more. */
  failingFill(topic: string, partition: number): number;
  /** How far the partitions of a topic owned here have been read; null: not owned here. */
  position(topic: string, partition: number): Position | null;
  /** Timestamp (ms since 1970) of the first record of this lane that is held, waiting or running, in an owned partition of the topic; null: none is. */
  oldestHeldMs(topic: string, partition: number, lane: string): number | null;
}

/** How far a partition has been read. */
export interface Position {
  /** The next offset to be read. */
  readonly next: bigint;
  /** The broker's end of the partition as last seen. */
  readonly highWatermark: bigint;
  /** When `highWatermark` was seen; monotonic. */
  readonly asOfMs: number;
  /** Timestamp of the last record read; 0 before the first. */
  readonly timestampMs: number;
}

export interface Flow<Item, Carry> {
  readonly name: string;
  attach(signals: EngineSignals): void;
  /** Pure and synchronous; must not throw. An unknown schema is asked for, and its partition waits. */
  read(record: SourceRecord): Reading<Item>;
  /** One step at a time runs per lane of a topic-partition, in the order of the log. */
  lane(item: Item, record: SourceRecord): string;
  /** Null, or why not yet. Asked only for the head of a lane; asked again after `wake`, and by itself after half a second, one, then every two. */
  mayStart(job: Job<Item, Carry>, nowMs: number): HoldCause | null;
  /** How many steps may start now: what the gate has free. So p-limit never queues. */
  room(nowMs: number): number;
  /** Whether a record that carries this was tried before. Repeats start before untried records, as long as `repeatRoom` lets them. Absent: the order of the log alone counts. */
  isRepeat?(carry: Carry): boolean;
  /** How many repeats may start now. `untriedWaits`: whether an untried record could start instead. */
  repeatRoom?(nowMs: number, untriedWaits: boolean): number;
  /** True: what has room is a probe. Then only an untried record starts, the newest head of a key queue. Absent: never. */
  readonly isProbing?: boolean;
  /** A probe is wanted, records wait, and none of them is untried. */
  noneUntried?(nowMs: number): void;
  /** One step; never sleeps. A throw is a defect: the engine makes it a wait. */
  run(job: Job<Item, Carry>): Promise<Step<Carry>>;
  /**
   * When the engine must call `tick` next (an open batch's age), monotonic; null: not. `askedMs`: when `room` was asked
   * last. What kept records back then is due even if its time has come meanwhile, for nobody has asked since.
   */
  due(askedMs: number): number | null;
  tick(nowMs: number): void;
  /** `stop`: send what is open. `join`: release what is unsent. */
  barrier(before: 'stop' | 'join'): void;
  /** A record that ended as a letter when it was read, without a step, and whose letter is written. */
  lettered?(record: SourceRecord): void;
  /**
   * Whether what a wait carries was done outside already, so that only this process knows of it (a score not yet
   * written). Such a record needs no room: what is left of it asks nothing of the service.
   */
  isAnswered?(carry: Carry): boolean;
  /** Null or absent: what has room may go out. Else nothing may, by a neighbour's doing, and so many running steps stand still for it. */
  heldBack?(): number | null;
}

/** Fetches a schema that a reading needs. `ready`: read again (it may read as `schema_unknown` now). */
export interface Schemas {
  fetch(
    id: SchemaId,
  ): Promise<{ readonly do: 'ready' } | { readonly do: 'wait'; readonly forMs: number; readonly why: HoldCause }>;
}

/** Decodes values of one reader schema with what is cached; synchronous, never throws. */
export interface ValueDecoder {
  decode(framed: Buffer):
    | { readonly do: 'value'; readonly value: unknown }
    | { readonly do: 'needs'; readonly schema: SchemaId }
    | {
        readonly do: 'refuse';
        readonly reason: 'bad_framing' | 'schema_unknown' | 'schema_incompatible' | 'undecodable';
        readonly detail: string;
      };
}

/** Encodes values of one writer schema in Confluent framing. Throws only where the value does not fit the schema, which types exclude. */
export interface ValueEncoder<T> {
  encode(value: T): Buffer;
}

/** Writes the letter of a record; `written` only after Kafka's acknowledgement, else why not yet. */
export interface DeadLetters {
  write(record: SourceRecord, letter: Letter, attempts: number): Promise<'written' | HoldCause>;
}

export interface OutgoingRecord {
  readonly topic: string;
  /** Chooses the partition as Kafka's own clients do (murmur2); null: any. */
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: RecordHeaders;
}

/**
 * `written`: acknowledged by all in-sync replicas. `refused`: this record can never be written (too large, invalid).
 * `unavailable`: not acknowledged within the deadline; it may be there or come later, so the repeat may be a duplicate.
 */
export type WriteOutcome =
  | { readonly do: 'written'; readonly partition: number; readonly offset: bigint }
  | { readonly do: 'refused'; readonly why: 'too_large' | 'invalid' }
  | { readonly do: 'unavailable'; readonly error: string };

export interface RecordWriter {
  /** Never rejects. Order is kept within a topic-partition. */
  write(record: OutgoingRecord, deadlineMs: number): Promise<WriteOutcome>;
}

/** What the log of a partition holds. */
export interface LogRange {
  /** The oldest offset that is still there. */
  readonly low: bigint;
  /** The end of what may be read: the offset after the last one. */
  readonly high: bigint;
}

/** A partition as it was found after a join: what is committed, and what the log holds. */
export interface AssignedPartition extends TopicPartition, LogRange {
  /** Null: nothing is committed. */
  readonly committed: bigint | null;
  readonly metadata: string;
}

export interface Commit extends TopicPartition {
  /** The next offset to be read after a restart. */
  readonly offset: bigint;
  readonly metadata: string;
}

/** What a source tells the engine. All but `barrier` are synchronous and must not throw. */
export interface SourceEvents {
  /** Called before every join: resolves when nothing of the old generation runs any more, or its time is over. Nothing starts until `assigned`. */
  barrier(): Promise<void>;
  /** The whole assignment after a join and its read-back. Partitions not in it are lost. Nothing of a partition is read before the engine has called `seek` and `resume` for it. */
  assigned(partitions: readonly AssignedPartition[]): void;
  /** Records in the order of the log; `from`: the offset the fetch asked for; `next`: the offset after the last one fetched (control records count). */
  records(at: TopicPartition, from: bigint, next: bigint, records: readonly SourceRecord[]): void;
  position(at: TopicPartition, highWatermark: bigint): void;
  /**
   * The log does not hold the offset that is to be read next. Comes after all records that were read before it; nothing
   * more is read of the partition before `seek` is called for it. The other partitions go on.
   */
  outOfRange(at: TopicPartition, log: LogRange): void;
  /** The membership is gone (crash, eviction): every tenure is lost. The source comes back by itself with `assigned`. */
  lost(error: string): void;
}

/** Records in, commits out: a member of a consumer group. */
export interface Source {
  /** Resolves once the source works on joining; it never gives up on its own. */
  start(events: SourceEvents): Promise<void>;
  pause(partitions: readonly TopicPartition[]): void;
  resume(partitions: readonly TopicPartition[]): void;
  seek(at: TopicPartition, next: bigint): void;
  /** One attempt, only for partitions owned now. Rejects when it failed or its outcome is unknown. */
  commit(commits: readonly Commit[]): Promise<void>;
  /** Leaves the group; bounded in time, never rejects. */
  stop(): Promise<void>;
}

/**
 * Why reading of a partition pauses; it goes on when no reason is left. `dead_letters`: too many of its records wait to
 * be written to the dead-letter topic; `map_full`: too much that has ended finds no room in what is committed;
 * `span_full`: too much was read behind a record that has not ended.
 */
export type PauseReason = 'partition_full' | 'flow_full' | 'dead_letters' | 'map_full' | 'span_full' | 'schema' | 'gap';

/** What `/status` and the metrics read. Counters are plain numbers: nothing is emitted per record. */
export interface EngineStatus {
  readonly phase: 'idle' | 'joining' | 'running' | 'stopping' | 'stopped';
  readonly flows: readonly FlowStatus[];
  readonly partitions: readonly PartitionStatus[];
  /** Commits since the start, in seconds: acknowledged, and failed or not answered. */
  readonly commits: { readonly ok: Distribution; readonly failed: Distribution };
}

export interface FlowStatus {
  readonly name: string;
  /** The topic that it reads. */
  readonly topic: string;
  /** Records read since the start; those read again after a rebalance count again. */
  readonly consumed: number;
  /** `delivered`, `skip:<rule>` and `dead_letter:<reason>`: how many records ended so. */
  readonly outcomes: Readonly<Record<string, number>>;
  readonly inFlight: number;
  /** Records read and not settled, those in flight included. */
  readonly buffered: number;
  readonly bufferedBytes: number;
  /** Lanes whose head is held: it waits for a cause, or nothing may start or go out. Not those that only wait for room. */
  readonly heldLanes: number;
  /** Seconds from the first step of a record to its end. */
  readonly processing: Distribution;
  /** Seconds from the timestamp of a record to its end. */
  readonly endToEnd: Distribution;
  /** Why lane heads wait, with how many, since when (monotonic), and the name of what went wrong last; empty: not known. */
  readonly waits: readonly {
    readonly cause: HoldCause;
    readonly records: number;
    readonly sinceMs: number;
    readonly error: string;
    /** Of the record that failed last, as `topic:partition:offset`; null: not known. */
    readonly position: string | null;
  }[];
  /** Records that the service has answered and that wait for Kafka to take their score or letter. */
  readonly answered: number;
  /** Records of owned partitions that have ended, by a step or a letter, and are in neither the committed offset nor the committed map. */
  readonly unsaved: number;
  /** Since when there have been such records (monotonic); null: there are none. */
  readonly unsavedSinceMs: number | null;
}

export interface PartitionStatus extends TopicPartition {
  readonly next: bigint;
  readonly committable: bigint;
  readonly committed: bigint | null;
  readonly highWatermark: bigint;
  readonly buffered: number;
  /** Why it is not read now; empty: it is. */
  readonly pauses: readonly PauseReason[];
  /** Timestamp of the oldest record that is read and not settled; null: none. */
  readonly oldestUnfinishedMs: number | null;
  /** Timestamp of the last record read; null: none was yet. */
  readonly lastReadMs: number | null;
}
