/** Entries kept, the newest. */
const MAX_ENTRIES = 10_000;

/** `not_sent`: there was no URL to send it to. */
export type ActivityStatus = 'pending' | 'retrying' | 'delivered' | 'failed' | 'not_sent';

export const ACTIVITY_STATUSES: readonly ActivityStatus[] = ['pending', 'retrying', 'delivered', 'failed', 'not_sent'];

/** One webhook event and how far its delivery has come. Times are milliseconds since 1970. */
export interface ActivityEntry {
  readonly type: string;
  readonly transId: string;
  /** When the event occurred. */
  readonly at: number;
  status: ActivityStatus;
  attempts: number;
  /** Of the last attempt; null: none yet, or no answer. */
  httpStatus: number | null;
  lastAttemptAt: number | null;
  /** When it is tried again; null: never, or now. */
  nextAttemptAt: number | null;
}

export interface ActivityFilter {
  readonly status?: ActivityStatus;
  readonly type?: string;
  /** Included. */
  readonly fromMs?: number;
  /** Excluded. */
  readonly toMs?: number;
}

/** The activity log of webhook events (spec: What the service does): filterable by status, type and time, bounded. */
export class ActivityLog {
  #entries: ActivityEntry[] = [];

  add(entry: ActivityEntry): void {
    this.#entries.push(entry);
    if (this.#entries.length >= 2 * MAX_ENTRIES) this.#entries = this.#entries.slice(-MAX_ENTRIES);
  }

  /** Oldest first. */
  list(filter: ActivityFilter = {}): readonly Readonly<ActivityEntry>[] {
    const { status, type, fromMs = -Infinity, toMs = Infinity } = filter;
    return this.#entries.filter(
      (entry) =>
        (status === undefined || entry.status === status) &&
        (type === undefined || entry.type === type) &&
        entry.at >= fromMs &&
        entry.at < toMs,
    );
  }

  clear(): void {
    this.#entries = [];
  }
}
