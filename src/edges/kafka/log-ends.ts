import { type Kafka } from 'kafkajs';
import { wrapCreateCluster } from './cluster-internals.ts';

const READ_UNCOMMITTED = 0;

/**
 * Lets the admins of a client tell the ends of logs (the high watermark) in place of the ends of what may be read (the
 * last stable offset, KIP-98), behind which an open transaction keeps records, those of others as well. Both are needed:
 * nothing may be concluded from a log that has an end we cannot see, and no source is ill that does not read beyond what
 * may be read. kafkajs has the option for its consumers only. Of another version than 2.2.4 nothing is changed.
 */
export function tellingLogEnds(kafka: Kafka): Kafka {
  wrapCreateCluster(kafka, (create) => (options) => create({ ...options, isolationLevel: READ_UNCOMMITTED }));
  return kafka;
}
