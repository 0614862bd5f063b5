import { hash } from 'node:crypto';
import { Fault } from '../kernel/fault.ts';

/** Offsets of one partition that a replay was fixed to at its first start. */
export interface PartitionPlan {
  readonly from: bigint;
  /** The first offset that is not replayed. */
  readonly end: bigint;
  /** Up to where the partition was looked through for newer updates before anything was sent. */
  readonly seen: bigint;
}

/** What a replay of an id was asked for, as typed: the same again resumes it, anything else is refused. */
export interface PlanParameters {
  readonly topic: string;
  readonly from: string;
  readonly to: string;
  readonly everyUpdate: boolean;
  readonly transIds: readonly string[];
  /** What else a redrive was asked for. */
  readonly more?: readonly string[];
}

/** What a group holds of a replay. */
export type FoundPlan =
  | { readonly do: 'none' }
  /** It has committed, and nothing of a plan: the replay has come to its end. */
  | { readonly do: 'finished' }
  | { readonly do: 'plan'; readonly hash: string; readonly partitions: ReadonlyMap<number, PartitionPlan> };

const HASH_BYTES = 6;
const NUMBER_BYTES = 6;
const TEXT = /^[\w-]{32}$/;
const OFFSETS_END = 2n ** 48n;

/** Eight base64url digits that stand for the parameters. */
export function hashOfParameters(parameters: PlanParameters): string {
  const { topic, from, to, everyUpdate, transIds, more } = parameters;
  const parts = [topic, from, to, everyUpdate, [...new Set(transIds)].sort(), ...(more === undefined ? [] : [more])];
  const text = JSON.stringify(parts);
  return hash('sha256', text, 'buffer').subarray(0, HASH_BYTES).toString('base64url');
}

/**
 * A plan of one partition as 32 base64url digits, which is what fits into the nonce of an offset map: the hash of the
 * parameters, `from`, `end`, `seen`, each in eight digits (48 bits, the highest first). Throws `USAGE` for offsets from
 * 2^48 on.
 */
export function encodePlan(hashOf: string, { from, end, seen }: PartitionPlan): string {
  if ([from, end, seen].some((offset) => offset >= OFFSETS_END))
    throw new Fault('USAGE', 'A replay can name offsets below 281,474,976,710,656 only.');
  return hashOf + [from, end, seen].map(toDigits).join('');
}

/** Reads what `encodePlan` wrote; null: it is something else. */
export function decodePlan(text: string): (PartitionPlan & { readonly hash: string }) | null {
  if (!TEXT.test(text)) return null;
  const [hashOf = '', from = '', end = '', seen = ''] = text.match(/.{8}/g) ?? [];
  return { hash: hashOf, from: toOffset(from), end: toOffset(end), seen: toOffset(seen) };
}

function toDigits(offset: bigint): string {
  const bytes = Buffer.alloc(NUMBER_BYTES);
  bytes.writeUIntBE(Number(offset), 0, NUMBER_BYTES);
  return bytes.toString('base64url');
}

function toOffset(digits: string): bigint {
  return BigInt(Buffer.from(digits, 'base64url').readUIntBE(0, NUMBER_BYTES));
}
