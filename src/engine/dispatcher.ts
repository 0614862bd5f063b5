import { type Clock, type Draw, earliest } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { nameOf } from '../kernel/fault.ts';
import { type HoldCause, type Letter, type Settlement } from '../kernel/outcome.ts';
import { type Tracing } from '../kernel/tracing.ts';
import { type Entry } from './entry.ts';
import { HoldBook } from './hold-book.ts';
import { OutcomeCounts } from './outcome-counts.ts';
import { type Partition } from './partition.ts';
import { type DeadLetters, type Flow, type FlowStatus, type Step } from './ports.ts';
import { type Standing, tooManyFailing } from './standing.ts';
import { Starts } from './starts.ts';
import { Waits } from './waits.ts';
import { Writes } from './writes.ts';

const FAULTS_BEFORE_LETTER = 8;
/** Once one could be written again, the others are tried within this time. */
const DEAD_LETTERS_WITHIN_MS = 1000;
const BACKOFF_MS = 200;
const BACKOFF_MAX_MS = 30_000;

export interface DispatcherParts {
  readonly flow: Flow<unknown, unknown>;
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
  readonly tracing: Tracing | undefined;
  /** Called when a record has ended or a partition has nothing running any more. */
  readonly onEnded: (partition: Partition) => void;
  /** Called when `nextDueMs` may have changed. */
  readonly onDue: () => void;
  /** Called when a record of this partition has been settled. */
  readonly onSettled: (partition: Partition) => void;
}

/**
 * Starts the records of one flow: the oldest ready record of each partition in turn, as long as the flow has room; a
 * partition with no more than its share under way may follow a record that has ended with its next one at once.
 * Owns every wait of the flow; nothing here sleeps, and a waiting record is one entry in a heap or a set.
 */
export class Dispatcher {
  readonly flow: Flow<unknown, unknown>;
  /** `going`: records start. `ending`, before a join or at a stop: none does. `joining`: no letter is begun, either: whose the records are is not known. */
  phase: 'going' | 'ending' | 'joining' = 'joining';
  /** While true nothing starts: too much is finished and not committed. */
  stalled = false;
  /** Whether reading of all its partitions is paused because it holds too much. */
  full = false;
  inFlight = 0;
  buffered = 0;
  bufferedBytes = 0;
  /** Records read. */
  consumed = 0;
  readonly holds: HoldBook;
  /** They are among what is buffered. */
  readonly writes = new Writes();
  readonly #parts: DispatcherParts;
  readonly #clock: Clock;
  readonly #outcomes: OutcomeCounts;
  readonly #starts = new Starts();
  /** When the flow was asked for room last, or could have been. */
  #askedMs = 0;
  readonly #waits: Waits;
  #pumping = false;
  #ended = 0;

  constructor(parts: DispatcherParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
    this.flow = parts.flow;
    this.holds = new HoldBook(parts.flow.name, parts.emit);
    this.#outcomes = new OutcomeCounts(parts.clock);
    this.#waits = new Waits(parts.draw);
  }

  /** Takes over an entry that its partition has just added. */
  added(entry: Entry): void {
    this.buffered += 1;
    this.bufferedBytes += entry.bytes;
    this.writes.count(entry, 1);
    if (entry.state === 'ready') this.#join(entry.tenure);
  }

  /** Counts a record that has ended when it was read. */
  count(settlement: Settlement, timestampMs: number): void {
    this.#outcomes.count(settlement, timestampMs);
    this.#ended += 1;
  }

  /**
   * Starts what may start, and says that something else may be due. A call from within, by a flow that says that something
   * has changed, is taken up by the round that runs.
   */
  pump(): void {
    this.#pump(null);
  }

  #pump(freed: Partition | null): void {
    if (this.#pumping) return;
    if (this.phase === 'going' && !this.stalled) this.#startAll(freed);
    this.#parts.onDue();
  }

  #startAll(freed: Partition | null): void {
    this.#pumping = true;
    const nowMs = (this.#askedMs = this.#clock.monotonicMs());
    for (let entry = this.writes.take(); entry !== undefined; entry = this.writes.take()) this.#write(entry);
    if (this.flow.isProbing === true) this.#startProbe(nowMs);
    if (this.flow.isProbing !== true) {
      this.#startRepeats(nowMs);
      this.#starts.turn(freed, this.inFlight - this.writes.inFlight, (partition) => this.#startNext(partition, nowMs));
    }
    this.#pumping = false;
  }

  #startRepeats(nowMs: number): void {
    for (let entry = this.#starts.peekRepeat(); entry !== undefined; entry = this.#starts.peekRepeat()) {
      if ((this.flow.repeatRoom?.(nowMs, this.#starts.untriedWaits) ?? 0) <= 0) return;
      this.#starts.takeRepeat();
      this.#run(entry);
    }
  }

  #startProbe(nowMs: number): void {
    const hasRepeats = this.#starts.peekRepeat() !== undefined || this.#waits.isWaiting;
    if (!this.#starts.untriedWaits) {
      if (hasRepeats && !this.#waits.hasBlocked) this.flow.noneUntried?.(nowMs);
    } else if (this.flow.room(nowMs) > 0) {
      const entry = this.#starts.takeNewest();
      if (entry !== undefined) this.#start(entry, nowMs);
    }
  }

  /** When `tick` must be called next; null: nothing is due. */
  nextDueMs(): number | null {
    return earliest(this.#waits.nextDueMs(), this.flow.due(this.#askedMs));
  }

  /** Moves what has fallen due. */
  tick(nowMs: number): void {
    const due = this.flow.due(this.#askedMs);
    if (due !== null && due <= nowMs) this.flow.tick(nowMs);
    this.#askedMs = nowMs;
    for (let entry = this.#waits.take(nowMs); entry !== undefined; entry = this.#waits.take(nowMs)) this.#resume(entry);
  }

  wake(lane: string): void {
    const entry = this.#waits.takeBlocked(lane);
    if (entry === undefined) return;
    this.#resume(entry);
    this.pump();
  }

  /** Lets records that wait for one of these causes be asked again sooner; a wait that ends before is not made longer. */
  hurry(causes: readonly HoldCause[], withinMs: number): void {
    this.#waits.hurry(causes, withinMs, this.#clock.monotonicMs());
  }

  /** Takes a partition's records out of every wait; called before the partition forgets them. */
  drop(partition: Partition): void {
    const nowMs = this.#clock.monotonicMs();
    for (const head of partition.heads()) {
      this.#waits.remove(head);
      for (let entry: Entry | null = head; entry !== null; entry = entry.next) {
        this.buffered -= 1;
        this.bufferedBytes -= entry.bytes;
        this.writes.count(entry, -1);
        this.holds.forget(entry, nowMs);
        entry.span?.end({ outcome: 'lost', attempts: entry.attempt });
      }
    }
  }

  /** A partition may start again after its orphans have ended. */
  rejoin(partition: Partition): void {
    this.#join(partition);
    this.pump();
  }

  /** Names what has lasted long enough to be worth a line; called now and then. */
  review(nowMs: number, partitions: Iterable<Partition>): void {
    // While no call goes out, that is the reason.
    this.holds.set('too_many_failing', this.flow.isProbing === true ? 0 : tooManyFailing(partitions), nowMs);
    this.holds.review(nowMs);
  }

  status(): Omit<FlowStatus, keyof Standing | 'topic'> {
    const { processing, endToEnd } = this.#outcomes;
    return {
      name: this.flow.name,
      consumed: this.consumed,
      processing,
      endToEnd,
      outcomes: this.#outcomes.list(),
      inFlight: this.inFlight,
      buffered: this.buffered,
      bufferedBytes: this.bufferedBytes,
      waits: this.holds.list(),
    };
  }

  /** False: the flow has no room, so the round ends here and this partition keeps its turn. */
  #startNext(partition: Partition, nowMs: number): boolean {
    const entry = partition.peekReady();
    if (entry === undefined) return true;
    if (this.flow.room(nowMs) <= 0) return false;
    partition.takeReady();
    this.#start(entry, nowMs);
    return true;
  }

  #start(entry: Entry, nowMs: number): void {
    let why: HoldCause | null;
    try {
      why = entry.attempt === 1 ? this.flow.mayStart(entry, nowMs) : null;
    } catch (error) {
      this.#broke(entry, error);
      return;
    }
    if (why !== null) this.#block(entry, why, nowMs);
    else {
      if (entry.beganMs < 0) entry.beganMs = nowMs;
      this.#run(entry);
    }
  }

  #write(entry: Entry): void {
    if (entry.beganMs < 0) entry.beganMs = this.#clock.monotonicMs();
    if (entry.letter === null) this.#run(entry);
    else this.#writeLetter(entry, entry.letter);
  }

  #run(entry: Entry): void {
    this.#enter(entry);
    let step: Promise<Step<unknown>>;
    try {
      step = this.flow.run(entry);
    } catch (error) {
      step = Promise.reject(error instanceof Error ? error : new TypeError('not an error'));
    }
    step.then(
      (end) => {
        this.#leave(entry, () => {
          this.#apply(entry, end);
        });
      },
      (error: unknown) => {
        this.#leave(entry, () => {
          this.#broke(entry, error);
        });
      },
    );
  }

  #writeLetter(entry: Entry, letter: Letter): void {
    this.#enter(entry);
    const written = this.#parts.deadLetters.write(entry.record, letter, entry.attempt);
    written.then(
      (outcome) => {
        this.#leave(entry, () => {
          if (outcome === 'written') this.#settle(entry, { do: 'dead_letter', letter });
          else this.#wait(entry, outcome, this.#backoffMs(entry.attempt));
          if (this.writes.tried(outcome === 'written')) this.hurry(['dead_letter_topic'], DEAD_LETTERS_WITHIN_MS);
        });
      },
      (error: unknown) => {
        this.#leave(entry, () => {
          this.#broke(entry, error);
        });
      },
    );
  }

  #enter(entry: Entry): void {
    entry.state = 'running';
    entry.span ??= this.#parts.tracing?.record(this.flow.name, entry.record);
    entry.tenure.running += 1;
    this.inFlight += 1;
    if (entry.isToWrite) this.writes.running(entry, 1);
  }

  /** A step has ended: it takes effect only while its tenure lasts. */
  #leave(entry: Entry, apply: () => void): void {
    const partition = entry.tenure;
    const { isToWrite } = entry;
    partition.running -= 1;
    this.inFlight -= 1;
    if (isToWrite) this.writes.running(entry, -1);
    if (partition.phase !== 'lost') apply();
    this.#parts.onEnded(partition);
    this.#pump(isToWrite ? null : partition);
  }

  #apply(entry: Entry, step: Step<unknown>): void {
    switch (step.do) {
      case 'delivered':
      case 'skip':
        this.#settle(entry, step);
        return;
      case 'dead_letter':
        this.#condemn(entry, step.letter);
        // At once, also before a join or at a stop: the record would be sent again if its end were left for later.
        if (this.phase !== 'joining') this.#writeLetter(entry, step.letter);
        else this.#resume(entry);
        return;
      case 'wait':
        if (step.carry !== undefined) {
          entry.carry = step.carry;
          entry.answered = this.flow.isAnswered?.(step.carry) ?? false;
          entry.markRepeat(this.flow.isRepeat?.(step.carry) ?? false);
        }
        this.#wait(entry, step.why, step.forMs, step.error);
        return;
      case 'release':
        this.#resume(entry);
    }
  }

  /** From now on all that is left of it is to write its dead letter. */
  #condemn(entry: Entry, letter: Letter): void {
    entry.letter = letter;
    this.writes.count(entry, 1);
  }

  #settle(entry: Entry, settlement: Settlement): void {
    entry.tellEnd(settlement);
    if (entry.why !== null) this.holds.forget(entry, this.#clock.monotonicMs());
    this.#outcomes.countStepped(settlement, entry.record.timestampMs, entry.beganMs);
    this.#ended += 1;
    this.buffered -= 1;
    this.bufferedBytes -= entry.bytes;
    this.writes.count(entry, -1);
    entry.markRepeat(false);
    const hadNext = entry.next !== null;
    if (entry.item === undefined) this.#tellOfLetter(entry);
    entry.tenure.settle(entry);
    // Afterwards: a commit that is due now says that it has ended, too.
    this.#parts.onSettled(entry.tenure);
    if (hadNext) this.#join(entry.tenure);
  }

  /** The record has ended, whatever the flow makes of the news. */
  #tellOfLetter({ record }: Entry): void {
    try {
      this.flow.lettered?.(record);
    } catch (error) {
      this.#parts.emit('flow_broken', { flow: this.flow.name, error: nameOf(error) });
    }
  }

  #wait(entry: Entry, why: HoldCause, forMs: number, error?: string): void {
    const nowMs = this.#clock.monotonicMs();
    this.holds.remember(entry, why, nowMs, error);
    entry.span?.wait(why);
    entry.attempt += 1;
    this.#waits.wait(entry, nowMs + forMs);
  }

  /** A defect of ours must neither lose a record nor stop the partition for good: it waits, and ends as a letter if it is this record alone. */
  #broke(entry: Entry, error: unknown): void {
    const name = nameOf(error);
    this.#parts.emit('flow_broken', { flow: this.flow.name, error: name });
    if (entry.faults === 0) entry.endedAtFirstFault = this.#ended;
    entry.faults += 1;
    if (entry.faults >= FAULTS_BEFORE_LETTER && this.#ended > entry.endedAtFirstFault && entry.letter === null) {
      this.#condemn(entry, { reason: 'connector_fault', stage: this.flow.name, detail: name });
      this.#resume(entry);
    } else this.#wait(entry, 'flow_broken', this.#backoffMs(entry.faults), name);
  }

  #block(entry: Entry, why: HoldCause, nowMs: number): void {
    this.holds.remember(entry, why, nowMs);
    this.#waits.block(entry, nowMs);
  }

  #resume(entry: Entry): void {
    if (entry.isRepeat && entry.letter === null) {
      this.#starts.repeat(entry);
      return;
    }
    entry.tenure.resume(entry);
    this.#join(entry.tenure);
  }

  #join(partition: Partition): void {
    this.writes.join(partition);
    this.#starts.join(partition);
  }

  #backoffMs(attempt: number): number {
    return this.#parts.draw() * Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** Math.min(attempt, 20));
  }
}
