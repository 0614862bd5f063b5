/** A change of a source that no test can notice, because nothing that the source promises is changed by it. */
export interface Equivalent {
  readonly source: string;
  /** The line as it stands in the source, without its indent. */
  readonly line: string;
  /** The part of the line that is changed. */
  readonly from: string;
  readonly to: string;
  readonly why: string;
}

const TRACKER = 'src/engine/tracker.ts';
const OFFSET_MAP = 'src/engine/offset-map.ts';
const ASSIGNMENT = 'src/engine/assignment.ts';
const QUEUE = 'src/engine/wait-queue.ts';

const TIES = 'Waits that are due at the same time come in no promised order.';
const TYPES = 'The alternative is there for the type checker; it is never taken.';

/** Survivors that were looked at. A row that is not needed any more fails the run, so that the table stays true. */
export const EQUIVALENTS: readonly Equivalent[] = [
  {
    source: TRACKER,
    line: '#restored: readonly OffsetRange[] = [];',
    from: '[]',
    to: '["Stryker was here"]',
    why: 'A text has no bounds, so no offset is in it: it is passed over like no range at all.',
  },
  {
    source: OFFSET_MAP,
    line: "const { cluster, offset, timestamp, nonce = '', runs = '' } = parts;",
    from: "''",
    to: '"Stryker was here!"',
    why: TYPES,
  },
  {
    source: ASSIGNMENT,
    line: 'const shares = [...owned].sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || (a < b ? -1 : 1));',
    from: 'a < b',
    to: 'a <= b',
    why: 'No two members have the same name.',
  },
  {
    source: ASSIGNMENT,
    line: 'for (const [unit, { id }] of [...owner].sort(([a], [b]) => a - b)) units.get(id)?.push(unit);',
    from: 'units.get(id)?.push',
    to: 'units.get(id).push',
    why: TYPES,
  },
  {
    source: ASSIGNMENT,
    line: 'return newer > 0 || (newer === 0 && a.id < b.id);',
    from: 'a.id < b.id',
    to: 'a.id <= b.id',
    why: 'A member that names a unit twice is put in its own place.',
  },
  {
    source: QUEUE,
    line: 'if (last === undefined || last === item) return;',
    from: 'last === undefined',
    to: 'false',
    why: TYPES,
  },
  {
    source: QUEUE,
    line: 'while (item.slot > 0) {',
    from: 'item.slot > 0',
    to: 'item.slot >= 0',
    why: 'The first one has no parent, which is asked, too.',
  },
  {
    source: QUEUE,
    line: 'if (parent === undefined || parent.dueMs <= item.dueMs) return;',
    from: 'parent === undefined',
    to: 'false',
    why: TYPES,
  },
  {
    source: QUEUE,
    line: 'if (parent === undefined || parent.dueMs <= item.dueMs) return;',
    from: 'parent.dueMs <= item.dueMs',
    to: 'parent.dueMs < item.dueMs',
    why: TIES,
  },
  {
    source: QUEUE,
    line: 'const child = right !== undefined && left !== undefined && right.dueMs < left.dueMs ? right : left;',
    from: 'left !== undefined',
    to: 'true',
    why: 'Who has a right child has a left one.',
  },
  {
    source: QUEUE,
    line: 'const child = right !== undefined && left !== undefined && right.dueMs < left.dueMs ? right : left;',
    from: 'right.dueMs < left.dueMs',
    to: 'right.dueMs <= left.dueMs',
    why: TIES,
  },
  {
    source: QUEUE,
    line: 'if (child === undefined || child.dueMs >= item.dueMs) return;',
    from: 'child.dueMs >= item.dueMs',
    to: 'child.dueMs > item.dueMs',
    why: TIES,
  },
];
