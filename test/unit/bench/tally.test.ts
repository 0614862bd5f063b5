import { describe, expect, test } from 'vitest';
import { Tally } from '../../bench/tally.ts';

/** Records 0, 1 and 3 are of key 0, record 2 of key 1. */
const tally = (): Tally => new Tally(Uint32Array.of(0, 0, 1, 0), 2);

const ask = (of: Tally, ...records: readonly number[]): void => {
  for (const record of records) {
    of.came(record);
    of.left(record, 0);
  }
};

describe('the tally', () => {
  test('finds nothing where nothing is wrong, and counts the hottest key', () => {
    const of = tally();
    ask(of, 0, 2, 1, 3);
    expect(of.snapshot()).toMatchObject({ answered: 4, answeredHot: 3, disorders: 0, overlaps: 0, doubled: 0 });
  });

  test('sees a record after a later one of its key', () => {
    const of = tally();
    ask(of, 1, 0, 2);
    expect(of.snapshot()).toMatchObject({ disorders: 1, doubled: 0 });
  });

  test('sees a record twice, which is no disorder', () => {
    const of = tally();
    ask(of, 0, 1, 0);
    expect(of.snapshot()).toMatchObject({ disorders: 0, doubled: 1 });
  });

  test('sees two of one key at once, and not two of different keys', () => {
    const of = tally();
    of.came(0);
    of.came(2);
    expect(of.overlaps).toBe(0);
    of.came(1);
    expect(of.overlaps).toBe(1);
  });
});
