import { type EngineStatus, type PauseReason } from '../engine/ports.ts';
import { type HoldCause } from '../kernel/outcome.ts';
import { type BreakerReport, type GuardReport } from '../resilience/ports.ts';

/** `failed`: the process is about to end by a fault. */
export type HealthPhase = 'starting' | 'running' | 'stopping' | 'stopped' | 'failed';

/** Something that waits, why, since when, and what to do about it. */
export interface HoldReport {
  readonly scope: string;
  readonly cause: HoldCause;
  /** Null where it is not counted in records. */
  readonly records: number | null;
  readonly ageMs: number;
  /** Class and code of what went wrong, from closed lists; null: not known, or of none of them. */
  readonly error: string | null;
  /** Of a record that failed last, as `topic:partition:offset`; null: there is none. */
  readonly position: string | null;
  /** Only some records wait for it: their flow goes on. */
  readonly partial: boolean;
  readonly means: string;
  readonly mend: string;
}

/** How one partition stands; offsets are decimal texts, because they may be larger than a JSON number. */
export interface PartitionReport {
  readonly topic: string;
  readonly partition: number;
  readonly next: string;
  readonly committable: string;
  readonly committed: string | null;
  readonly highWatermark: string;
  readonly lag: string;
  readonly buffered: number;
  readonly paused: boolean;
  /** Why it is not read now; empty: it is. */
  readonly pauses: readonly PauseReason[];
  readonly oldestUnfinishedAgeMs: number | null;
}

/** What keeps the calls of one flow from going out; everything in words and milliseconds from now. */
export interface GateHealth {
  readonly flow: string;
  readonly breaker: {
    readonly state: BreakerReport['state'];
    readonly why: HoldCause | null;
    readonly forMs: number;
    readonly probeInMs: number | null;
  };
  readonly deadLetterGuard: {
    readonly state: GuardReport['state'];
    readonly forMs: number;
    /** When it permits dead letters again; null while it does. */
    readonly permitsInMs: number | null;
    /** Dead letters that may still follow one another. */
    readonly budget: number;
  };
  /** For how long the service has asked to be left alone; null: it has not. */
  readonly pausedForMs: number | null;
  /** Requests at once, as found out from the answers; null: SCORING_LIMIT is `fixed`. */
  readonly concurrencyLimit: number | null;
}

export interface FlowReport {
  readonly name: string;
  readonly ready: boolean;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly inFlight: number;
  readonly buffered: number;
  readonly bufferedBytes: number;
  /** Keys that wait for a cause, or that nothing may be sent of; the records behind their first one wait with it. */
  readonly heldKeys: number;
  readonly waits: readonly HoldReport[];
}

/** What became of the webhooks that came since the start. */
export interface ReviewsReport {
  /** Whether webhooks can be taken and published now. */
  readonly ready: boolean;
  /** Answered 200: the sum of the next three. */
  readonly accepted: number;
  /** Written to the topic of reviews. */
  readonly published: number;
  /** Repeats of what was written before. */
  readonly duplicate: number;
  /** Authentic and not understood: dead-lettered. */
  readonly parked: number;
  /** Answered 503, because Kafka or the registry did not answer: the sender repeats them. */
  readonly unavailable: number;
  /** Answered 4xx, by reason; only reasons that came. */
  readonly refused: Readonly<Record<string, number>>;
}

/** What a kill -9 now would do a second time at most, of one flow, in records. */
export interface DuplicateBound {
  readonly flow: string;
  /** The bound: the sum of the next three. */
  readonly records: number;
  /** Steps under way: at the service, in an open or sent batch, or being written to Kafka. */
  readonly inFlight: number;
  /** Answered by the service; their score or letter waits for Kafka. */
  readonly answered: number;
  /** Ended, and in neither the committed offset nor the committed map of finished offsets. */
  readonly unsaved: number;
  /** For how long there have been unsaved ones, in ms; null: there are none. */
  readonly unsavedForMs: number | null;
}

/** What `/status` answers: plain JSON for people and programs; codes, counts and offsets only. */
export interface HealthReport {
  /** When this was said, in ms since 1970. */
  readonly atMs: number;
  readonly version: string;
  readonly account: string;
  readonly phase: HealthPhase;
  /** The engine's own phase; null: none runs. */
  readonly engine: EngineStatus['phase'] | null;
  /** False: only a restart helps. */
  readonly live: boolean;
  /** Whether webhooks may be sent here; where none are taken, whether the group has been joined once. */
  readonly ready: boolean;
  readonly phaseForMs: number;
  readonly upForMs: number;
  readonly holds: readonly HoldReport[];
  readonly flows: readonly FlowReport[];
  /** Null: no webhooks are taken here. */
  readonly reviews: ReviewsReport | null;
  readonly gates: readonly GateHealth[];
  /** What a kill -9 now would do a second time at most. */
  readonly duplicateBound: readonly DuplicateBound[];
  readonly partitions: readonly PartitionReport[];
}
