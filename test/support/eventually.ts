import { setTimeout as sleep } from 'node:timers/promises';

/** Several processes and a broker share the cores of a small machine: this only catches what hangs. */
const HANGS_AFTER_MS = 90_000;

/** Asks until the answer is neither null nor false, and gives it; rejects with what was waited for after `limitMs`. For real parts only. */
export async function eventually<T>(
  what: string,
  ask: () => T | null | false | Promise<T | null | false>,
  limitMs = HANGS_AFTER_MS,
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
