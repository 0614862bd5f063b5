import { setTimeout as sleep } from 'node:timers/promises';

/** Asks until the answer is neither null nor false, and gives it; rejects with what was waited for after `limitMs`. For real parts only. */
export async function eventually<T>(
  what: string,
  ask: () => T | null | false | Promise<T | null | false>,
  limitMs = 30_000,
): Promise<T> {
  const deadlineMs = performance.now() + limitMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== false) return answer;
    if (performance.now() > deadlineMs)
      throw new Error(`it did not come to this within ${String(limitMs)} ms: ${what}`);
    await sleep(20);
  }
}
