import { Pool } from 'undici';
import { UPDATES_PER_BATCH } from '../compare-jobs.ts';
import { openConsumer, SETTINGS } from './settings.ts';

/**
 * The floor of status updates: the bytes of a hundred records joined, so many batches at once, and the offset of a fetch
 * when all of its batches have ended. No rule of the service is kept, nothing is read, ordered, retried or put aside.
 */
const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');
const pool = new Pool(SETTINGS.url.origin, { connections: SETTINGS.concurrency, pipelining: 1 });
const headers = { 'content-type': 'application/json' };
let room = SETTINGS.concurrency;
const waiting: (() => void)[] = [];

async function send(values: readonly Buffer[]): Promise<void> {
  if (room === 0) {
    await new Promise<void>((resolve) => {
      waiting.push(resolve);
    });
  } else room -= 1;
  const body = Buffer.concat([...values.flatMap((value, index) => [index === 0 ? OPEN : COMMA, value]), CLOSE]);
  const answer = await pool.request({ method: 'PATCH', path: SETTINGS.url.pathname, headers, body });
  await answer.body.dump();
  const next = waiting.shift();
  if (next === undefined) room += 1;
  else next();
}

const consumer = await openConsumer();
await consumer.run({
  autoCommitInterval: SETTINGS.commitMs,
  eachBatchAutoResolve: true,
  partitionsConsumedConcurrently: SETTINGS.partitions,
  eachBatch: async (payload) => {
    const values = payload.batch.messages.map(({ value }) => value ?? CLOSE);
    const sends: Promise<void>[] = [];
    for (let from = 0; from < values.length; from += UPDATES_PER_BATCH)
      sends.push(send(values.slice(from, from + UPDATES_PER_BATCH)));
    await Promise.all(sends);
    await payload.heartbeat();
  },
});
