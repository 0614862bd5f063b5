import { type Commit, type Source, type SourceEvents, type TopicPartition } from '../../engine/ports.ts';
import { type Cancel, type Clock, type Draw } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { Fault } from '../../kernel/fault.ts';
import { type AssignUnits, type Assignor } from './assigner.ts';
import { type KafkaClient } from './client.ts';
import { isMissingRight, kafkaErrorName, withRights } from './errors.ts';
import { type FenceFeed } from './fence-feed.ts';
import { type ReadLimits } from './fetched-partition.ts';
import { GroupMember } from './member.ts';
import { backoffMs, Nap } from './nap.ts';
import { OffsetReader } from './offset-reader.ts';

const FIRST_RESTART_MS = 500;
const LAST_RESTART_MS = 15_000;
const METADATA_MAX_AGE_MS = 60_000;
/** A member that lacks the right to read joins, and fails at its first fetch: within that time. */
const READS_AFTER_MS = 5000;

export interface SourceOptions {
  readonly client: KafkaClient;
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  readonly topics: readonly string[];
  /** What records may come to; a larger one comes without content. */
  readonly limits: ReadLimits;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
  /** Fed here; asked by what sends requests. */
  readonly fence: FenceFeed;
  readonly assign: AssignUnits;
  /** Default `co-partitioned-sticky`. */
  readonly assignor?: Assignor;
  /** How soon new partitions of the topics are noticed. Default 60 s. */
  readonly metadataMaxAgeMs?: number;
  /** The leader of the group has found topics with different numbers of partitions. */
  readonly onMismatch?: (partitions: Readonly<Record<string, number>>) => void;
}

/** A member of a consumer group over kafkajs; opens nothing before `start`. */
export function createKafkaSource(options: SourceOptions): Source {
  return new KafkaSource(options);
}

/**
 * The supervisor: builds a member, and when that has ended, for whatever reason, another one after a wait. It never
 * gives up; while there is no assignment it holds, saying why.
 *
 * `idle` → start → `trying` (topics missing, brokers away, joining) ⇄ `assigned` → stop → `stopped`.
 */
class KafkaSource implements Source {
  readonly #options: SourceOptions;
  readonly #offsets: OffsetReader;
  readonly #nap: Nap;
  #events: SourceEvents | null = null;
  #phase: 'idle' | 'trying' | 'assigned' | 'stopped' = 'idle';
  #member: GroupMember | null = null;
  #endMember: ((error: string) => void) | null = null;
  #life: Promise<void> = Promise.resolve();
  #failures = 0;
  #held: { readonly sinceMs: number; readonly scope: string; readonly error: string } | null = null;
  /** A right was missing when the last membership ended: until one lasts, a join is no end of the hold. */
  #isRefused = false;
  #forgive: Cancel | null = null;

  constructor(options: SourceOptions) {
    this.#options = options;
    this.#offsets = new OffsetReader(options.client);
    this.#nap = new Nap(options.clock);
  }

  async start(events: SourceEvents): Promise<void> {
    if (this.#phase !== 'idle') throw new Fault('INTERNAL', 'A source starts once.');
    this.#events = events;
    this.#phase = 'trying';
    this.#options.fence.start();
    this.#life = this.#live();
    await Promise.resolve();
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.#member?.pause(partitions);
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.#member?.resume(partitions);
  }

  seek(at: TopicPartition, next: bigint): void {
    this.#member?.seek(at, next);
  }

  async commit(commits: readonly Commit[]): Promise<void> {
    if (this.#member === null) throw new Fault('KAFKA_FAILED', 'Nothing may be committed: not a member of the group.');
    await this.#member.commit(commits);
  }

  async stop(): Promise<void> {
    const started = this.#phase !== 'idle';
    this.#phase = 'stopped';
    this.#nap.wake();
    this.#endMember?.('stopped');
    if (started) await this.#life;
    this.#options.fence.stop();
    await this.#offsets.close().catch(() => undefined);
  }

  async #live(): Promise<void> {
    const { draw, emit } = this.#options;
    while (!this.#isStopped()) {
      const error = await this.#tryOnce();
      if (this.#isStopped()) return;
      const restartInMs = backoffMs(this.#failures, draw, FIRST_RESTART_MS, LAST_RESTART_MS);
      this.#failures += 1;
      if (error !== null) emit('source_failed', { error, restartInMs: Math.round(restartInMs) });
      await this.#nap.sleep(restartInMs);
    }
  }

  /** One membership, from here to its end: why it ended; null: it could not begin, which is a hold and no failure. */
  async #tryOnce(): Promise<string | null> {
    try {
      const missing = await this.#offsets.missing(this.#options.topics);
      if (missing.length > 0) {
        this.#hold(missing.join(','), 'topic missing');
        return null;
      }
    } catch (error) {
      const name = kafkaErrorName(error);
      this.#hold('brokers', name);
      return name;
    }
    if (this.#isStopped()) return null;
    return await this.#oneMembership();
  }

  async #oneMembership(): Promise<string> {
    const ended = Promise.withResolvers<string>();
    this.#endMember = ended.resolve;
    const member = new GroupMember({
      assignor: 'co-partitioned-sticky',
      metadataMaxAgeMs: METADATA_MAX_AGE_MS,
      ...this.#options,
      ...this.#hooks(ended.resolve),
      offsets: this.#offsets,
    });
    this.#member = member;
    const opened = member.open();
    const error = this.#named(await ended.promise);
    this.#forgive?.();
    this.#isRefused = isMissingRight(error);
    this.#member = null;
    if (!this.#isStopped()) {
      if (this.#phase === 'assigned') this.#phase = 'trying';
      // Before the disconnect, which may take seconds: the group gives the partitions away meanwhile.
      this.#events?.lost(error);
      this.#hold('group', error);
    }
    await member.close();
    await opened;
    return error;
  }

  #hooks(
    onEnd: (error: string) => void,
  ): Pick<ConstructorParameters<typeof GroupMember>[0], 'events' | 'onEnd' | 'onAskFailed' | 'onAnswered'> {
    const events = this.#events;
    if (events === null) throw new Fault('INTERNAL', 'The source has not been started.');
    return {
      onEnd,
      onAskFailed: (error) => {
        this.#hold('offsets', error);
      },
      onAnswered: () => {
        if (this.#held?.scope === 'offsets') this.#release();
      },
      events: {
        barrier: async () => {
          await events.barrier();
        },
        assigned: (partitions) => {
          this.#phase = 'assigned';
          this.#joined();
          events.assigned(partitions);
        },
        records: (at, from, next, records) => {
          events.records(at, from, next, records);
        },
        position: (at, highWatermark) => {
          events.position(at, highWatermark);
        },
        outOfRange: (at, log) => {
          events.outOfRange(at, log);
        },
      },
    };
  }

  #joined(): void {
    this.#forgive?.();
    if (this.#isRefused) this.#forgive = this.#options.clock.after(READS_AFTER_MS, () => this.#recovered());
    else this.#recovered();
  }

  #recovered(): void {
    this.#isRefused = false;
    this.#failures = 0;
    this.#release();
  }

  /** Of a crash kafkajs tells less than of an answer: what may be missing is all that a member needs. */
  #named(error: string): string {
    const { topics, groupId } = this.#options;
    return withRights(error, { topic: ['Read', ...topics], group: ['Read', groupId] });
  }

  /** Another scope is another hold: the one before it is over, and says so. A missing right is worth saying by itself. */
  #hold(scope: string, error: string): void {
    const isNews = isMissingRight(error) && this.#held?.error !== error;
    if (this.#held?.scope === scope && !isNews) return;
    this.#release();
    this.#held = { sinceMs: this.#options.clock.monotonicMs(), scope, error };
    this.#options.emit('hold_started', { cause: 'kafka', scope, error });
  }

  #release(): void {
    if (this.#held === null) return;
    const { sinceMs, scope } = this.#held;
    this.#held = null;
    const afterMs = Math.round(this.#options.clock.monotonicMs() - sinceMs);
    this.#options.emit('hold_ended', { cause: 'kafka', scope, afterMs });
  }

  #isStopped(): boolean {
    return this.#phase === 'stopped';
  }
}
