import { type Clock, type Draw, pause } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { type Fault, isFault } from '../kernel/fault.ts';
import { type HoldCause } from '../kernel/outcome.ts';
import { fullJitter } from '../resilience/backoff.ts';
import { type StopRequest } from '../lifecycle/stop-request.ts';

export interface PreflightParts {
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
  readonly stop: StopRequest;
}

const LEAST_WAIT_MS = 200;
const MOST_WAIT_MS = 5000;

/**
 * Tries until it succeeds, and says what it waits for, why and since when: a neighbour that is away at start is no reason
 * to end. Another reason is another hold. Faults of usage or configuration (exit 2) are not waited out. Null: a stop was asked for meanwhile.
 */
export async function untilThere<T>(
  parts: PreflightParts,
  hold: { readonly cause: HoldCause; readonly scope: string },
  attempt: () => Promise<T>,
): Promise<T | null> {
  const { clock, draw, emit, stop } = parts;
  let startedMs = clock.monotonicMs();
  let said = '';
  const end = (): void => {
    if (said !== '') emit('hold_ended', { ...hold, afterMs: Math.round(clock.monotonicMs() - startedMs) });
  };
  for (let tries = 0; stop.reason === null; tries += 1) {
    try {
      const found = await attempt();
      end();
      return found;
    } catch (error) {
      if (!isFault(error) || error.exit === 2) throw error;
      if (said !== error.message) {
        end();
        startedMs = clock.monotonicMs();
        said = error.message;
        emit('hold_started', { ...hold, error: said });
      }
    }
    const waitMs = LEAST_WAIT_MS + Math.min(MOST_WAIT_MS, fullJitter(tries, draw));
    await Promise.race([stop.asked(), pause(clock, waitMs)]);
  }
  return null;
}

/** The same attempt, made again for a while where a `Fault` of this code may only mean that Kafka has not spread the news yet. */
export async function givenAMoment<T>(
  clock: Clock,
  code: Fault['code'],
  momentMs: number,
  attempt: () => Promise<T>,
): Promise<T> {
  const untilMs = clock.monotonicMs() + momentMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (!isFault(error, code) || clock.monotonicMs() >= untilMs) throw error;
    }
    await pause(clock, LEAST_WAIT_MS);
  }
}
