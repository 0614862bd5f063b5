import { type Consumer, type EachBatchPayload } from 'kafkajs';
import { type AssignedPartition, type Commit, type TopicPartition } from '../../engine/ports.ts';
import { within } from '../../kernel/clock.ts';
import { assignersOf, Ownership } from './assigner.ts';
import { UNREAD_BATCH } from './codecs.ts';
import { CommitLine } from './commit-line.ts';
import { membershipOf, onUnknownTopic } from './coordinator-repair.ts';
import { kafkaErrorName } from './errors.ts';
import { type Fetched, HandOver } from './hand-over.ts';
import { Heart } from './heart.ts';
import { readFetches, readOf } from './fetch-repair.ts';
import { JoinGuard } from './join-guard.ts';
import { type MemberOptions } from './member-options.ts';
import { MemberWatch } from './member-watch.ts';
import { flows, isRead, type Owned, OwnedPartitions, seekTo, toKafkaPartitions } from './owned.ts';
import { Patience } from './patience.ts';
import { onOutOfRange } from './range-repair.ts';
import { consumerConfig, heartbeatMs } from './settings.ts';
import { Turns } from './turns.ts';

const DISCONNECT_MS = 8000;
/** The engine ends its barrier by itself within a third of the session; this is for one that does not. */
const BARRIER_GRACE_MS = 1000;

/**
 * One kafkajs consumer, from its first join to its end.
 *
 * | phase | what is true | left by |
 * | --- | --- | --- |
 * | `joining` | nothing is read, nothing may be committed, the fence is closed | the read-back after a join → `owning` |
 * | `owning` | partitions flow as the engine says; commits pass | the end of a barrier, or a join → `joining` |
 * | `ended` | nothing comes or goes any more | – |
 *
 * Every phase may end: kafkajs crashed, the watchdog ended it, or `close`.
 */
export class GroupMember {
  readonly #options: MemberOptions;
  readonly #ownership = new Ownership();
  readonly #owned = new OwnedPartitions();
  readonly #patience: Patience;
  readonly #consumer: Consumer;
  readonly #joins: JoinGuard;
  readonly #watch: MemberWatch;
  readonly #heart: Heart;
  readonly #turns: Turns;
  readonly #handOver: HandOver;
  readonly #commits: CommitLine;
  #cluster: object | null = null;
  #phase: 'joining' | 'owning' | 'ended' = 'joining';
  /** The barrier's own commit still passes, so this outlives neither phase. */
  #mayCommit = false;
  /** Counts the joins: a read-back of an older one is thrown away. */
  #join = 0;
  readonly #sentAtMs = { Heartbeat: 0, SyncGroup: 0 };

  constructor(options: MemberOptions) {
    this.#options = options;
    this.#patience = new Patience(options);
    this.#turns = new Turns(options.clock);
    this.#commits = new CommitLine({
      mayCommit: () => this.#mayCommit,
      owns: (at) => this.#owned.has(at),
      membership: () => (this.#cluster === null ? null : membershipOf(this.#cluster)),
    });
    this.#joins = new JoinGuard(async () => {
      await this.#passBarrier();
    });
    this.#watch = new MemberWatch({
      ...options,
      reading: () => (this.#phase === 'owning' ? this.#owned.reading() : []),
      onSuspect: (error) => {
        this.#end(error);
      },
    });
    const { client, topics, assignor, assign, onMismatch, sessionTimeoutMs } = options;
    this.#handOver = new HandOver({
      clock: options.clock,
      flows: (owned) => this.#phase === 'owning' && !this.#joins.isUp && flows(owned),
      give: (at, { from, next, records, outOfRange }) => {
        this.#guarded(() => {
          if (outOfRange === undefined) options.events.records(at, from, next, records);
          else options.events.outOfRange(at, outOfRange);
        });
      },
      onLow: ({ at }) => {
        this.#setFlow([at]);
      },
    });
    this.#heart = new Heart({
      ...options,
      intervalMs: heartbeatMs(sessionTimeoutMs),
      membership: () => (this.#isCurrent(this.#join) && this.#cluster !== null ? membershipOf(this.#cluster) : null),
    });
    const config = {
      ...consumerConfig(options),
      partitionAssigners: assignersOf(assignor, topics, {
        ownership: this.#ownership,
        assign,
        ...(onMismatch === undefined ? {} : { onMismatch }),
        onCluster: (cluster) => {
          this.#cluster = cluster;
          this.#joins.guard(cluster);
          readFetches(cluster, {
            ...options.limits,
            turn: async () => {
              await this.#turns.next();
            },
          });
          onUnknownTopic(cluster, () => {
            this.#watch.unknownTopic();
          });
          onOutOfRange(cluster, ({ topic, partition }) => {
            this.#outOfRange({ topic, partition });
          });
        },
      }),
    };
    this.#consumer = client.consumer(config, (errorName) => {
      this.#end(errorName === UNREAD_BATCH ? 'a batch that does not unpack' : errorName);
    });
    this.#listen();
  }

  /** Connects and joins; a failure ends the membership. */
  async open(): Promise<void> {
    this.#watch.start();
    this.#heart.start();
    try {
      await this.#consumer.connect();
      await this.#consumer.subscribe({ topics: [...this.#options.topics], fromBeginning: true });
      await this.#consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        partitionsConsumedConcurrently: 3,
        eachBatch: async (payload) => {
          await this.#turns.next();
          this.#guarded(() => {
            this.#batch(payload);
          });
        },
      });
    } catch (error) {
      this.#end(kafkaErrorName(error));
    }
  }

  pause(partitions: readonly TopicPartition[]): void {
    for (const at of partitions) {
      const owned = this.#owned.get(at);
      if (owned !== undefined) owned.wanted = false;
    }
    this.#setFlow(partitions);
  }

  resume(partitions: readonly TopicPartition[]): void {
    for (const at of partitions) {
      const owned = this.#owned.get(at);
      if (owned !== undefined) owned.wanted = true;
    }
    this.#setFlow(partitions);
    this.#handOver.wake();
  }

  seek(at: TopicPartition, next: bigint): void {
    const owned = this.#owned.get(at);
    if (owned === undefined || this.#phase === 'ended') return;
    this.#fetchFrom(owned, this.#handOver.readFrom(owned, next));
  }

  /** One attempt, one at a time, for partitions owned at the moment it is made. */
  async commit(commits: readonly Commit[]): Promise<void> {
    await this.#commits.commit(commits);
  }

  /** Leaves the group and disconnects; bounded, never rejects. */
  async close(): Promise<void> {
    this.#shut();
    await within(this.#options.clock, DISCONNECT_MS, this.#consumer.disconnect()).catch(() => 'late' as const);
  }

  async #passBarrier(): Promise<void> {
    if (this.#phase === 'ended') return;
    const { clock, sessionTimeoutMs, events } = this.#options;
    await within(clock, sessionTimeoutMs / 3 + BARRIER_GRACE_MS, events.barrier()).catch(() => 'late' as const);
    this.#settleDown();
  }

  /** Nothing is read, committed or sent until the next read-back. */
  #settleDown(): void {
    this.#mayCommit = false;
    this.#options.fence.close();
    if (this.#phase === 'owning') this.#phase = 'joining';
  }

  #listen(): void {
    const { clock, fence } = this.#options;
    const { events } = this.#consumer;
    this.#consumer.on(events.REQUEST, ({ payload }) => {
      if (payload.apiName !== 'Heartbeat' && payload.apiName !== 'SyncGroup') return;
      this.#sentAtMs[payload.apiName] = clock.monotonicMs() - Math.max(0, payload.duration);
    });
    this.#consumer.on(events.HEARTBEAT, ({ payload }) => {
      this.#guarded(() => {
        this.#ownership.heartbeat(payload.groupGenerationId);
        fence.answered(this.#sentAtMs.Heartbeat);
        // A membership that is never confirmed is one that is never told of again.
        if (!fence.hasLapsed) this.#watch.heartbeat();
      });
    });
    this.#consumer.on(events.GROUP_JOIN, ({ payload }) => {
      this.#guarded(() => {
        this.#joined(payload.memberAssignment);
      });
    });
    this.#consumer.on(events.CRASH, ({ payload }) => {
      this.#end(kafkaErrorName(payload.error));
    });
  }

  /** A throwing listener breaks kafkajs (REQUEST: the process), a throwing handler starts its loop of retries. */
  #guarded(work: () => void): void {
    try {
      if (this.#phase !== 'ended') work();
    } catch (error) {
      this.#end(kafkaErrorName(error));
    }
  }

  #joined(assignment: Readonly<Record<string, number[]>>): void {
    this.#settleDown();
    this.#joins.joined();
    this.#join += 1;
    this.#ownership.joined(assignment);
    this.#watch.heartbeat();
    this.#options.fence.confirmed(this.#sentAtMs.SyncGroup);
    const partitions = this.#owned.assign(assignment);
    this.#handOver.keepOnly((owned) => this.#owned.get(owned.at) === owned);
    // Also those we had: what is fetched before the engine has said where to read on is thrown away.
    this.#consumer.pause(toKafkaPartitions(partitions));
    void this.#readBack(this.#join, partitions);
  }

  async #readBack(join: number, partitions: readonly TopicPartition[]): Promise<void> {
    const { offsets, groupId } = this.#options;
    const found = await this.#patience.ask(
      async () => await offsets.readBack(groupId, partitions),
      () => this.#isCurrent(join),
    );
    if (found !== null)
      this.#guarded(() => {
        this.#begin(found);
      });
  }

  #begin(found: readonly AssignedPartition[]): void {
    this.#phase = 'owning';
    this.#mayCommit = true;
    this.#options.fence.open();
    this.#options.events.assigned(found);
  }

  #isCurrent(join: number): boolean {
    return this.#phase !== 'ended' && this.#join === join && !this.#joins.isUp;
  }

  #batch(payload: EachBatchPayload): void {
    const { batch } = payload;
    const owned = this.#owned.get(batch);
    const read = readOf(batch.messages[0]);
    // A batch that is refused here is not resolved: it is fetched again when the partition flows.
    if (this.#phase !== 'owning' || payload.isStale() || owned === undefined || read === null) return;
    const from = BigInt(String(Reflect.get(batch, 'fetchedOffset')));
    if (from !== owned.expected) {
      this.#suspect(owned);
      return;
    }
    if (owned.suspicion !== null) return;
    this.#take(owned, { from, ...read }, batch.highWatermark, () => {
      payload.resolveOffset(batch.lastOffset());
    });
  }

  /** Takes over what was fetched. `resolve`: it need not be fetched again. */
  #take(owned: Owned, fetched: Fetched, highWatermark: string, resolve: () => void): void {
    if (!this.#handOver.add(owned, fetched)) return;
    owned.expected = fetched.next;
    resolve();
    this.#options.events.position(owned.at, BigInt(highWatermark));
    this.#handOver.go(owned);
    if (this.#handOver.hasEnough(owned)) this.#setFlow([owned.at]);
  }

  #fetchFrom(owned: Owned, next: bigint): void {
    seekTo(owned, next);
    this.#consumer.seek({ ...owned.at, offset: next.toString() });
    this.#setFlow([owned.at]);
  }

  /** A broker has refused a fetch. Nothing more is fetched of the partition, whoever owns it now: kafkajs would ask again at once. */
  #outOfRange(at: TopicPartition): void {
    this.#guarded(() => {
      this.#consumer.pause(toKafkaPartitions([at]));
      const owned = this.#owned.get(at);
      if (this.#phase === 'owning' && owned !== undefined) this.#suspect(owned);
    });
  }

  /**
   * The log may not hold what is to be fetched next: a broker says so, or a fetch of an offset has come that nobody asked
   * for, which may be left over from before a join. The log's ends tell which.
   */
  #suspect(owned: Owned): void {
    if (!isRead(owned)) return;
    const suspicion = {};
    owned.suspicion = suspicion;
    this.#setFlow([owned.at]);
    void this.#clear(owned, owned.expected, () => owned.suspicion === suspicion && this.#owned.get(owned.at) === owned);
  }

  /** Reads on, or says what the log holds, behind all that was fetched; the engine says where to go on. */
  async #clear(owned: Owned, from: bigint, isOpen: () => boolean): Promise<void> {
    const { offsets } = this.#options;
    const log = await this.#patience.ask(async () => await offsets.rangeOf(owned.at), isOpen);
    if (log === null) return;
    this.#guarded(() => {
      if (from >= log.low && from <= log.high) this.#fetchFrom(owned, from);
      else this.#handOver.add(owned, { from, next: from, records: [], outOfRange: log });
      this.#handOver.wake();
    });
  }

  #setFlow(partitions: readonly TopicPartition[]): void {
    if (this.#phase === 'ended') return;
    const owned = partitions.map((at) => this.#owned.get(at)).filter((of) => of !== undefined);
    const isFetched = (of: Owned): boolean => isRead(of) && !this.#handOver.hasEnough(of);
    const open = owned.filter(isFetched).map(({ at }) => at);
    const shut = owned.filter((of) => !isFetched(of)).map(({ at }) => at);
    if (open.length > 0) this.#consumer.resume(toKafkaPartitions(open));
    if (shut.length > 0) this.#consumer.pause(toKafkaPartitions(shut));
  }

  #end(error: string): void {
    if (this.#phase === 'ended') return;
    this.#shut();
    this.#options.onEnd(error);
  }

  #shut(): void {
    this.#phase = 'ended';
    this.#mayCommit = false;
    this.#options.fence.close();
    this.#owned.clear();
    this.#handOver.keepOnly(() => false);
    this.#watch.stop();
    this.#heart.stop();
    this.#patience.wake();
  }
}
