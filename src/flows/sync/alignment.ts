import { LRUCache } from 'lru-cache';
import { type EngineSignals, type Position, type SourceRecord } from '../../engine/ports.ts';
import { type Emit } from '../../kernel/emit.ts';
import { type ScoredFact, type ScoredTransactions } from '../scored.ts';
import { HeldTime } from './held-time.ts';
import { type Update } from './read.ts';

export interface AlignmentOptions {
  readonly topicCreated: string;
  /** What scoring's lanes are: record keys, or trans_ids. */
  readonly ordering: 'key' | 'transaction';
  /** How long an update waits for its transaction where nothing can be known of it; 0: no update waits at all. 0 where scoring runs elsewhere. */
  readonly scoreWaitMs: number;
  /** Whether payments wait here and none ends: as long as that lasts, `scoreWaitMs` does not run. */
  readonly isScoringHeld: () => boolean;
  readonly emit: Emit;
}

const FACTS_KEPT = 100_000;
/** By how much clocks and timestamps of producers may differ. */
const CLOCK_SLACK_MS = 5_000;

/** What is known of the transaction of an update. `blind`: its created partition is not ours, or the topics are not partitioned alike. */
type Knowledge = 'ended' | 'not_in_log' | 'coming' | 'blind';

/**
 * Keeps a status update from overtaking the transaction that it belongs to, so that the service can link it (spec: Sync
 * status update, rule 2). An update starts when its transaction was scored here, or when the log shows that no
 * transaction of its key came before it: the created partition of the same number is ours, has been read beyond the
 * update, and holds no record of the key from before it. No clock replaces that, however long a backlog takes; only where it cannot be
 * known does an update start after `scoreWaitMs`, not counting the time in which scoring is held.
 */
export class Alignment implements ScoredTransactions {
  readonly #options: AlignmentOptions;
  /** By trans_id; looked at by `peek`, so that what was noted longest ago goes first. */
  readonly #facts = new LRUCache<string, ScoredFact>({ max: FACTS_KEPT });
  /** The first end of the created partition that was seen after the update came; read up to there, nothing before the update is missing. */
  readonly #ends = new WeakMap<Update, bigint>();
  /** Since when somebody waits for a newer end of a created partition; monotonic. */
  readonly #wanted = new Map<number, number>();
  readonly #held: HeldTime;
  #signals: EngineSignals | null = null;
  #partitionedAlike = true;

  constructor(options: AlignmentOptions) {
    this.#options = options;
    this.#held = new HeldTime(options.isScoringHeld);
  }

  attach(signals: EngineSignals): void {
    this.#signals = signals;
  }

  note(transId: string, fact: ScoredFact): void {
    if (fact.do === 'scored' || this.#facts.peek(transId)?.do !== 'scored') this.#facts.set(transId, fact);
    this.#signals?.wake(transId);
  }

  /** What is remembered of a transaction: the last 100,000 that ended here. */
  fact(transId: string): ScoredFact | null {
    return this.#facts.peek(transId) ?? null;
  }

  mayStart(update: Update, record: SourceRecord, nowMs: number): boolean {
    const known = this.#know(update, record);
    if (known === 'blind') {
      const heldMs = this.#held.upTo(nowMs) - update.heldBeforeMs;
      return nowMs - update.arrivedMs - heldMs >= this.#options.scoreWaitMs;
    }
    return known !== 'coming';
  }

  /** For how long scoring has been held in all. */
  heldMs(nowMs: number): number {
    return this.#held.upTo(nowMs);
  }

  /** Whether an update starts although nothing is known of its transaction. */
  isBlind(update: Update, record: SourceRecord): boolean {
    return this.#know(update, record) === 'blind';
  }

  /** Whether an update waits for a newer end of a created partition than was seen since it came. */
  wantsWatermark(): boolean {
    for (const [partition, sinceMs] of this.#wanted) {
      const position = this.#signals?.position(this.#options.topicCreated, partition) ?? null;
      if (position !== null && position.asOfMs <= sinceMs) return true;
      this.#wanted.delete(partition);
    }
    return false;
  }

  #know(update: Update, record: SourceRecord): Knowledge {
    if (this.#options.scoreWaitMs === 0) return 'ended';
    const fact = this.#facts.peek(update.transId);
    if (fact !== undefined) this.#compare(fact.partition, record.partition);
    // A refused payment may have been mended and sent again: then that one is behind it in the log.
    if (fact?.do === 'scored') return 'ended';
    const { topicCreated } = this.#options;
    const position = this.#partitionedAlike ? this.#signals?.position(topicCreated, record.partition) : null;
    if (position === null || position === undefined) return 'blind';
    if (!this.#isReadBeyond(position, update, record)) return 'coming';
    const lane = this.#createdLane(update, record);
    const oldestMs = this.#signals?.oldestHeldMs(topicCreated, record.partition, lane) ?? null;
    return oldestMs === null || isLater(oldestMs, record) ? 'not_in_log' : 'coming';
  }

  #isReadBeyond(position: Position, update: Update, record: SourceRecord): boolean {
    if (isLater(position.timestampMs, record)) return true;
    let end = this.#ends.get(update);
    if (end === undefined) {
      if (position.asOfMs <= update.arrivedMs) {
        const sinceMs = this.#wanted.get(record.partition) ?? -Infinity;
        this.#wanted.set(record.partition, Math.max(sinceMs, update.arrivedMs));
        return false;
      }
      end = position.highWatermark;
      this.#ends.set(update, end);
    }
    return position.next >= end;
  }

  #createdLane(update: Update, record: SourceRecord): string {
    if (this.#options.ordering === 'transaction' || record.key === null) return update.transId;
    return record.key.toString('latin1');
  }

  /** Topics with different numbers of partitions cannot be compared by the log: the second rule holds no longer. */
  compareTopics(created: number, authorized: number): void {
    if (created === authorized || !this.#partitionedAlike) return;
    this.#partitionedAlike = false;
    this.#options.emit('partition_counts_differ', { created, authorized });
  }

  /** A transaction seen under another number than its update's: the second rule holds no longer. */
  #compare(createdPartition: number, authorizedPartition: number): void {
    if (createdPartition === authorizedPartition || !this.#partitionedAlike) return;
    this.#partitionedAlike = false;
    this.#options.emit('not_co_partitioned', { createdPartition, authorizedPartition });
  }
}

/** Whether a timestamp is beyond the update's record, whatever clocks differ. A record without a time (-1) is later than nothing. */
function isLater(timestampMs: number, record: SourceRecord): boolean {
  return record.timestampMs >= 0 && timestampMs > record.timestampMs + CLOCK_SLACK_MS;
}
