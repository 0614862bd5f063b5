/** One id in one request to the screening service, as seen at the service's door. Times: `performance.now()` of the harness. */
export interface Sighting {
  readonly kind: 'score' | 'sync';
  /** The life that asked: connector and number of its start, for example `2.5`. */
  readonly owner: string;
  readonly transId: string;
  /** The customer; null for status updates. */
  readonly key: string | null;
  /** The whole body was here. */
  readonly startedMs: number;
  /** The answer left, or the connection was gone; null: still open. */
  readonly endedMs: number | null;
  /** Null: it never left, because the client was gone. */
  readonly status: number | null;
}

/** A record that is in a topic. Times: milliseconds since 1970. */
export interface Logged {
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly transId: string;
  readonly timestampMs: number;
}

export interface TopicContents {
  readonly created: readonly Logged[];
  readonly authorized: readonly Logged[];
  /** The trans_ids of the score records. */
  readonly scored: ReadonlySet<string>;
  /** Letters in any dead-letter topic. */
  readonly letters: number;
}

/** How one life of a connector ended. */
export interface LifeEnd {
  readonly owner: string;
  readonly how: 'stop' | 'kill' | 'crash';
  /** When it was asked, or noticed; `performance.now()`. */
  readonly atMs: number;
  readonly code: number | null;
}

/** One SIGSTOP to SIGCONT, until the life that woke was given its partitions anew. `performance.now()`. */
export interface Freeze {
  readonly owner: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Null: never after it woke. */
  readonly assignedMs: number | null;
}
