import { createHash } from 'node:crypto';
import { type ShownConfig } from '../config/print.ts';

const DIGITS = 12;

/**
 * The first digits of a SHA-256 over the options in effect, without their secrets and wherever they come from, and over
 * the text of the mapping. Processes that show the same digits do the same.
 */
export function configHash({ options }: ShownConfig, mapping: string | null): string {
  const lines = options.map(({ name, value }) => `${name}=${value}`);
  return createHash('sha256')
    .update(JSON.stringify([lines, mapping]))
    .digest('hex')
    .slice(0, DIGITS);
}
