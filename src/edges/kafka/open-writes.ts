import { type OutgoingRecord, type WriteOutcome } from '../../engine/ports.ts';
import { type Cancel, type Clock } from '../../kernel/clock.ts';
import { type Outgoing } from './partition-queue.ts';

/** About what a record costs beyond its key, value and headers. */
const RECORD_OVERHEAD = 70;

export interface OpenWritesOptions {
  readonly clock: Clock;
  /** What those are told whose time has run out. */
  readonly late: () => WriteOutcome;
}

/**
 * The records whose writers wait for an outcome, each for its own time at most. One timer serves all of them: it is set
 * for the earliest end, and there is none while nobody waits.
 */
export class OpenWrites {
  readonly #options: OpenWritesOptions;
  readonly #open = new Set<OpenWrite>();
  #alarm: { readonly atMs: number; readonly cancel: Cancel } | null = null;

  constructor(options: OpenWritesOptions) {
    this.#options = options;
  }

  /** `resolve` is called once, at the latest after `deadlineMs`. */
  add(record: OutgoingRecord, deadlineMs: number, resolve: (outcome: WriteOutcome) => void): Outgoing {
    const dueAtMs = this.#options.clock.monotonicMs() + deadlineMs;
    const write = new OpenWrite({ record, dueAtMs, resolve, end: this.#end });
    this.#open.add(write);
    this.#wakeBy(dueAtMs);
    return write;
  }

  settleAll(outcome: WriteOutcome): void {
    for (const write of this.#open) write.settle(outcome);
  }

  #wakeBy(atMs: number): void {
    if (this.#alarm !== null && this.#alarm.atMs <= atMs) return;
    this.#alarm?.cancel();
    const { clock } = this.#options;
    this.#alarm = { atMs, cancel: clock.after(atMs - clock.monotonicMs(), this.#ring) };
  }

  readonly #ring = (): void => {
    this.#alarm = null;
    const nowMs = this.#options.clock.monotonicMs();
    let nextAtMs = Infinity;
    for (const write of this.#open)
      if (write.dueAtMs <= nowMs) write.settle(this.#options.late());
      else nextAtMs = Math.min(nextAtMs, write.dueAtMs);
    if (nextAtMs < Infinity) this.#wakeBy(nextAtMs);
  };

  readonly #end = (write: OpenWrite): void => {
    this.#open.delete(write);
    if (this.#open.size > 0) return;
    this.#alarm?.cancel();
    this.#alarm = null;
  };
}

interface OpenWriteParts {
  readonly record: OutgoingRecord;
  readonly dueAtMs: number;
  readonly resolve: (outcome: WriteOutcome) => void;
  readonly end: (write: OpenWrite) => void;
}

class OpenWrite implements Outgoing {
  readonly record: OutgoingRecord;
  readonly bytes: number;
  readonly dueAtMs: number;
  readonly #resolve: (outcome: WriteOutcome) => void;
  readonly #end: (write: OpenWrite) => void;
  #isSettled = false;

  constructor({ record, dueAtMs, resolve, end }: OpenWriteParts) {
    this.record = record;
    this.bytes = sizeOf(record);
    this.dueAtMs = dueAtMs;
    this.#resolve = resolve;
    this.#end = end;
  }

  isSettled(): boolean {
    return this.#isSettled;
  }

  settle(outcome: WriteOutcome): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#end(this);
    this.#resolve(outcome);
  }
}

function sizeOf({ key, value, headers }: OutgoingRecord): number {
  let bytes = RECORD_OVERHEAD + (key?.length ?? 0) + (value?.length ?? 0);
  for (const name of Object.keys(headers)) {
    const held = headers[name];
    if (!Array.isArray(held)) bytes += name.length + (held?.length ?? 0);
    else for (const one of held) bytes += name.length + (one?.length ?? 0);
  }
  return bytes;
}
