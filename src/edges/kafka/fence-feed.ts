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
 *   heartbeat that was sent afterwards has been answered;
 * - the machine was not suspended since. Its monotonic clock stands still meanwhile (CLOCK_MONOTONIC), so neither the
 *   lease nor a late tick shows it. A wall clock that ran 2 s further ahead does: then the lease counts as lapsed, however
 *   young it looks. A wall clock that is set forward looks alike and costs one confirmation; one that is set back or
 *   slewed does nothing.
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
  /** The last look while the feed runs: by the monotonic clock, and by the wall clock. */
  #lookedAt: { readonly monotonicMs: number; readonly wallMs: number } | null = null;
  /** The machine may have been suspended until then: what was sent before proves nothing. */
  #suspendedUntilMs = -Infinity;
  #cancel: Cancel | null = null;

  constructor(options: { readonly clock: Clock; readonly sessionTimeoutMs: number }) {
    this.#clock = options.clock;
    this.#leaseMs = LEASE_SHARE * options.sessionTimeoutMs;
  }

  mayWrite(): boolean {
    this.#look();
    const nowMs = this.#clock.monotonicMs();
    return (
      this.#open && this.#frozenAtMs === null && this.#leasedAtMs !== null && !this.#isOver(this.#leasedAtMs, nowMs)
    );
  }

  /** Begins to watch for stops of the process. */
  start(): void {
    if (this.#cancel !== null) return;
    this.#lookedAt = this.#times();
    this.#cancel = this.#clock.after(TICK_MS, this.#tick);
  }

  /** Closes for good, until the next `start`. */
  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
    this.#lookedAt = null;
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
    this.#look();
    this.#heartbeatAtMs = latest(this.#heartbeatAtMs, sentAtMs);
    if (this.#leasedAtMs !== null && !this.hasLapsed) this.#lease(sentAtMs);
  }

  /** A sync of the present generation that was sent then has been answered without an error; monotonic. */
  confirmed(sentAtMs: number): void {
    this.#look();
    this.#heartbeatAtMs = latest(this.#heartbeatAtMs, sentAtMs);
    // Of before a suspension it begins a lease that has lapsed: so another one is asked for.
    this.#lease(sentAtMs > this.#suspendedUntilMs ? sentAtMs : -Infinity);
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
    this.#look();
    this.#lookedAt = this.#times();
    this.#cancel = this.#clock.after(TICK_MS, this.#tick);
  };

  /** Closes the fence if the process has stood still since the last look, or the machine has. */
  #look(): void {
    if (this.#lookedAt === null) return;
    const now = this.#times();
    const passedMs = now.monotonicMs - this.#lookedAt.monotonicMs;
    const isSuspended = now.wallMs - this.#lookedAt.wallMs - passedMs > FROZEN_MS;
    if (passedMs <= TICK_MS + FROZEN_MS && !isSuspended) return;
    this.#lookedAt = now;
    this.#frozenAtMs = now.monotonicMs;
    if (!isSuspended) return;
    this.#suspendedUntilMs = now.monotonicMs;
    if (this.#leasedAtMs !== null) this.#leasedAtMs = -Infinity;
  }

  #times(): { readonly monotonicMs: number; readonly wallMs: number } {
    return { monotonicMs: this.#clock.monotonicMs(), wallMs: this.#clock.nowMs() };
  }
}

function latest(known: number | null, ms: number): number {
  return known === null ? ms : Math.max(known, ms);
}
