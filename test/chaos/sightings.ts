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
  /** Null: no answer that counts; it never left, because the client was gone, or it was none by intent. */
  readonly status: number | null;
}

/** One login, as seen at the service's door. `performance.now()`. */
export interface Login {
  readonly owner: string;
  readonly startedMs: number;
  /** Null: still open. */
  readonly endedMs: number | null;
  /** Null: it never left. */
  readonly status: number | null;
}

/** A webhook and what became of it. */
export interface Letter {
  readonly id: string;
  /** Not signed by the service: it must never be accepted. */
  readonly isForged: boolean;
  /** When its first attempt left; `performance.now()`. */
  readonly atMs: number;
  /** Of each attempt; null: no answer. */
  readonly answers: readonly (number | null)[];
}

/** A record that is in a topic. Times: milliseconds since 1970. */
export interface Logged extends Place {
  readonly key: string;
  readonly transId: string;
  readonly timestampMs: number;
}

export interface TopicContents {
  readonly created: readonly Logged[];
  readonly authorized: readonly Logged[];
  /** The trans_ids of the score records. */
  readonly scored: ReadonlySet<string>;
  /** The trans_ids of the review records; one that is there twice is counted in `reviewRecords`. */
  readonly reviewed: ReadonlySet<string>;
  readonly reviewRecords: number;
  /** Records that were deleted before the end, by topic, partition and offset; no longer in the topics above. */
  readonly erased: readonly Logged[];
  /** Those of payments and statuses that have no trans_id that can be read. */
  readonly unreadable: readonly Place[];
  /** What is in any dead-letter topic. */
  readonly letters: readonly DeadLetter[];
}

/** Where a record is, or was. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** A dead letter, by the record that it stands for; of a webhook the topic is `webhook`. */
export interface DeadLetter extends Place {
  readonly reason: string;
  /** When it was written; milliseconds since 1970. */
  readonly timestampMs: number;
}

/** Whether an answer with this status is one of success. */
export function isSuccess(status: number | null): boolean {
  return status !== null && status >= 200 && status < 300;
}

/** What a connector said a kill -9 would repeat at most. */
export interface SaidBound {
  /** When it was asked; `performance.now()`. */
  readonly askedMs: number;
  readonly records: number;
}

/** How one life of a connector ended. */
export interface LifeEnd {
  readonly owner: string;
  readonly how: 'stop' | 'kill' | 'crash';
  /** When it was asked, or noticed; `performance.now()`. */
  readonly atMs: number;
  readonly code: number | null;
  /** Of a kill: what it had said right before; null or absent: it did not answer. */
  readonly said?: SaidBound | null;
}

/** One SIGSTOP to SIGCONT, until the life that woke was given its partitions anew. `performance.now()`. */
export interface Freeze {
  readonly owner: string;
  readonly fromMs: number;
  readonly toMs: number;
  /** Null: never after it woke. */
  readonly assignedMs: number | null;
}
