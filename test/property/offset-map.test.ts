import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeMap, encodeMap } from '../../src/engine/offset-map.ts';
import { type OffsetRange, type Tracked, Tracker } from '../../src/engine/tracker.ts';

const CLUSTER = 'c';
type Move =
  | { readonly do: 'read'; readonly records: number }
  | { readonly do: 'settle'; readonly which: number }
  | { readonly do: 'pass'; readonly offsets: number }
  | { readonly do: 'commit'; readonly limit: number }
  | { readonly do: 'compact'; readonly which: number }
  | { readonly do: 'crash' };

const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant('read' as const), records: fc.integer({ min: 1, max: 12 }) }) },
    { weight: 14, arbitrary: fc.record({ do: fc.constant('settle' as const), which: fc.nat(1000) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('pass' as const), offsets: fc.nat(5) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constant('commit' as const),
        limit: fc.oneof(fc.constant(3800), fc.integer({ min: 30, max: 60 })),
      }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('compact' as const), which: fc.nat(1000) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
  ),
  { minLength: 20, maxLength: 250 },
);

/** One partition through owners that crash: what each knows is what the last commit told it. */
class World {
  /** Offsets that hold a record. */
  readonly log: Set<number>;
  readonly base: bigint;
  readonly finished = new Set<number>();
  /** Which of the laws did not hold, and where. */
  readonly broken: string[] = [];
  claimed: ReadonlySet<number> = new Set();
  committed: { readonly offset: bigint; readonly text: string };
  tracker: Tracker;
  readonly open = new Map<number, Tracked>();

  constructor(base: bigint, holes: ReadonlySet<number>) {
    this.base = base;
    this.log = new Set(Array.from({ length: 400 }, (_, at) => at).filter((at) => !holes.has(at % 17)));
    this.committed = { offset: base, text: '' };
    this.tracker = new Tracker(base);
  }

  law(holds: boolean, law: string, at: number): void {
    if (!holds) this.broken.push(`${law}: ${String(at)}`);
  }

  move(move: Move): void {
    if (move.do === 'read') this.read(move.records);
    else if (move.do === 'settle') this.settle(move.which);
    else if (move.do === 'pass') this.pass(move.offsets);
    else if (move.do === 'commit') this.commit(move.limit);
    else if (move.do === 'compact') this.compact(move.which);
    else this.crash();
  }

  get next(): number {
    return Number(this.tracker.next - this.base);
  }

  read(records: number): void {
    for (let left = records, at = this.next; left > 0 && at < 400; at += 1) {
      if (!this.log.has(at)) continue;
      left -= 1;
      const known = this.tracker.isRestored(this.base + BigInt(at));
      const tracked = this.tracker.track(this.base + BigInt(at), at);
      this.law(tracked !== null, 'a new offset is no repeat', at);
      this.law(!known || this.finished.has(at), 'an unfinished record is run', at);
      this.law(known || !this.claimed.has(at), 'a record in a committed map is not run again', at);
      if (!known && tracked !== null) this.open.set(at, tracked);
    }
  }

  settle(which: number): void {
    const [at, tracked] = [...this.open][which % Math.max(1, this.open.size)] ?? [];
    if (at === undefined || tracked === undefined) return;
    this.tracker.settle(tracked);
    this.open.delete(at);
    this.finished.add(at);
  }

  /** The end of a batch: only over offsets that hold nothing. */
  pass(offsets: number): void {
    let at = this.next;
    for (let left = offsets; left > 0 && !this.log.has(at); left -= 1) at += 1;
    this.tracker.passTo(this.base + BigInt(at));
  }

  commit(limit: number): void {
    const offset = this.tracker.committable;
    const parts = { clusterHash: CLUSTER, offset, timestampMs: this.tracker.oldestMs, nonce: 'n' };
    const encoded = encodeMap({ ...parts, ranges: this.tracker.finishedRanges() }, limit);
    this.law(encoded.text.length <= limit, 'a map stays within its limit', limit);
    this.committed = { offset, text: encoded.text };
    const from = Number(offset - this.base);
    const claimed = new Set(offsetsOf(this.ranges(), from));
    for (let at = 0; at < from; at += 1) claimed.add(at);
    for (const at of this.log) {
      this.law(!claimed.has(at) || this.finished.has(at), 'only finished records are passed or claimed', at);
      if (encoded.complete) this.law(claimed.has(at) || !this.finished.has(at), 'a complete map claims all', at);
    }
    this.claimed = claimed;
  }

  /** The broker forgets a record; one that is finished only, else it would be lost with any client. */
  compact(which: number): void {
    const [at] = [...this.finished].slice(which % Math.max(1, this.finished.size));
    if (at !== undefined) this.log.delete(at);
  }

  crash(): void {
    this.open.clear();
    this.tracker = new Tracker(this.committed.offset);
    this.tracker.restore(this.ranges());
    // What is finished but was never claimed runs again: at least once.
    for (const at of this.finished) if (!this.claimed.has(at)) this.finished.delete(at);
  }

  ranges(): readonly OffsetRange[] {
    const decoded = decodeMap(this.committed.text, { clusterHash: CLUSTER, offset: this.committed.offset });
    return decoded.do === 'map' ? decoded.ranges : [];
  }
}

function offsetsOf(ranges: readonly OffsetRange[], origin: number): number[] {
  return ranges.flatMap(({ from, length }) => Array.from({ length }, (_, at) => origin + from + at));
}

describe('tracker and offset map', () => {
  test('through commits and crashes: what is finished and committed never runs twice, what is not is never passed', () => {
    fc.assert(
      fc.property(
        moves,
        fc.bigInt({ min: 0n, max: 2n ** 63n - 500n }),
        fc.uniqueArray(fc.nat(16), { maxLength: 6 }),
        (steps, base, holes) => {
          const world = new World(base, new Set(holes));
          for (const step of steps) {
            world.move(step);
            const lowest = Math.min(world.next, ...world.open.keys());
            world.law(
              world.tracker.committable === base + BigInt(lowest),
              'the committable offset is the lowest open',
              lowest,
            );
          }
          expect(world.broken).toEqual([]);
        },
      ),
      { numRuns: 300 },
    );
  });
});
