import { type Cancel, type Clock } from '../kernel/clock.ts';
import { Commits } from './commits.ts';
import { Dispatcher } from './dispatcher.ts';
import { type EngineOptions } from './engine-options.ts';
import { Intake } from './intake.ts';
import { decodeMap } from './offset-map.ts';
import { Partition } from './partition.ts';
import { Pauses } from './pauses.ts';
import {
  type AssignedPartition,
  type EngineStatus,
  type Flow,
  type Source,
  type SourceEvents,
  type SourceRecord,
  type TopicPartition,
} from './ports.ts';
import { standingOf } from './standing.ts';
import { type Gap, startPosition } from './start-position.ts';

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
  readonly #partitions = new Map<string, Partition>();
  readonly #dispatchers = new Map<string, Dispatcher>();
  readonly #intake: Intake;
  readonly #commits: Commits;
  readonly #pauses: Pauses;
  /** Partitions lost while steps of them ran, by name: the next tenure waits for these. */
  readonly #leaving = new Map<string, number>();
  #phase: EngineStatus['phase'] = 'idle';
  #epoch = 0;
  #cancelTimer: Cancel | null = null;
  #timerAtMs = Infinity;
  /** Since when nothing is started for want of an assignment; null: there is one. */
  #joiningSinceMs: number | null = null;
  /** Whether this assignment's partitions have been marked for their first commit. */
  #isStartMarked = false;
  #whenStill: (() => void)[] = [];

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
        for (const dispatcher of this.#dispatchers.values()) dispatcher.holds.review(nowMs);
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
    await this.#still(limitMs);
    const unfinished = this.#running();
    await this.#commits.now();
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
    if (this.#phase === 'stopping' || this.#phase === 'stopped') return;
    const names = new Set(assignment.map((at) => nameOfPartition(at)));
    const before = this.#partitions.size;
    for (const [name, partition] of this.#partitions) if (!names.has(name)) this.#lose(partition);
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
    const partition = this.#partitions.get(nameOfPartition(at));
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
    const partition = this.#partitions.get(nameOfPartition(at));
    if (partition !== undefined && highWatermark > partition.highWatermark) partition.highWatermark = highWatermark;
  }

  /**
   * The broker was asked at `asOfMs` (monotonic) where a partition ends, and it is here. Only this renews `asOfMs`: an
   * answer to a fetch may have been under way for longer than it seems.
   */
  sawEnd(at: TopicPartition, highWatermark: bigint, asOfMs: number): void {
    const partition = this.#partitions.get(nameOfPartition(at));
    if (partition === undefined || asOfMs < partition.asOfMs) return;
    this.position(at, highWatermark);
    partition.asOfMs = asOfMs;
  }

  lost(_error: string): void {
    this.#joiningSinceMs ??= this.#clock.monotonicMs();
    if (this.#phase === 'running') this.#phase = 'joining';
    for (const dispatcher of this.#dispatchers.values()) dispatcher.phase = 'joining';
    for (const partition of this.#partitions.values()) this.#lose(partition);
    this.#commits.forget();
  }

  status(): EngineStatus {
    const partitions = [...this.#partitions.values()];
    return {
      phase: this.#phase,
      flows: [...this.#dispatchers].map(([topic, dispatcher]) => {
        const owned = partitions.filter((partition) => partition.topic === topic);
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
      hurry: (causes, which) => {
        dispatcher.hurry(causes, which);
        this.#arm();
      },
      changed: () => {
        dispatcher.pump();
      },
      position: (of, partition) => this.#partitions.get(nameOfPartition({ topic: of, partition }))?.position ?? null,
      oldestHeldMs: (of, partition, lane) =>
        this.#partitions.get(nameOfPartition({ topic: of, partition }))?.oldestHeldMs(lane) ?? null,
    });
    return dispatcher;
  }

  #take(at: AssignedPartition): void {
    const name = nameOfPartition(at);
    const known = this.#partitions.get(name);
    if (known !== undefined && this.#commits.isOurs(known, at)) known.committed = at.committed;
    else {
      if (known !== undefined) this.#lose(known);
      const { start, gap } = startPosition(at);
      const partition = new Partition(at, (this.#epoch += 1), start);
      if (gap === null) this.#restore(partition, at);
      else this.#miss(partition, at, gap);
      partition.asOfMs = this.#clock.monotonicMs();
      partition.orphans = this.#leaving.get(name) ?? 0;
      this.#partitions.set(name, partition);
    }
    const partition = this.#partitions.get(name);
    if (partition === undefined) return;
    this.#source.seek(at, partition.tracker.next);
    if (partition.pauses.size === 0) this.#source.resume([at]);
  }

  /** Takes over what the last owner had finished above its committed offset. */
  #restore(partition: Partition, { committed, metadata }: AssignedPartition): void {
    if (committed === null || committed !== partition.start) return;
    const map = decodeMap(metadata, { clusterHash: this.#options.clusterHash, offset: committed });
    if (map.do === 'ignored') this.#options.emit('offset_map_ignored', { why: map.why });
    if (map.do !== 'map') return;
    partition.tracker.restore(map.ranges);
    partition.mapTimestampMs = map.ranges.length > 0 ? map.timestampMs : null;
  }

  /** Says what is gone, and holds the partition if it was told to. */
  #miss(partition: Partition, at: AssignedPartition, { why, missing }: Gap): void {
    const place = { topic: at.topic, partition: at.partition, from: String(at.committed), to: String(partition.start) };
    this.#options.emit('offset_gap', { ...place, why, missing: String(missing) });
    if (this.#options.onGap === 'earliest') return;
    this.#pauses.set(partition, 'gap', true);
  }

  /** Not before something was read: until then a source may have no way to commit. */
  #markStart(): void {
    if (this.#isStartMarked || this.#options.commitsStart !== true) return;
    this.#isStartMarked = true;
    for (const partition of this.#partitions.values()) partition.version += 1;
  }

  #lose(partition: Partition): void {
    const name = nameOfPartition(partition);
    this.#partitions.delete(name);
    const dispatcher = this.#dispatchers.get(partition.topic);
    if (dispatcher !== undefined) {
      this.#pauses.drop(partition);
      dispatcher.drop(partition);
      this.#intake.drop(partition, dispatcher);
    }
    const running = partition.running + partition.orphans;
    if (running > 0) this.#leaving.set(name, running);
    partition.lose();
  }

  #ended(partition: Partition): void {
    if (partition.phase === 'lost') this.#orphanEnded(partition);
    else this.#pauses.press(partition);
    if (this.#whenStill.length > 0 && this.#running() === 0) for (const resolve of this.#whenStill.splice(0)) resolve();
  }

  #orphanEnded(partition: Partition): void {
    const name = nameOfPartition(partition);
    const left = (this.#leaving.get(name) ?? 1) - 1;
    if (left > 0) this.#leaving.set(name, left);
    else this.#leaving.delete(name);
    const heir = this.#partitions.get(name);
    if (heir === undefined) return;
    heir.orphans = left;
    if (left === 0) this.#dispatchers.get(heir.topic)?.rejoin(heir);
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
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.after(limitMs, resolve);
      this.#whenStill.push(() => {
        cancel();
        resolve();
      });
    });
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

function nameOfPartition({ topic, partition }: TopicPartition): string {
  return `${topic}/${String(partition)}`;
}
