import pLimit from 'p-limit';
import { post } from './post.ts';
import { openConsumer, SETTINGS } from './settings.ts';

/**
 * What is written when `eachMessage` is too slow: all records of a batch at once behind one limit, and the offset of the
 * last one when all have ended. As fast as the limit allows, in no order.
 */
const limit = pLimit(SETTINGS.concurrency);
const consumer = await openConsumer();
await consumer.run({
  autoCommitInterval: SETTINGS.commitMs,
  eachBatchAutoResolve: true,
  partitionsConsumedConcurrently: SETTINGS.partitions,
  eachBatch: async (payload) => {
    await Promise.all(
      payload.batch.messages.map(
        async ({ value }) =>
          await limit(async () => {
            await post(value);
          }),
      ),
    );
    await payload.heartbeat();
  },
});
