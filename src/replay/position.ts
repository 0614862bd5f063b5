import { Fault } from '../kernel/fault.ts';
import { parseRfc3339 } from '../screening/rfc3339.ts';

const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const OFFSETS = /^\d{1,9}:\d{1,15}(,\d{1,9}:\d{1,15})*$/;

/** One end of a range, as it was asked for. */
export type Position =
  | { readonly do: 'earliest' }
  | { readonly do: 'latest' }
  /** Milliseconds since 1970. */
  | { readonly do: 'at'; readonly ms: number }
  /** Only these partitions belong to the range. */
  | { readonly do: 'offsets'; readonly offsets: ReadonlyMap<number, bigint> };

/**
 * What `--from` or `--to` means at `nowMs`: `earliest`, `latest`, a time (RFC 3339 or a span back from now such as
 * `-24h`), or offsets by partition (`0:12,1:40`). Throws `USAGE` for what is none of these, and for a time to come.
 */
export function parsePosition(option: string, text: string, nowMs: number): Position {
  if (text === 'earliest' || text === 'latest') return { do: text };
  if (OFFSETS.test(text)) return { do: 'offsets', offsets: parseOffsets(option, text) };
  const ms = parseTime(text, nowMs);
  if (ms === null)
    throw new Fault(
      'USAGE',
      `${option}: ${JSON.stringify(text)} is not earliest, latest, a time (2026-01-31T12:00:00Z, -24h) or offsets (0:12,1:40).`,
    );
  if (ms > nowMs) throw new Fault('USAGE', `${option}: ${JSON.stringify(text)} lies in the future.`);
  return { do: 'at', ms };
}

function parseTime(text: string, nowMs: number): number | null {
  const [, count, unit] = /^-(\d{1,9})([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return nowMs - Number(count) * (UNITS_MS[unit ?? ''] ?? 0);
  const micros = parseRfc3339(text);
  return micros === null ? null : Math.floor(micros / 1000);
}

function parseOffsets(option: string, text: string): ReadonlyMap<number, bigint> {
  const offsets = new Map<number, bigint>();
  for (const pair of text.split(',')) {
    const [partition = '', offset = ''] = pair.split(':');
    if (offsets.has(Number(partition))) throw new Fault('USAGE', `${option}: partition ${partition} is named twice.`);
    offsets.set(Number(partition), BigInt(offset));
  }
  return offsets;
}
