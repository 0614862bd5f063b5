import { Attribution, type FailedAttempt, repeatRoom, type RetryState } from '../../src/resilience/attribution.ts';
import { type CallEnd } from '../../src/resilience/breaker.ts';
import { Agenda, Queue, randomOf } from './simulated-time.ts';

/** What the service answers: a status, or how there was no answer. */
export type SimulatedAnswer = number | 'timeout' | 'reset';

export interface SimulatedRecord {
  readonly id: number;
  readonly atMs: number;
  readonly key: number;
  readonly isOdd: boolean;
}

export interface Scenario {
  /** Records per second, and for how many seconds they come. */
  readonly rate?: number;
  readonly seconds: number;
  readonly keys?: number;
  readonly uniqueKeys?: boolean;
  /** The share of records whose key is one and the same: -1. */
  readonly hotShare?: number;
  readonly isOdd?: (id: number, key: number, atMs: number, random: () => number) => boolean;
  /** The answer, and how long it takes. */
  readonly answer: (record: SimulatedRecord, nowMs: number, random: () => number) => readonly [SimulatedAnswer, number];
  /** When the process is killed and starts again, in seconds. */
  readonly restartAt?: number;
  /** When half of the keys go to another process and as many records of other keys come from there, in seconds. */
  readonly rebalanceAt?: number;
  readonly slots?: number;
  readonly maxShare?: number;
}

/** What came of it. Rates are per second. */
export interface Course {
  /** Records that were delivered, by the second. */
  readonly deliveredBy: Float64Array;
  readonly callsBy: Float64Array;
  readonly deadLetters: number;
  /** Dead letters of records that were not odd. */
  readonly wrong: number;
  readonly alreadyScored: number;
  /** How long each odd record took to end, in ms. */
  readonly oddEndedMs: readonly number[];
  /** How long each good record took, in ms, sorted. */
  readonly goodEndedMs: readonly number[];
  /** Age of the oldest odd head of a key queue at the end, in ms. */
  readonly oldestOddMs: number;
  readonly openings: number;
  readonly guardBlocks: number;
  readonly peakBuffered: number;
  /** Records of a key that started out of order. */
  readonly reordered: number;
}

const BUFFER = 10_000;
const MAX_ATTEMPTS = 8;
const REFUSE_AFTER_MS = 300_000;
const EARLY_RECORDS = 1_000;

interface Held extends SimulatedRecord {
  ordinal: number;
  attempts: number;
  maybeScored: boolean;
  retry: RetryState | null;
  isWaiting: boolean;
  /** Counts the waits, so that one that was cut short does not end twice. */
  wait: number;
}

/** Plays a scenario on one process with the real attribution; time is simulated. */
export function play(scenario: Scenario, seed = 7): Course {
  return new Play(scenario, seed).run();
}

class Play {
  readonly #scenario: Scenario;
  readonly #random: () => number;
  readonly #agenda = new Agenda();
  readonly #slots: number;
  readonly #rate: number;
  readonly #endMs: number;
  #attribution: Attribution;
  #nowMs = 0;
  #nextId = 0;
  #ordinal = 0;
  #buffered = 0;
  #isPaused = false;
  #inFlight = 0;
  #repeatsInFlight = 0;
  #repeatWasLast = false;
  /** Counts the restarts: what began before one ends without effect. */
  #life = 0;
  readonly #keyQueues = new Map<number, Queue<Held>>();
  #untried = new Queue<Held>();
  #repeats = new Queue<Held>();
  readonly #waiting = new Set<Held>();
  #failedSinceMs: number | null = null;
  /** The probe that the agenda knows of. */
  #probeMs = 0;
  readonly #lastStarted = new Map<number, number>();
  readonly #course = {
    deliveredBy: new Float64Array(0),
    callsBy: new Float64Array(0),
    deadLetters: 0,
    wrong: 0,
    alreadyScored: 0,
    oddEndedMs: [] as number[],
    goodEndedMs: [] as number[],
    openings: 0,
    guardBlocks: 0,
    peakBuffered: 0,
    reordered: 0,
  };

  constructor(scenario: Scenario, seed: number) {
    this.#scenario = scenario;
    this.#random = randomOf(seed);
    this.#slots = scenario.slots ?? 64;
    this.#rate = scenario.rate ?? 500;
    this.#endMs = scenario.seconds * 1000;
    this.#course.deliveredBy = new Float64Array(Math.ceil(scenario.seconds) + 1);
    this.#course.callsBy = new Float64Array(Math.ceil(scenario.seconds) + 1);
    this.#attribution = this.#newAttribution();
  }

  run(): Course {
    const { restartAt, rebalanceAt } = this.#scenario;
    if (restartAt !== undefined)
      this.#agenda.add(restartAt * 1000, () => {
        this.#restart();
      });
    if (rebalanceAt !== undefined)
      this.#agenda.add(rebalanceAt * 1000, () => {
        this.#rebalance();
      });
    for (;;) {
      const arrivalMs = this.#isPaused || this.#arrivalMs >= this.#endMs ? Infinity : this.#arrivalMs;
      const nextMs = Math.min(arrivalMs, this.#agenda.nextMs);
      if (nextMs > this.#endMs) break;
      this.#nowMs = Math.max(this.#nowMs, nextMs);
      if (arrivalMs > this.#agenda.nextMs) this.#agenda.take()?.run();
      this.#read();
      this.#start();
    }
    const { guard } = this.#attribution;
    return {
      ...this.#course,
      guardBlocks: guard.blocks,
      goodEndedMs: this.#course.goodEndedMs.sort((one, other) => one - other),
      oldestOddMs: this.#oldestOddMs(),
    };
  }

  get #arrivalMs(): number {
    return (this.#nextId / this.#rate) * 1000;
  }

  #newAttribution(): Attribution {
    return new Attribution({
      maxAttempts: MAX_ATTEMPTS,
      refuseAfterMs: REFUSE_AFTER_MS,
      maxShare: this.#scenario.maxShare ?? 0.05,
      draw: this.#random,
      nowMs: this.#nowMs,
    });
  }

  #read(): void {
    while (!this.#isPaused && this.#arrivalMs <= this.#nowMs && this.#arrivalMs < this.#endMs) this.#add(this.#next());
    this.#course.peakBuffered = Math.max(this.#course.peakBuffered, this.#buffered);
  }

  #next(): Held {
    const { keys = 20_000, uniqueKeys = false, hotShare = 0, isOdd } = this.#scenario;
    const id = this.#nextId;
    const atMs = this.#arrivalMs;
    this.#nextId += 1;
    const isHot = hotShare > 0 && this.#random() < hotShare;
    const key = isHot ? -1 : uniqueKeys ? id : Math.floor(this.#random() * keys);
    const odd = isOdd?.(id, key, atMs, this.#random) ?? false;
    return {
      id,
      atMs,
      key,
      isOdd: odd,
      ordinal: 0,
      attempts: 0,
      maybeScored: false,
      retry: null,
      isWaiting: false,
      wait: 0,
    };
  }

  #add(record: Held): void {
    record.ordinal = this.#ordinal;
    this.#ordinal += 1;
    this.#buffered += 1;
    const queue = this.#keyQueues.get(record.key) ?? new Queue<Held>();
    this.#keyQueues.set(record.key, queue);
    queue.push(record);
    if (queue.size === 1) this.#untried.push(record);
    if (this.#buffered >= BUFFER) this.#isPaused = true;
  }

  #settle(record: Held): void {
    this.#buffered -= 1;
    if (this.#buffered <= BUFFER / 2) this.#isPaused = false;
    const queue = this.#keyQueues.get(record.key);
    if (queue?.shift() !== record) throw new Error('a record ended that was not the head of its key queue');
    if (queue.head === undefined) this.#keyQueues.delete(record.key);
    else this.#untried.push(queue.head);
  }

  /** Starts what may start, as the engine does. */
  #start(): void {
    for (;;) {
      const { breaker } = this.#attribution;
      if (!breaker.isClosed && this.#untried.size === 0 && this.#repeats.size + this.#waiting.size > 0)
        breaker.closeForWantOfProbes(this.#nowMs);
      this.#scheduleProbe();
      const free = Math.min(this.#slots - this.#inFlight, breaker.room(this.#nowMs));
      if (free <= 0) return;
      const record = breaker.isClosed ? this.#nextToStart(free) : this.#untried.pop();
      if (record === undefined) return;
      this.#call(record);
    }
  }

  #scheduleProbe(): void {
    const probeMs = this.#attribution.breaker.dueMs();
    if (probeMs === null || probeMs <= this.#nowMs || probeMs === this.#probeMs) return;
    this.#probeMs = probeMs;
    this.#agenda.add(probeMs, () => undefined);
  }

  #nextToStart(free: number): Held | undefined {
    const room = repeatRoom({
      free,
      limit: this.#slots,
      repeatsRunning: this.#repeatsInFlight,
      untriedWaits: this.#untried.size > 0,
      repeatWasLast: this.#repeatWasLast,
    });
    return this.#repeats.size > 0 && room > 0 ? this.#repeats.shift() : this.#untried.shift();
  }

  #call(record: Held): void {
    const isRepeat = record.attempts > 0;
    this.#watchOrder(record);
    this.#inFlight += 1;
    this.#repeatWasLast = isRepeat;
    if (isRepeat) this.#repeatsInFlight += 1;
    bump(this.#course.callsBy, this.#nowMs);
    const epoch = this.#attribution.breaker.begin(this.#nowMs);
    const [answer, tookMs] = this.#scenario.answer(record, this.#nowMs, this.#random);
    const life = this.#life;
    this.#agenda.add(this.#nowMs + tookMs, () => {
      if (life !== this.#life) return;
      this.#inFlight -= 1;
      if (isRepeat) this.#repeatsInFlight -= 1;
      if (this.#keyQueues.get(record.key)?.head === record) this.#answered(record, answer, epoch);
    });
  }

  #watchOrder(record: Held): void {
    const last = this.#lastStarted.get(record.key) ?? -1;
    if (record.id < last) this.#course.reordered += 1;
    this.#lastStarted.set(record.key, Math.max(last, record.id));
  }

  #answered(record: Held, answer: SimulatedAnswer, epoch: number): void {
    const nowMs = this.#nowMs;
    const call = { key: String(record.key), isFirst: record.attempts === 0 };
    const isKnown = answer === 409 && (record.maybeScored || record.ordinal < EARLY_RECORDS);
    const isOk = answer === 200 || isKnown;
    const wasClosed = this.#attribution.breaker.isClosed;
    this.#attribution.end(epoch, call, toEnd(answer, isOk), { delivered: answer === 200 ? 1 : 0, nowMs });
    if (wasClosed && !this.#attribution.breaker.isClosed) this.#course.openings += 1;
    this.#watchRecovery(isOk);
    record.attempts += 1;
    if (answer === 200) {
      bump(this.#course.deliveredBy, nowMs);
      if (!record.isOdd) this.#course.goodEndedMs.push(nowMs - record.atMs);
      this.#settle(record);
    } else if (isKnown) {
      this.#course.alreadyScored += 1;
      bump(this.#course.deliveredBy, nowMs);
      this.#settle(record);
    } else this.#failed(record, answer, call);
  }

  #failed(record: Held, answer: SimulatedAnswer, call: { readonly key: string; readonly isFirst: boolean }): void {
    const attempt: FailedAttempt = {
      ...call,
      state: record.retry,
      kind: kindOf(answer),
      afterMs: null,
      failingFill: this.#buffered / BUFFER,
    };
    const decision = this.#attribution.decide(attempt, this.#nowMs);
    if (answer === 'timeout' || answer === 'reset' || answer === 500) record.maybeScored = true;
    if (decision.do === 'retry') {
      record.retry = decision.state;
      this.#wait(record, decision.forMs);
      return;
    }
    if (answer === 409) this.#course.alreadyScored += 1;
    else {
      this.#course.deadLetters += 1;
      if (record.isOdd) this.#course.oddEndedMs.push(this.#nowMs - record.atMs);
      else this.#course.wrong += 1;
    }
    this.#settle(record);
  }

  #wait(record: Held, forMs: number): void {
    const life = this.#life;
    record.isWaiting = true;
    record.wait += 1;
    const { wait } = record;
    this.#waiting.add(record);
    this.#agenda.add(this.#nowMs + forMs, () => {
      if (life !== this.#life || !record.isWaiting || record.wait !== wait || !this.#waiting.delete(record)) return;
      record.isWaiting = false;
      this.#repeats.push(record);
    });
  }

  #watchRecovery(isOk: boolean): void {
    if (!isOk) {
      this.#failedSinceMs ??= this.#nowMs;
      return;
    }
    const sinceMs = this.#failedSinceMs;
    this.#failedSinceMs = null;
    if (sinceMs === null || this.#nowMs - sinceMs < 2_000) return;
    const waiting = [...this.#waiting];
    for (const record of waiting) this.#wait(record, this.#random() * 1000);
  }

  /** The memory of the process is gone; what it had read is read again. */
  #restart(): void {
    this.#life += 1;
    this.#inFlight = 0;
    this.#repeatsInFlight = 0;
    this.#attribution = this.#newAttribution();
    this.#forgetWaits();
    this.#ordinal = 0;
    for (const queue of this.#keyQueues.values()) this.#readAgain(queue);
  }

  /** Half of the keys leave, and come back as they would to a process that had none of them. */
  #rebalance(): void {
    const kept = [...this.#repeats.list(), ...this.#untried.list()].filter(({ key }) => !isMoved(key));
    this.#untried = new Queue();
    this.#repeats = new Queue();
    for (const record of kept) (record.attempts > 0 ? this.#repeats : this.#untried).push(record);
    for (const record of this.#waiting) {
      if (!isMoved(record.key)) continue;
      this.#waiting.delete(record);
      record.isWaiting = false;
    }
    for (const [key, queue] of this.#keyQueues) if (isMoved(key)) this.#readAgain(queue);
  }

  #forgetWaits(): void {
    this.#waiting.clear();
    this.#untried = new Queue();
    this.#repeats = new Queue();
  }

  #readAgain(queue: Queue<Held>): void {
    const records = queue.list();
    while (queue.shift() !== undefined);
    for (const record of records) {
      // What still runs for the old one ends without effect.
      queue.push({ ...record, ordinal: this.#ordinal, attempts: 0, retry: null, maybeScored: false, isWaiting: false });
      this.#ordinal += 1;
    }
    if (queue.head !== undefined) {
      this.#lastStarted.delete(queue.head.key);
      this.#untried.push(queue.head);
    }
  }

  #oldestOddMs(): number {
    let oldestMs = 0;
    for (const { head } of this.#keyQueues.values())
      if (head?.isOdd === true) oldestMs = Math.max(oldestMs, this.#nowMs - head.atMs);
    return oldestMs;
  }
}

function toEnd(answer: SimulatedAnswer, isOk: boolean): CallEnd {
  if (isOk) return { do: 'ok' };
  const cause = typeof answer === 'number' && answer < 500 ? 'service_refuses' : 'service_down';
  return { do: kindOf(answer) === 'refused' ? 'refused' : 'failed', cause };
}

function kindOf(answer: SimulatedAnswer): FailedAttempt['kind'] {
  if (answer === 429) return 'rate_limited';
  return answer === 400 || answer === 409 || answer === 413 || answer === 422 ? 'refused' : 'failed';
}

function bump(bySecond: Float64Array, nowMs: number): void {
  const second = Math.floor(nowMs / 1000);
  bySecond[second] = (bySecond[second] ?? 0) + 1;
}

/** Whether a key goes to another process in a rebalance. */
function isMoved(key: number): boolean {
  return key % 2 === 0;
}

/** The mean of some seconds. */
export function meanOf(bySecond: Float64Array, from: number, to: number): number {
  let sum = 0;
  for (let second = from; second < to; second += 1) sum += bySecond[second] ?? 0;
  return sum / (to - from);
}
