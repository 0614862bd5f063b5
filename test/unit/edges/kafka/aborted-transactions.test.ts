import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AbortedTransactions, type TransactionalBatch } from '../../../../src/edges/kafka/aborted-transactions.ts';

interface Step {
  readonly producer: number;
  readonly records: number;
  readonly do: 'write' | 'write plainly' | 'abort' | 'commit';
}

interface Logged extends TransactionalBatch {
  readonly baseOffset: bigint;
  /** What the log's own history says of it. */
  isAborted: boolean;
}

/** Plays producers on one partition; each batch knows its own end, as only the whole history tells it. */
function play(steps: readonly Step[]): { readonly log: readonly Logged[]; readonly aborted: Listed[] } {
  const log: Logged[] = [];
  const open = new Map<number, Logged[]>();
  const aborted: Listed[] = [];
  let next = 0n;
  for (const { producer, records, do: what } of steps) {
    const mine = open.get(producer) ?? [];
    const marker = what === 'abort' || what === 'commit' ? what : null;
    if (marker !== null && mine.length === 0) continue;
    const producerId = what === 'write plainly' ? -1n : BigInt(producer);
    const lastOffset = next + (marker === null ? BigInt(records) : 1n) - 1n;
    const isTransactional = what !== 'write plainly';
    const batch: Logged = { baseOffset: next, lastOffset, producerId, isTransactional, marker, isAborted: false };
    next = lastOffset + 1n;
    log.push(batch);
    if (what === 'write') open.set(producer, [...mine, batch]);
    if (marker !== null) open.delete(producer);
    if (marker !== 'abort') continue;
    for (const each of mine) each.isAborted = true;
    aborted.push({ producerId, firstOffset: mine[0]?.baseOffset ?? 0n, lastOffset });
  }
  // Nothing of a transaction that is still open is read.
  const stable = [...open.values()]
    .flat()
    .reduce((least, { baseOffset }) => (baseOffset < least ? baseOffset : least), next);
  return { log: log.filter(({ lastOffset }) => lastOffset < stable), aborted };
}

interface Listed {
  readonly producerId: bigint;
  readonly firstOffset: bigint;
  readonly lastOffset: bigint;
}

const step: fc.Arbitrary<Step> = fc.record({
  producer: fc.nat(4),
  records: fc.integer({ min: 1, max: 4 }),
  do: fc.constantFrom('write', 'write', 'write', 'write plainly', 'abort', 'commit'),
});

const of = (producerId: bigint, lastOffset: bigint): TransactionalBatch => ({
  producerId,
  lastOffset,
  isTransactional: true,
  marker: null,
});

describe('aborted transactions', () => {
  test('hide their own batches and no others, wherever a fetch begins and ends', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.nat(), fc.nat(), (steps, begin, length) => {
        const { log, aborted } = play(steps);
        const first = log.length === 0 ? 0 : begin % log.length;
        const fetched = log.slice(first, first + 1 + (length % 20));
        const from = fetched[0]?.baseOffset ?? 0n;
        const to = fetched.at(-1)?.lastOffset ?? 0n;
        // Brokers list them by their end; those that have a part in what was fetched.
        const listed = aborted.filter(({ firstOffset, lastOffset }) => firstOffset <= to && lastOffset >= from);
        const transactions = new AbortedTransactions(listed);
        for (const batch of fetched)
          expect([batch.baseOffset, transactions.holds(batch)]).toEqual([batch.baseOffset, batch.isAborted]);
      }),
      { numRuns: 3000 },
    );
  });

  test('begin all at once where one batch passes the beginnings of several', () => {
    const transactions = new AbortedTransactions([
      { producerId: 2n, firstOffset: 1n },
      { producerId: 1n, firstOffset: 0n },
    ]);
    expect([of(3n, 5n), of(1n, 6n), of(2n, 7n)].map((batch) => transactions.holds(batch))).toEqual([false, true, true]);
  });
});
