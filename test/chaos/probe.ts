import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Shops } from '../../src/sandbox/shops.ts';
import { type Mail } from './mail.ts';
import { isOdd } from './odd-kinds.ts';
import { type Stage } from './stage.ts';

/** After the faults, a fresh payment, its status and a webhook go through within this. */
export const PROBE_LIMIT_MS = 60_000;

/** One payment, its status and one webhook after all faults: how long until they were through; null: not within a minute. */
export async function probe(
  { config, writer, service }: Pick<Stage, 'config' | 'writer' | 'service'>,
  { shops, mail }: { readonly shops: Shops; readonly mail: Mail },
): Promise<{ readonly tookMs: number | null; readonly transId: string; readonly isWritten: boolean }> {
  const beganMs = performance.now();
  let payment = shops.payment(Date.now());
  while (isOdd(payment.transId)) payment = shops.payment(Date.now());
  const { key, created, authorized, transId } = payment;
  const { created: topic, authorized: statuses } = config.topics;
  const write = async (to: string, value: object): Promise<boolean> => {
    const record = { topic: to, key: Buffer.from(key), value: Buffer.from(JSON.stringify(value)), headers: {} };
    return (await writer.write(record, PROBE_LIMIT_MS)).do === 'written';
  };
  const isWritten = (await write(topic, created)) && (await write(statuses, authorized(Date.now())));
  const letter = mail.send({ isForged: false });
  while (performance.now() - beganMs < PROBE_LIMIT_MS) {
    const seen = service.ledger().transaction(transId);
    if (seen !== null && seen.scored > 0 && seen.updateCount > 0 && letter.answers.includes(200))
      return { tookMs: Math.round(performance.now() - beganMs), transId, isWritten };
    await sleep(50);
  }
  return { tookMs: null, transId, isWritten };
}
