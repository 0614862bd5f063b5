import { type Config } from '../../config/config.ts';
import { type KafkaClient } from '../../edges/kafka/client.ts';
import { type FenceFeed } from '../../edges/kafka/fence-feed.ts';
import { createKafkaSource } from '../../edges/kafka/source.ts';
import { assignUnits } from '../../engine/assignment.ts';
import { clusterHashOf } from '../../engine/offset-map.ts';
import { barrierMs, readLimitsOf } from '../parts.ts';
import { type PassParts } from './run-pass.ts';

/**
 * A dead letter is a record and some kilobytes more, and may have been written under another RECORD_MAX_BYTES, which is at
 * most 64 MiB. What a flow makes of its record is bounded by the option all the same.
 */
const LETTER_MAX_BYTES = 65 * 1024 * 1024;

/** What a command reads topics with. */
export interface ReadingParts extends Pick<PassParts, 'schemas' | 'clock' | 'draw' | 'emit' | 'stop'> {
  readonly config: Config;
  readonly client: KafkaClient;
  /** Learns whether bytes may leave; where nothing is sent, nothing asks it. */
  readonly fence: FenceFeed;
}

/** The parts of all passes of a command, once it is known which cluster it reads. */
export function passPartsOf(parts: ReadingParts, clusterId: string): PassParts {
  const { config, client, fence, schemas, clock, draw, emit, stop } = parts;
  const { commitIntervalMs, drainTimeoutMs, buffer } = config;
  const { sessionTimeoutMs } = config.kafka;
  const limits = { ...readLimitsOf(config), recordMaxBytes: LETTER_MAX_BYTES };
  return {
    sourceOf: (groupId, topic) => {
      const member = { client, groupId, sessionTimeoutMs, topics: [topic], assign: assignUnits };
      return createKafkaSource({ ...member, limits, clock, draw, emit, fence });
    },
    schemas,
    clock,
    draw,
    emit,
    clusterHash: clusterHashOf(clusterId),
    commitIntervalMs,
    drainTimeoutMs,
    barrierMs: barrierMs(sessionTimeoutMs),
    buffer,
    stop,
  };
}
