import { type Draw } from '../kernel/clock.ts';

const FIRST_MS = 200;
const MOST_MS = 30_000;
/** 200 ms doubled this often is beyond the most. */
const DOUBLINGS = 8;

/**
 * How long to wait after failed attempt number `attempt` (from 1): anything between nothing and a ceiling of 200 ms that
 * doubles up to 30 s. The whole range is drawn from, so that lanes that failed together do not come back together.
 */
export function fullJitter(attempt: number, draw: Draw): number {
  const doublings = Math.min(Math.max(attempt - 1, 0), DOUBLINGS);
  return draw() * Math.min(MOST_MS, FIRST_MS * 2 ** doublings);
}

/** The wait that the other side asked for by `Retry-After`, spread by up to a second for the same reason; else as `fullJitter`. */
export function retryWait(afterMs: number | null, attempt: number, draw: Draw): number {
  return afterMs === null ? fullJitter(attempt, draw) : afterMs + draw() * 1_000;
}
