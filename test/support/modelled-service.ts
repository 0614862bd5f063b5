import { type Cancel, type Clock } from '../../src/kernel/clock.ts';
import { type CallEnd } from '../../src/resilience/breaker.ts';
import { type CallAnswer } from '../../src/resilience/limit.ts';

/** How a modelled service works, until told otherwise. */
export interface ServiceNature {
  /** Calls worked on at once. */
  readonly workers: number;
  /** What one call takes a worker. */
  readonly workMs: number;
  /** Calls that wait for a worker; beyond it they are refused at once. */
  readonly queue: number;
  /** What a call is refused with. */
  readonly refusal: CallAnswer;
  /** Share of the calls that fail at random when they have been worked on. */
  readonly failing?: { readonly share: number; readonly status: number };
}

/** A client gives up on an answer after this. */
const TIMEOUT_MS = 5_000;

const OK: CallEnd = { do: 'ok' };
const FAILED: CallEnd = { do: 'failed', cause: 'service_down' };

type Done = (end: CallEnd, answer: CallAnswer) => void;

interface Call {
  readonly done: Done;
  /** Null: the caller has given up. */
  giveUp: Cancel | null;
}

/**
 * A service in simulated time: workers, a queue before them, a refusal when it is full, and time-outs of the caller, whose
 * calls are worked on all the same (a service does not know that nobody waits any more).
 */
export class ModelledService {
  nature: ServiceNature;
  /** Answered as asked, and in time. */
  good = 0;
  refused = 0;
  late = 0;
  failed = 0;
  readonly #clock: Clock;
  readonly #draw: () => number;
  readonly #waiting: Call[] = [];
  #working = 0;

  constructor(nature: ServiceNature, clock: Clock, draw: () => number) {
    this.nature = nature;
    this.#clock = clock;
    this.#draw = draw;
  }

  /** What it can answer a second at best. */
  get capacity(): number {
    const { workers, workMs, failing } = this.nature;
    return ((1000 * workers) / workMs) * (1 - (failing?.share ?? 0));
  }

  call(done: Done): void {
    if (this.#waiting.length >= this.nature.queue && this.#working >= this.nature.workers) {
      this.refused += 1;
      // An answer takes its way, too.
      this.#clock.after(1, () => {
        done(FAILED, this.nature.refusal);
      });
      return;
    }
    const call: Call = { done, giveUp: null };
    call.giveUp = this.#clock.after(TIMEOUT_MS, () => {
      call.giveUp = null;
      this.late += 1;
      done(FAILED, { status: null, afterMs: null, failed: 'timeout' });
    });
    this.#waiting.push(call);
    this.#work();
  }

  #work(): void {
    while (this.#working < this.nature.workers) {
      const call = this.#waiting.shift();
      if (call === undefined) return;
      this.#working += 1;
      // Work takes from half as long to half as long again.
      this.#clock.after(this.nature.workMs * (0.5 + this.#draw()), () => {
        this.#working -= 1;
        this.#answer(call);
        this.#work();
      });
    }
  }

  #answer(call: Call): void {
    if (call.giveUp === null) return;
    call.giveUp();
    const { failing } = this.nature;
    if (failing !== undefined && this.#draw() < failing.share) {
      this.failed += 1;
      call.done(FAILED, { status: failing.status, afterMs: null });
      return;
    }
    this.good += 1;
    call.done(OK, { status: 200, afterMs: null });
  }
}
