import { type Cancel, type Clock } from '../../kernel/clock.ts';
import { type Fence } from '../../kernel/fence.ts';

const TICK_MS = 100;
const FROZEN_MS = 2000;
const LEASE_SHARE = 0.6;

/**
 * The fence, fed by the group membership. It lets bytes out only while all of this is true:
 * - the member is assigned and not in a rebalance (`open`);
 * - the last answered heartbeat was SENT less than 0.6 of the session ago. When it was answered says nothing: a process
 *   that wakes up finds old answers in its socket;
 * - the process was not stopped for 2 s since: a tick that comes late, or does not come, closes the fence until a
 *   heartbeat that was sent afterwards has been answered.
 */
export class FenceFeed implements Fence {
  readonly #clock: Clock;
  readonly #leaseMs: number;
  #open = false;
  #sentAtMs: number | null = null;
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
    return this.#open && this.#frozenAtMs === null && this.#sentAtMs !== null && nowMs - this.#sentAtMs < this.#leaseMs;
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
    this.#sentAtMs = null;
  }

  /** The membership is settled. */
  open(): void {
    this.#open = true;
  }

  /** A rebalance, or the end of the membership. */
  close(): void {
    this.#open = false;
  }

  /** The broker has answered, without an error, a heartbeat (or the sync of a join) that was sent then; monotonic. */
  answered(sentAtMs: number): void {
    if (this.#sentAtMs === null || sentAtMs > this.#sentAtMs) this.#sentAtMs = sentAtMs;
    if (this.#frozenAtMs !== null && sentAtMs > this.#frozenAtMs) this.#frozenAtMs = null;
  }

  /** When the last heartbeat was sent that has been answered, monotonic; null: none was, or the feed has stopped. */
  get heartbeatAtMs(): number | null {
    return this.#sentAtMs;
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
