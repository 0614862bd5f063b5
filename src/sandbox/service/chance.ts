import { type Draw } from '../../kernel/clock.ts';

const RANGE = 2 ** 32;

/** A draw that gives the same numbers for the same seed (xorshift, 32 bits; nothing secret may come from it). */
export function seededDraw(seed: number): Draw {
  // The state must not be zero, and neighbouring seeds must not begin alike.
  let state = (Math.imul(seed | 0, 0x9e3779b1) ^ 0x5bd1e995) | 0 || 1;
  const draw = (): number => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / RANGE;
  };
  for (let warm = 0; warm < 8; warm += 1) draw();
  return draw;
}

/**
 * A number from 0 (included) to 1 (excluded) that depends on the text and the salt alone: what is decided by it is the
 * same in every run, whatever the order of arrival (FNV-1a with a final mix).
 */
export function shareOf(text: string, salt: number): number {
  let hash = (0x811c9dc5 ^ salt) | 0;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash ^= hash >>> 13;
  return (hash >>> 0) / RANGE;
}
