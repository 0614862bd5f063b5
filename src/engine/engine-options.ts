import { type Clock, type Draw } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { type Tracing } from '../kernel/tracing.ts';
import { type DeadLetters, type Flow, type Schemas, type Source, type TopicPartition } from './ports.ts';
import { type PressureLimits } from './pressure.ts';

/** What an engine works with and on, and its limits. */
export interface EngineOptions {
  readonly source: Source;
  /** The flow of each topic that is read. */
  readonly flows: ReadonlyMap<string, Flow<unknown, unknown>>;
  readonly deadLetters: DeadLetters;
  readonly schemas: Schemas;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
  readonly commitIntervalMs: number;
  /** Identity of the offset maps: the cluster, as `clusterHashOf` writes it, and this process, or what else its commits say of a partition. */
  readonly clusterHash: string;
  readonly nonce: string | ((at: TopicPartition) => string);
  /** Commit every partition once when reading begins, also where nothing has ended: so the nonce is in the group before anything is sent. Default false. */
  readonly commitsStart?: boolean;
  /** `topic:partition:offset` of records that become dead letters when they are read. */
  readonly parked: ReadonlySet<string>;
  /** What to do where the committed offset is not in the log any more: read on, or hold the partition until somebody has looked. */
  readonly onGap: 'earliest' | 'stop';
  /** How long a barrier before a join may take; a third of the session. */
  readonly barrierMs: number;
  readonly pressure: PressureLimits;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
}
