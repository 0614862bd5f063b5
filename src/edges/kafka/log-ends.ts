import { type Kafka } from 'kafkajs';

/** What kafkajs makes an admin's connections with; a symbol of its own. */
const CREATE_CLUSTER = 'private:Kafka:createCluster';
const READ_UNCOMMITTED = 0;

type CreateCluster = (options: object) => unknown;

/**
 * Lets the admins of a client tell the ends of logs (the high watermark) in place of the ends of what may be read (the
 * last stable offset, KIP-98), behind which an open transaction keeps records, those of others as well. Both are needed:
 * nothing may be concluded from a log that has an end we cannot see, and no source is ill that does not read beyond what
 * may be read. kafkajs has the option for its consumers only. Of another version than 2.2.4 nothing is changed.
 */
export function tellingLogEnds(kafka: Kafka): Kafka {
  for (const symbol of Object.getOwnPropertySymbols(kafka)) {
    const create: unknown = Reflect.get(kafka, symbol);
    if (symbol.description !== CREATE_CLUSTER || typeof create !== 'function') continue;
    const original = create as CreateCluster;
    const uncommitted: CreateCluster = (options) => original({ ...options, isolationLevel: READ_UNCOMMITTED });
    Reflect.set(kafka, symbol, uncommitted);
  }
  return kafka;
}
