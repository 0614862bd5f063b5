import { post } from './post.ts';
import { openConsumer, SETTINGS } from './settings.ts';

/**
 * kafkajs as its first page shows it: one record of a partition at a time, as many partitions at once as there are. In
 * order, and no faster than partitions ÷ latency.
 */
const consumer = await openConsumer();
await consumer.run({
  autoCommitInterval: SETTINGS.commitMs,
  partitionsConsumedConcurrently: SETTINGS.partitions,
  eachMessage: async ({ message }) => {
    await post(message.value);
  },
});
