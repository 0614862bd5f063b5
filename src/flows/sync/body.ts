/**
 * The body of a batch: one JSON object whose keys are trans_id values (spec: Sync status update). It is put together
 * from one fragment per update and never from a JavaScript object, which would lose the id `__proto__` and reorder ids
 * that look like numbers. Each fragment is made once, so a repeat sends the same bytes.
 */
import { type UpdateFields } from '../../screening/status-update.ts';

const OPEN = Buffer.from('{');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from('}');

/** One update as it stands in a body: its id, a colon, its fields. UTF-8; half a surrogate pair is written as its escape. */
export function toFragment(transId: string, fields: UpdateFields): Buffer {
  return Buffer.from(`${JSON.stringify(transId)}:${JSON.stringify(Object.fromEntries(fields))}`);
}

/** The body of these fragments, in their order. Their ids must differ. */
export function toBody(fragments: readonly Buffer[]): Buffer {
  const parts = fragments.flatMap((fragment, index) => [index === 0 ? OPEN : COMMA, fragment]);
  return Buffer.concat(parts.length === 0 ? [OPEN, CLOSE] : [...parts, CLOSE]);
}

/** The length of the body of `count` fragments that are `fragmentBytes` long together, exactly. */
export function bodyBytes(count: number, fragmentBytes: number): number {
  return 2 + fragmentBytes + Math.max(0, count - 1);
}
