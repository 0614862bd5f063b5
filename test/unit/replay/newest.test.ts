import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Newest, type UpdatePosition } from '../../../src/replay/newest.ts';

function at(offset: number, { partition = 0, timestampMs = offset } = {}): UpdatePosition {
  return { partition, offset: BigInt(offset), timestampMs };
}

/** What the table must say, without its tricks. */
class Model {
  readonly #all = new Map<string, Map<number, UpdatePosition>>();
  readonly #touched = new Set<string>();

  add(id: string, position: UpdatePosition): void {
    const of = this.#all.get(id) ?? new Map<number, UpdatePosition>();
    this.#all.set(id, of);
    const known = of.get(position.partition);
    if (known === undefined || position.offset >= known.offset) of.set(position.partition, position);
  }

  of(id: string): UpdatePosition | null {
    const all = [...(this.#all.get(id)?.values() ?? [])];
    return all.sort((a, b) => b.timestampMs - a.timestampMs || b.partition - a.partition)[0] ?? null;
  }

  touch(id: string): void {
    if (this.#all.has(id)) this.#touched.add(id);
  }

  isTouched(id: string): boolean {
    return this.#touched.has(id);
  }

  settle(but: (newest: UpdatePosition) => boolean): number {
    for (const id of this.#touched) if (!but(this.of(id)!)) this.#touched.delete(id);
    return this.#touched.size;
  }

  get size(): number {
    return [...this.#all.values()].reduce((sum, of) => sum + of.size, 0);
  }
}

type Act =
  | { readonly do: 'add'; readonly id: string; readonly position: UpdatePosition }
  | { readonly do: 'touch'; readonly id: string }
  | { readonly do: 'settle'; readonly from: number };

const ids = fc.nat({ max: 40 }).map(String);
const acts: fc.Arbitrary<Act> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('add' as const), id: ids, position: positions() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('touch' as const), id: ids }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('settle' as const), from: fc.nat({ max: 100 }) }) },
);

function positions(): fc.Arbitrary<UpdatePosition> {
  return fc.record({
    partition: fc.nat({ max: 2 }),
    offset: fc.bigInt({ min: 0n, max: 100n }),
    timestampMs: fc.nat({ max: 5 }),
  });
}

describe('the newest update of each transaction', () => {
  test('names its limit, and what to do, when there are too many', () => {
    const newest = new Newest(1000);
    const fill = (): void => {
      for (let id = 0; id <= 1000; id += 1) newest.add(String(id), at(id));
    };
    expect(fill).toThrow(/more than 1,000 transactions, .* --from and --to/);
    expect(() => {
      newest.add('one more', at(1));
    }).toThrow(expect.objectContaining({ code: 'INDEX_FULL' }));
    // What is known already is still renewed.
    newest.add('5', at(5000));
    expect(newest.of('5')?.offset).toBe(5000n);
  });

  test('is not known of an id that it was not shown', () => {
    const newest = new Newest();
    expect(newest.of('a')).toBeNull();
    expect(newest.isTouched('a')).toBe(false);
  });

  test('is by offset within a partition, whatever the timestamps say', () => {
    const newest = new Newest();
    newest.add('a', at(10, { timestampMs: 5 }));
    newest.add('a', at(11, { timestampMs: 1 }));
    newest.add('a', at(9, { timestampMs: 9 }));
    expect(newest.of('a')).toEqual(at(11, { timestampMs: 1 }));
    expect(newest.isNewest('a', at(11))).toBe(true);
    expect(newest.isNewest('a', at(10))).toBe(false);
    expect(newest.moved).toBe(0);
  });

  test('is by timestamp between partitions, and counts an id that is in several', () => {
    const newest = new Newest();
    newest.add('a', at(10, { timestampMs: 5 }));
    newest.add('a', at(1, { partition: 1, timestampMs: 6 }));
    newest.add('b', at(2, { partition: 1 }));
    expect(newest.of('a')).toEqual(at(1, { partition: 1, timestampMs: 6 }));
    expect(newest.moved).toBe(1);
    expect(newest.size).toBe(3);
  });

  test('agrees with a plain map, whatever is added, touched and settled', () => {
    fc.assert(
      fc.property(fc.array(acts, { maxLength: 300 }), (all) => {
        const newest = new Newest();
        const model = new Model();
        const settled: [number, number][] = [];
        for (const act of all) {
          if (act.do === 'add') {
            newest.add(act.id, act.position);
            model.add(act.id, act.position);
          } else if (act.do === 'touch') {
            newest.touch(act.id);
            model.touch(act.id);
          } else {
            const isLater = ({ offset }: { offset: bigint }): boolean => offset >= BigInt(act.from);
            settled.push([newest.settle(isLater), model.settle(isLater)]);
          }
        }
        for (const [left, expected] of settled) expect(left).toBe(expected);
        expect(newest.size).toBe(model.size);
        for (let id = 0; id <= 40; id += 1) {
          expect(newest.of(String(id))).toEqual(model.of(String(id)));
          expect(newest.isTouched(String(id))).toBe(model.isTouched(String(id)));
        }
      }),
    );
  });

  test('keeps everything while it grows', () => {
    const newest = new Newest();
    const ID_COUNT = 20_000;
    for (let id = 0; id < ID_COUNT; id += 1) {
      newest.add(String(id), at(id));
      if (id % 3 === 0) newest.touch(String(id));
    }
    const wrong = Array.from({ length: ID_COUNT }, (_, id) => id).filter(
      (id) => newest.of(String(id))?.offset !== BigInt(id) || newest.isTouched(String(id)) !== (id % 3 === 0),
    );
    expect(wrong).toEqual([]);
    newest.touchAll();
    expect(newest.isTouched('1')).toBe(true);
  });
});
