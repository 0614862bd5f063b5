import { type Cancel, type Clock } from '../../kernel/clock.ts';
import { type Fence } from '../../kernel/fence.ts';

const TICK_MS = 100;
const FROZEN_MS = 2000;
const LEASE_SHARE = 0.6;

/**
 * The fence, fed by the group membership. It lets bytes out only while all of this is true:
 * - the member is assigned and not in a rebalance (`open`);
 * - its lease runs: what was answered last was SENT less than 0.6 of the session ago. When it was answered says nothing:
 *   a process that wakes up finds old answers in its socket;
 * - the process was not stopped for 2 s since: a tick that comes late, or does not come, closes the fence until a
 *   heartbeat that was sent afterwards has been answered.
 *
 * An answered heartbeat prolongs a lease that runs, and begins none: a coordinator that still reads the group from its
 * log answers every heartbeat without an error, also one of a member that was evicted long ago. While the lease runs that
 * is no harm: nobody can have evicted the member yet, and who has read the log grants it a whole session. After a lapse
 * only a sync of the present generation counts, which such a coordinator refuses.
 */
export class FenceFeed implements Fence {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  #open = false;
  /** Of the last heartbeat that was answered. */
  #heartbeatAtMs: number | null = null;
  /** The lease runs from here. */
  #leasedAtMs: number | null = null;
  #frozenAtMs: number | null = null;
  #tickedAtMs: number | null = null;
  #cancel: Cancel | null = null;

  constructor(options: { readonly clock: Clock; readonly sessionTimeoutMs: number }) {
    this.#clock = options.clock;
    this.#leaseMs = LEASE_SHARE * options.sessionTimeoutMs;
  }

  mayWrite(): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#look(nowMs);
    return (
      this.#open && this.#frozenAtMs === null && this.#leasedAtMs !== null && !this.#isOver(this.#leasedAtMs, nowMs)
    );
  }

  /** Begins to watch for stops of the process. */
  start(): void {
    if (this.#cancel !== null) return;
    this.#tickedAtMs = this.#clock.monotonicMs();
    this.#cancel = this.#clock.after(TICK_MS, this.#tick);
  }

  /** Closes for good, until the next `start`. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#tickedAtMs = null;
    this.#open = false;
    this.#heartbeatAtMs = null;
    this.#leasedAtMs = null;
  }

  /** The membership is settled. */
  open(): void {
    this.#open = true;
  }

  /** A rebalance, or the end of the membership. */
  close(): void {
    this.#open = false;
  }

  /** A heartbeat that was sent then has been answered without an error; monotonic. */
  answered(sentAtMs: number): void {
    this.#heartbeatAtMs = latest(this.#heartbeatAtMs, sentAtMs);
    if (this.#leasedAtMs !== null && !this.hasLapsed) this.#lease(sentAtMs);
  }

  /** A sync of the present generation that was sent then has been answered without an error; monotonic. */
  confirmed(sentAtMs: number): void {
    this.#heartbeatAtMs = latest(this.#heartbeatAtMs, sentAtMs);
    this.#lease(sentAtMs);
  }

  /** The lease has run out: no heartbeat brings it back, `confirmed` does. */
  get hasLapsed(): boolean {
    return this.#leasedAtMs !== null && this.#isOver(this.#leasedAtMs, this.#clock.monotonicMs());
  }

  /** When the last heartbeat (or sync) was sent that has been answered, monotonic; null: none was, or the feed has stopped. */
  get heartbeatAtMs(): number | null {
    return this.#heartbeatAtMs;
  }

  #lease(sentAtMs: number): void {
    this.#leasedAtMs = latest(this.#leasedAtMs, sentAtMs);
    if (this.#frozenAtMs !== null && sentAtMs > this.#frozenAtMs) this.#frozenAtMs = null;
  }

  #isOver(leasedAtMs: number, nowMs: number): boolean {
    return nowMs - leasedAtMs >= this.#leaseMs;
  }

  readonly #tick = (): void => {
    const nowMs = this.#clock.monotonicMs();
    this.#look(nowMs);
    this.#tickedAtMs = nowMs;
    this.#cancel = this.#clock.after(TICK_MS, this.#tick);
  };

  #look(nowMs: number): void {
    if (this.#tickedAtMs !== null && nowMs - this.#tickedAtMs > TICK_MS + FROZEN_MS) this.#frozenAtMs = nowMs;
  }
}

function latest(known: number | null, ms: number): number {
  return known === null ? ms : Math.max(known, ms);
}
