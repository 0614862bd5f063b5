import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { testimonies } from './witnesses.ts';

/**
 * Asks until the answer is neither null nor false, and gives it; rejects after `limitMs` with what was waited for, and with
 * what witnesses have to say. For real parts only.
 */
export async function eventually<T>(
  what: string,
  ask: () => T | null | false | Promise<T | null | false>,
  limitMs = 30_000,
): Promise<T> {
  const sinceMs = performance.now();
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== false) return answer;
    if (performance.now() - sinceMs > limitMs) {
      const said = `it did not come to this within ${String(limitMs)} ms: ${what}`;
      const load = `load ${loadavg().join(', ')}`;
      throw new Error([said, load, ...(await testimonies(sinceMs))].join('\n\n'));
    }
    await sleep(20);
  }
}
