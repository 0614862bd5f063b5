import { type Cancel, type Clock } from '../../kernel/clock.ts';
import { type Membership } from './coordinator-repair.ts';
import { type FenceFeed } from './fence-feed.ts';

/** While heartbeats fail they are tried as often as this, however long the session is. */
const FAILING_MS = 1000;
/** An answer that takes longer than this share of a session may never come. */
const LATE_SHARE = 0.25;
const LATE_AT_LEAST_MS = 1000;
/** As the interval of a heartbeat: it is due, however long ago kafkajs takes the last one to be. */
const AT_ONCE = -Infinity;

export interface HeartOptions {
  readonly clock: Clock;
  readonly sessionTimeoutMs: number;
  /** How often the broker is told that the member is alive. */
  readonly intervalMs: number;
  readonly fence: Pick<FenceFeed, 'hasLapsed' | 'confirmed'>;
  /** Null: not in a generation of the group now, so there is nobody to tell. */
  readonly membership: () => Membership | null;
}

/**
 * Sends heartbeats at their times, from `start` to `stop`, whatever the fetchers wait for: kafkajs sends its own between
 * fetches only, and its fetchers may wait for the brokers' metadata for as long as a partition has no leader. When an
 * answer is late it asks the other brokers who coordinates the group, and when the fence's lease has lapsed it has the
 * membership confirmed.
 *
 * An answer that refuses (a rebalance, an eviction) is not acted on here: kafkajs' own next heartbeat gets it too.
 */
export class Heart {
  readonly #options: HeartOptions;
  readonly #lateMs: number;
  #cancel: Cancel | null = null;
  /** When the heartbeat under way was begun, monotonic; null: none is. */
  #sinceMs: number | null = null;
  /** Of the membership, when the last one from here had ended. */
  #beats = 0;
  #failing = false;
  #looking = false;

  constructor(options: HeartOptions) {
    this.#options = options;
    this.#lateMs = Math.max(LATE_AT_LEAST_MS, LATE_SHARE * options.sessionTimeoutMs);
  }

  start(): void {
    if (this.#cancel === null) this.#next();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  #next(): void {
    const { clock, intervalMs } = this.#options;
    const isIll = this.#failing || this.#sinceMs !== null;
    this.#cancel = clock.after(isIll ? Math.min(intervalMs, FAILING_MS) : intervalMs, this.#tick);
  }

  readonly #tick = (): void => {
    const { clock, membership } = this.#options;
    const own = membership();
    if (own !== null) {
      if (this.#sinceMs === null) void this.#beat(own);
      else if (clock.monotonicMs() - this.#sinceMs >= this.#lateMs) void this.#look(own);
    }
    this.#next();
  };

  async #beat(own: Membership): Promise<void> {
    const { clock, intervalMs, fence } = this.#options;
    this.#sinceMs = clock.monotonicMs();
    try {
      // Half: it comes at this tick, though the last one was answered a little after its own. And whatever the time, where
      // none was answered since the last tick: kafkajs goes by the wall clock, and one that was set back stops its own.
      await own.heartbeat(own.beats === this.#beats ? AT_ONCE : intervalMs / 2);
      if (fence.hasLapsed) await this.#confirm();
      this.#failing = false;
    } catch {
      this.#failing = true;
    }
    this.#beats = own.beats;
    this.#sinceMs = null;
  }

  async #confirm(): Promise<void> {
    const { clock, fence, membership } = this.#options;
    const sentAtMs = clock.monotonicMs();
    // Asked anew: a join may have begun meanwhile, and a sync from here in the middle of it would be taken for the leader's.
    const own = membership();
    if (own === null) return;
    await own.confirm();
    fence.confirmed(sentAtMs);
  }

  async #look(own: Membership): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    await own.findCoordinator();
    this.#looking = false;
  }
}
