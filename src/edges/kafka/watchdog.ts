/** How long a partition that should be read may be silent before its source is suspected. */
export const SILENT_MS = 120_000;
/** How often the watchdog looks. */
export const LOOK_MS = 10_000;
/** A lag that is younger may be a record that has just been written. */
const LAG_MS = 30_000;
/** Heartbeats are ten to a session; a member whose heartbeats fail has crashed or been evicted long before this. */
const SILENT_SESSIONS = 4;

/** What the watchdog knows of one partition that is to be read (unpaused, its next offset known). */
export interface Watched {
  readonly topic: string;
  readonly partition: number;
  /** The next offset to be read. */
  readonly expected: bigint;
}

export type WatchVerdict =
  | { readonly do: 'nothing' }
  /** Silent for so long that the log's ends are needed to tell idleness from a hang. */
  | { readonly do: 'ask'; readonly topics: readonly string[] }
  | { readonly do: 'end'; readonly error: 'WATCHDOG_NO_HEARTBEAT' | 'WATCHDOG_NO_FETCH' };

interface Silence {
  readonly expected: bigint;
  readonly sinceMs: number;
  /** Since when the log is known to hold more than has been read; null: not known. */
  lagSinceMs: number | null;
}

/**
 * Suspects the source, and nothing else: decides when a membership that neither fails nor works is to be ended.
 *
 * - No heartbeat (or sync of a join) has been answered for 120 s, or four sessions if that is longer.
 * - A partition that is to be read has not moved for 120 s, and its log has held more than was read for 30 s of them.
 *
 * A partition that the engine has paused is never suspect: records that wait for a neighbour are a hold, which says so
 * itself. Time is counted in looks, at most two a time: what a stopped process has slept through does not count.
 */
export class Watchdog {
  readonly #heartbeatMs: number;
  readonly #silences = new Map<string, Silence>();
  #lastLookMs: number | null = null;
  #awakeMs = 0;
  #heartbeatAtMs = 0;

  constructor(sessionTimeoutMs: number) {
    this.#heartbeatMs = Math.max(SILENT_MS, SILENT_SESSIONS * sessionTimeoutMs);
  }

  /** A heartbeat, or the sync of a join, has been answered. */
  heartbeat(): void {
    this.#heartbeatAtMs = this.#awakeMs;
  }

  /** One look, every `LOOK_MS`: what is to be done about the partitions that are to be read now. */
  look(nowMs: number, reading: readonly Watched[]): WatchVerdict {
    if (this.#lastLookMs !== null) this.#awakeMs += Math.min(nowMs - this.#lastLookMs, 2 * LOOK_MS);
    this.#lastLookMs = nowMs;
    if (this.#awakeMs - this.#heartbeatAtMs >= this.#heartbeatMs) return { do: 'end', error: 'WATCHDOG_NO_HEARTBEAT' };
    this.#note(reading);
    const silent = [...this.#silences.values()].filter(({ sinceMs }) => this.#awakeMs - sinceMs >= SILENT_MS);
    if (silent.some(({ lagSinceMs }) => lagSinceMs !== null && this.#awakeMs - lagSinceMs >= LAG_MS))
      return { do: 'end', error: 'WATCHDOG_NO_FETCH' };
    const topics = new Set(
      reading.filter((of) => this.#awakeMs - this.#sinceMs(of) >= SILENT_MS).map(({ topic }) => topic),
    );
    return topics.size === 0 ? { do: 'nothing' } : { do: 'ask', topics: [...topics] };
  }

  /** The log's ends, as asked for: which of the silent partitions lag. */
  ends(topic: string, highs: readonly { readonly partition: number; readonly high: bigint }[]): void {
    for (const { partition, high } of highs) {
      const silence = this.#silences.get(nameOf({ topic, partition }));
      if (silence === undefined) continue;
      if (high > silence.expected) silence.lagSinceMs ??= this.#awakeMs;
      else silence.lagSinceMs = null;
    }
  }

  /** A partition that has moved, or is not to be read any more, begins anew. */
  #note(reading: readonly Watched[]): void {
    const names = new Set(reading.map(nameOf));
    for (const name of this.#silences.keys()) if (!names.has(name)) this.#silences.delete(name);
    for (const at of reading)
      if (this.#silences.get(nameOf(at))?.expected !== at.expected)
        this.#silences.set(nameOf(at), { expected: at.expected, sinceMs: this.#awakeMs, lagSinceMs: null });
  }

  #sinceMs(at: Watched): number {
    return this.#silences.get(nameOf(at))?.sinceMs ?? this.#awakeMs;
  }
}

function nameOf({ topic, partition }: Pick<Watched, 'topic' | 'partition'>): string {
  return `${topic} ${String(partition)}`;
}
