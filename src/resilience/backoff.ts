import { type Draw } from '../kernel/clock.ts';

const FIRST_MS = 200;
const DEPENDENCY_MAX_MS = 30_000;
const RECORD_MAX_MS = 60_000;
/** 200 ms doubled this often is beyond every maximum. */
const DOUBLINGS = 9;
/** A wait that was asked for is spread by as much, so that those that were told the same do not come back together. */
const SPREAD_MS = 1_000;

/**
 * How long to wait for a dependency after failed attempt number `attempt` (from 1): anything between nothing and a ceiling
 * of 200 ms that doubles up to 30 s, so that those that failed together do not come back together.
 */
export function fullJitter(attempt: number, draw: Draw): number {
  return draw() * ceilingMs(attempt, DEPENDENCY_MAX_MS);
}

/**
 * How long a record waits after failed attempt number `attempt` (from 1): 200 ms that double up to a minute, half of it by
 * chance. Never next to nothing: a record that always fails must not take a slot from others again and again.
 */
export function backoffMs(attempt: number, draw: Draw): number {
  return ceilingMs(attempt, RECORD_MAX_MS) * (0.5 + draw() / 2);
}

/** The wait that the other side asked for by `Retry-After`, spread by up to a second; null: it asked for none. */
export function askedWaitMs(afterMs: number | null, draw: Draw): number | null {
  return afterMs === null ? null : afterMs + draw() * SPREAD_MS;
}

function ceilingMs(attempt: number, maxMs: number): number {
  const doublings = Math.min(Math.max(attempt - 1, 0), DOUBLINGS);
  return Math.min(maxMs, FIRST_MS * 2 ** doublings);
}
