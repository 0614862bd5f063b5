import { type SourceEvents } from '../../engine/ports.ts';
import { type Clock } from '../../kernel/clock.ts';
import { type AssignUnits, type Assignor } from './assigner.ts';
import { type KafkaClient } from './client.ts';
import { type FenceFeed } from './fence-feed.ts';
import { type ReadLimits } from './fetched-partition.ts';
import { type OffsetReader } from './offset-reader.ts';

/** What one membership of a group is made from, and whom it tells. */
export interface MemberOptions {
  readonly client: KafkaClient;
  readonly groupId: string;
  readonly sessionTimeoutMs: number;
  readonly topics: readonly string[];
  readonly limits: ReadLimits;
  readonly clock: Clock;
  readonly draw: () => number;
  readonly fence: FenceFeed;
  readonly offsets: OffsetReader;
  readonly assignor: Assignor;
  readonly assign: AssignUnits;
  /** After this long what is known of the topics is asked for again: so new partitions are noticed. */
  readonly metadataMaxAgeMs: number;
  readonly onMismatch?: (partitions: Readonly<Record<string, number>>) => void;
  readonly events: Omit<SourceEvents, 'lost'>;
  /** A try to ask for offsets failed; it is repeated. */
  readonly onAskFailed: (error: string) => void;
  /** Offsets were answered after tries that failed. */
  readonly onAnswered: () => void;
  /** Once: the membership is over. */
  readonly onEnd: (error: string) => void;
}
