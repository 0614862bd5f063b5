import { type Cancel, type Clock, within } from '../kernel/clock.ts';
import { Commits } from './commits.ts';
import { Dispatcher } from './dispatcher.ts';
import { type EngineOptions } from './engine-options.ts';
import { Gaps } from './gaps.ts';
import { Intake } from './intake.ts';
import { OwnedPartitions } from './owned-partitions.ts';
import { type Partition } from './partition.ts';
import { Pauses } from './pauses.ts';
import {
  type AssignedPartition,
  type EngineStatus,
  type Flow,
  type LogRange,
  type Source,
  type SourceEvents,
  type SourceRecord,
  type TopicPartition,
} from './ports.ts';
import { fillOf, standingOf } from './standing.ts';

/**
 * Reads partitions of a consumer group through flows, in order per lane, concurrently across lanes, and commits what is
 * settled. At least once: an offset is committed only when every record below it is settled.
 *
 * States:
 * - `idle`: built, not started. `start` leaves it.
 * - `joining`: nothing is owned, nothing starts. `assigned` leaves it.
 * - `running`: partitions are owned, records start. A barrier, `lost` and `stop` leave it.
 * - `stopping`: nothing new starts, what runs may end. Ends as `stopped`.
 */
export class Engine implements SourceEvents {
  readonly #options: EngineOptions;
  readonly #clock: Clock;
  readonly #source: Source;
  readonly #partitions = new OwnedPartitions();
  readonly #dispatchers = new Map<string, Dispatcher>();
  readonly #intake: Intake;
  readonly #gaps: Gaps;
  readonly #commits: Commits;
  readonly #pauses: Pauses;
  #phase: EngineStatus['phase'] = 'idle';
  #epoch = 0;
  #cancelTimer: Cancel | null = null;
  #timerAtMs = Infinity;
  /** Since when nothing is started for want of an assignment; null: there is one. */
  #joiningSinceMs: number | null = null;
  /** Whether this assignment's partitions have been marked for their first commit. */
  #isStartMarked = false;
  #whenStill: (() => void)[] = [];
  #whenJoined: (() => void)[] = [];

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#source = options.source;
    for (const [topic, flow] of options.flows) this.#dispatchers.set(topic, this.#dispatcherOf(flow));
    this.#pauses = new Pauses({
      source: options.source,
      clock: options.clock,
      emit: options.emit,
      limits: options.pressure,
      partitions: () => this.#partitions.values(),
      dispatchers: this.#dispatchers,
    });
    this.#commits = new Commits({
      source: options.source,
      clock: options.clock,
      emit: options.emit,
      intervalMs: options.commitIntervalMs,
      clusterHash: options.clusterHash,
      nonce: options.nonce,
      partitions: () => (this.#phase === 'joining' ? null : this.#partitions.values()),
      onInterval: () => {
        const nowMs = this.#clock.monotonicMs();
        for (const [topic, dispatcher] of this.#dispatchers) dispatcher.review(nowMs, this.#ownedOf(topic));
      },
      onStall: (stalled) => {
        for (const dispatcher of this.#dispatchers.values()) {
          dispatcher.stalled = stalled;
          dispatcher.pump();
        }
      },
      onMapFull: (partition, full) => {
        this.#pauses.set(partition, 'map_full', full);
      },
    });
    this.#gaps = new Gaps({
      ...options,
      onBlocked: (partition) => {
        this.#pauses.set(partition, 'gap', true);
      },
    });
    this.#intake = new Intake({
      schemas: options.schemas,
      clock: options.clock,
      emit: options.emit,
      parked: options.parked,
      suspend: (partition, at) => {
        this.#pauses.set(partition, 'schema', true);
        this.#source.seek(partition, at);
      },
      resume: (partition) => {
        this.#pauses.set(partition, 'schema', false);
      },
    });
  }

  async start(): Promise<void> {
    this.#phase = 'joining';
    this.#joiningSinceMs = this.#clock.monotonicMs();
    this.#commits.start();
    await this.#source.start(this);
  }

  /** Ends what runs within `limitMs`, commits, leaves the group. Answers how many steps had not ended: they are repeated after the next start. */
  async stop(limitMs: number): Promise<number> {
    this.#phase = 'stopping';
    this.#commits.stop();
    this.#quiet('stop');
    const untilMs = this.#clock.monotonicMs() + limitMs;
    await this.#still(limitMs);
    const unfinished = this.#running();
    await this.#commits.now();
    // In the middle of a join nothing may be committed: what is still owned afterwards may.
    if (this.#joiningSinceMs !== null && this.#partitions.isUnsaved) {
      const joined = new Promise<void>((resolve) => this.#whenJoined.push(resolve));
      await within(this.#clock, untilMs - this.#clock.monotonicMs(), joined);
      await this.#commits.now();
    }
    await this.#source.stop();
    for (const partition of this.#partitions.values()) this.#lose(partition);
    this.#cancelTimer?.();
    this.#phase = 'stopped';
    return unfinished;
  }

  async barrier(): Promise<void> {
    this.#joiningSinceMs ??= this.#clock.monotonicMs();
    this.#quiet('join');
    await this.#still(this.#options.barrierMs);
    const inFlight = this.#running();
    if (inFlight > 0) this.#options.emit('barrier_incomplete', { inFlight });
    // A membership that was lost meanwhile may have been followed by another, which has its assignment.
    const isJoining = (): boolean => this.#joiningSinceMs !== null;
    if (isJoining()) for (const dispatcher of this.#dispatchers.values()) dispatcher.phase = 'joining';
    await this.#commits.now();
    if (isJoining() && this.#phase === 'running') this.#phase = 'joining';
  }

  assigned(assignment: readonly AssignedPartition[]): void {
    if (this.#phase === 'stopped') return;
    if (this.#phase === 'stopping') {
      this.#keepOwn(assignment);
      return;
    }
    const before = this.#partitions.size;
    for (const partition of this.#partitions.notIn(assignment)) this.#lose(partition);
    const lost = before - this.#partitions.size;
    for (const at of assignment) this.#take(at);
    // What is lost may have been what filled the flow: nothing that ends here would say so to the others.
    for (const [topic, dispatcher] of this.#dispatchers) this.#pauses.pressFlow(topic, dispatcher);
    this.#isStartMarked = false;
    const owned = this.#partitions.size;
    const afterMs = Math.round(this.#clock.monotonicMs() - (this.#joiningSinceMs ?? this.#clock.monotonicMs()));
    this.#joiningSinceMs = null;
    this.#options.emit('partitions_assigned', { owned, gained: owned - (before - lost), lost, afterMs });
    this.#phase = 'running';
    for (const dispatcher of this.#dispatchers.values()) {
      dispatcher.phase = 'going';
      dispatcher.pump();
    }
  }

  records(at: TopicPartition, from: bigint, next: bigint, records: readonly SourceRecord[]): void {
    const partition = this.#partitions.get(at);
    const dispatcher = this.#dispatchers.get(at.topic);
    if (partition === undefined || dispatcher === undefined) return;
    this.#markStart();
    if (from > partition.tracker.next) {
      this.#source.seek(at, partition.tracker.next);
      return;
    }
    if (this.#intake.take(partition, dispatcher, records)) {
      const before = partition.tracker.committable;
      partition.tracker.passTo(next);
      if (partition.tracker.committable !== before) partition.version += 1;
    }
    this.#pauses.press(partition);
    dispatcher.pump();
  }

  position(at: TopicPartition, highWatermark: bigint): void {
    const partition = this.#partitions.get(at);
    if (partition !== undefined && highWatermark > partition.highWatermark) partition.highWatermark = highWatermark;
  }

  /**
   * The broker was asked at `asOfMs` (monotonic) where a partition ends, and it is here. Only this renews `asOfMs`: an
   * answer to a fetch may have been under way for longer than it seems.
   */
  sawEnd(at: TopicPartition, highWatermark: bigint, asOfMs: number): void {
    const partition = this.#partitions.get(at);
    if (partition === undefined || asOfMs < partition.asOfMs) return;
    this.position(at, highWatermark);
    partition.asOfMs = asOfMs;
  }

  outOfRange(at: TopicPartition, log: LogRange): void {
    const partition = this.#partitions.get(at);
    const dispatcher = this.#dispatchers.get(at.topic);
    if (partition === undefined || dispatcher === undefined || partition.pauses.has('gap')) return;
    const next = this.#gaps.passed(partition, log, (this.#epoch += 1));
    this.position(at, log.high);
    if (next !== partition) {
      this.#lose(partition);
      this.#partitions.own(next, this.#clock.monotonicMs());
      this.#pauses.pressFlow(at.topic, dispatcher);
    }
    if (!next.pauses.has('gap')) this.#readOn(next);
  }

  lost(_error: string): void {
    this.#joiningSinceMs ??= this.#clock.monotonicMs();
    if (this.#phase === 'running') this.#phase = 'joining';
    for (const dispatcher of this.#dispatchers.values()) dispatcher.phase = 'joining';
    for (const partition of this.#partitions.values()) this.#lose(partition);
    this.#commits.forget();
    for (const resolve of this.#whenJoined.splice(0)) resolve();
  }

  status(): EngineStatus {
    const partitions = [...this.#partitions.values()];
    return {
      phase: this.#phase,
      flows: [...this.#dispatchers].map(([topic, dispatcher]) => {
        const owned = this.#ownedOf(topic);
        return Object.assign(dispatcher.status(), standingOf(dispatcher, owned), { topic });
      }),
      partitions: partitions.map((partition) => partition.status),
      commits: this.#commits.durations,
    };
  }

  #dispatcherOf(flow: Flow<unknown, unknown>): Dispatcher {
    const { deadLetters, clock, draw, emit, tracing } = this.#options;
    const dispatcher = new Dispatcher({
      flow,
      deadLetters,
      tracing,
      clock,
      draw,
      emit,
      onEnded: (partition) => {
        this.#ended(partition);
      },
      onDue: () => {
        this.#arm();
      },
      onSettled: (partition) => {
        this.#commits.settled(partition);
      },
    });
    flow.attach({
      wake: (lane) => {
        dispatcher.wake(lane);
      },
      hurry: (causes, withinMs) => {
        dispatcher.hurry(causes, withinMs);
        this.#arm();
      },
      failingFill: (of, partition) => {
        const own = this.#partitions.get({ topic: of, partition });
        return fillOf(this.#ownedOf(of), own, this.#options.pressure);
      },
      changed: () => {
        dispatcher.pump();
      },
      position: (of, partition) => this.#partitions.get({ topic: of, partition })?.position ?? null,
      oldestHeldMs: (of, partition, lane) => this.#partitions.get({ topic: of, partition })?.oldestHeldMs(lane) ?? null,
    });
    return dispatcher;
  }

  #take(at: AssignedPartition): void {
    const known = this.#partitions.get(at);
    if (known !== undefined && this.#commits.isOurs(known, at)) known.committed = at.committed;
    else {
      if (known !== undefined) this.#lose(known);
      this.#partitions.own(this.#gaps.owned(at, (this.#epoch += 1)), this.#clock.monotonicMs());
    }
    const partition = this.#partitions.get(at);
    if (partition !== undefined) this.#readOn(partition);
  }

  /** At a stop: nothing is read any more, and what has gone to others is nobody's here, so that the rest can be committed. */
  #keepOwn(assignment: readonly AssignedPartition[]): void {
    for (const partition of this.#partitions.notIn(assignment)) this.#lose(partition);
    for (const at of assignment) {
      const partition = this.#partitions.get(at);
      if (partition !== undefined && !this.#commits.isOurs(partition, at)) this.#lose(partition);
    }
    this.#joiningSinceMs = null;
    for (const dispatcher of this.#dispatchers.values()) dispatcher.phase = 'ending';
    for (const resolve of this.#whenJoined.splice(0)) resolve();
  }

  #readOn(partition: Partition): void {
    this.#source.seek(partition, partition.tracker.next);
    if (partition.pauses.size === 0) this.#source.resume([partition]);
  }

  /** Not before something was read: until then a source may have no way to commit. */
  #markStart(): void {
    if (this.#isStartMarked || this.#options.commitsStart !== true) return;
    this.#isStartMarked = true;
    for (const partition of this.#partitions.values()) partition.version += 1;
  }

  #lose(partition: Partition): void {
    const dispatcher = this.#dispatchers.get(partition.topic);
    if (dispatcher !== undefined) {
      this.#pauses.drop(partition);
      dispatcher.drop(partition);
      this.#intake.drop(partition, dispatcher);
    }
    this.#partitions.lose(partition);
  }

  #ended(partition: Partition): void {
    if (partition.phase === 'lost') this.#orphanEnded(partition);
    else this.#pauses.press(partition);
    if (this.#whenStill.length > 0 && this.#running() === 0) for (const resolve of this.#whenStill.splice(0)) resolve();
  }

  #orphanEnded(partition: Partition): void {
    const heir = this.#partitions.orphanEnded(partition);
    if (heir !== undefined) this.#dispatchers.get(heir.topic)?.rejoin(heir);
  }

  #ownedOf(topic: string): readonly Partition[] {
    return [...this.#partitions.values()].filter((partition) => partition.topic === topic);
  }

  #running(): number {
    let running = 0;
    for (const dispatcher of this.#dispatchers.values()) running += dispatcher.inFlight;
    return running;
  }

  #quiet(before: 'stop' | 'join'): void {
    for (const dispatcher of this.#dispatchers.values()) {
      if (dispatcher.phase === 'going') dispatcher.phase = 'ending';
      dispatcher.flow.barrier(before);
    }
  }

  async #still(limitMs: number): Promise<void> {
    if (this.#running() === 0) return;
    await within(this.#clock, limitMs, new Promise<void>((resolve) => this.#whenStill.push(resolve)));
  }

  /** One timer for everything that falls due in any flow. */
  #arm(): void {
    let dueMs = Infinity;
    for (const dispatcher of this.#dispatchers.values()) dueMs = Math.min(dueMs, dispatcher.nextDueMs() ?? Infinity);
    if (dueMs >= this.#timerAtMs || this.#phase === 'stopped') return;
    this.#cancelTimer?.();
    this.#timerAtMs = dueMs;
    this.#cancelTimer = this.#clock.after(dueMs - this.#clock.monotonicMs(), () => {
      this.#timerAtMs = Infinity;
      const nowMs = this.#clock.monotonicMs();
      for (const dispatcher of this.#dispatchers.values()) dispatcher.tick(nowMs);
      for (const dispatcher of this.#dispatchers.values()) dispatcher.pump();
    });
  }
}
