import { describe, expect, test } from 'vitest';
import { HandOver } from '../../../../src/edges/kafka/hand-over.ts';
import { flows, type Owned } from '../../../../src/edges/kafka/owned.ts';
import { Turns } from '../../../../src/edges/kafka/turns.ts';
import { type SourceRecord } from '../../../../src/engine/ports.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

/** Time whose turns the test takes one by one. */
class TurnByTurn extends ManualClock {
  readonly #tasks: (() => void)[] = [];

  override soon(task: () => void): void {
    this.#tasks.push(task);
  }

  /** One turn: what was to be done by its beginning. False: there was nothing. */
  turn(): boolean {
    const tasks = this.#tasks.splice(0);
    for (const task of tasks) task();
    return tasks.length > 0;
  }
}

const partition = (number: number): Owned => ({
  at: { topic: 't', partition: number },
  expected: 0n,
  wanted: true,
  suspicion: null,
});

function records(from: number, count: number, { valueBytes = 1, step = 1 } = {}): SourceRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    topic: 't',
    partition: 0,
    offset: BigInt(from + step * index),
    timestampMs: 0,
    key: null,
    value: Buffer.alloc(valueBytes),
    headers: {},
  }));
}

class Bench {
  readonly clock = new TurnByTurn();
  /** Each part: partition, from, next, how many. */
  readonly given: [partition: number, from: number, next: number, count: number][] = [];
  /** What logs hold where they do not hold what was to be read: partition, low, high. */
  readonly ranges: [partition: number, low: number, high: number][] = [];
  readonly low: number[] = [];
  /** What whoever gets the records does. */
  onGiven: () => void = () => undefined;
  readonly handOver = new HandOver({
    clock: this.clock,
    flows,
    give: (at, { from, next, records: part, outOfRange }) => {
      this.given.push([at.partition, Number(from), Number(next), part.length]);
      if (outOfRange !== undefined) this.ranges.push([at.partition, Number(outOfRange.low), Number(outOfRange.high)]);
      this.onGiven();
    },
    onLow: ({ at }) => void this.low.push(at.partition),
  });

  fetch(owned: Owned, from: number, count: number, next = from + count, valueBytes = 1): boolean {
    const fetched = { from: BigInt(from), next: BigInt(next), records: records(from, count, { valueBytes }) };
    const isTaken = this.handOver.add(owned, fetched);
    if (isTaken) this.handOver.go(owned);
    return isTaken;
  }

  turns(): number {
    let turns = 0;
    while (this.clock.turn()) turns += 1;
    return turns;
  }
}

describe('what was fetched', () => {
  test('is handed over at once and whole where it is little', () => {
    const bench = new Bench();
    expect(bench.fetch(partition(0), 5, 100, 107)).toBe(true);
    expect(bench.given).toEqual([[0, 5, 107, 100]]);
    expect(bench.turns()).toBe(0);
  });

  test('goes in parts, each in a turn of its own and following on from the one before', () => {
    const bench = new Bench();
    bench.fetch(partition(0), 0, 300, 302);
    expect(bench.given).toEqual([[0, 0, 128, 128]]);
    bench.clock.turn();
    expect(bench.given).toHaveLength(2);
    bench.turns();
    expect(bench.given).toEqual([
      [0, 0, 128, 128],
      [0, 128, 256, 128],
      [0, 256, 302, 44],
    ]);
  });

  test('follows the offsets of the log where some are missing', () => {
    const bench = new Bench();
    const owned = partition(0);
    bench.handOver.add(owned, { from: 0n, next: 600n, records: records(0, 260, { step: 2 }) });
    bench.handOver.go(owned);
    bench.turns();
    expect(bench.given).toEqual([
      [0, 0, 255, 128],
      [0, 255, 511, 128],
      [0, 511, 600, 4],
    ]);
  });

  test('of several partitions goes by turns', () => {
    const bench = new Bench();
    bench.fetch(partition(0), 0, 300);
    bench.fetch(partition(1), 0, 200);
    bench.turns();
    expect(bench.given.map(([of]) => of)).toEqual([0, 0, 1, 0, 1]);
  });

  test('keeps its order where more comes before it has gone, records or none', () => {
    const bench = new Bench();
    const owned = partition(0);
    bench.fetch(owned, 0, 200);
    bench.fetch(owned, 200, 50);
    bench.fetch(owned, 250, 0, 252);
    bench.turns();
    expect(bench.given).toEqual([
      [0, 0, 128, 128],
      [0, 128, 200, 72],
      [0, 200, 250, 50],
      [0, 250, 252, 0],
    ]);
  });
});

describe('a partition that is paused', () => {
  test('gets nothing, and what had come when it flows again', () => {
    const bench = new Bench();
    const owned = partition(0);
    bench.onGiven = () => {
      owned.wanted = false;
    };
    bench.fetch(owned, 0, 200);
    expect(bench.fetch(owned, 200, 10)).toBe(true);
    expect(bench.turns()).toBe(0);
    expect(bench.given).toEqual([[0, 0, 128, 128]]);
    bench.onGiven = () => undefined;
    owned.wanted = true;
    bench.handOver.wake();
    bench.turns();
    expect(bench.given.slice(1)).toEqual([
      [0, 128, 200, 72],
      [0, 200, 210, 10],
    ]);
  });

  test('does not hold up the others', () => {
    const bench = new Bench();
    const [paused, flowing] = [{ ...partition(0), wanted: false }, partition(1)];
    bench.fetch(paused, 0, 10);
    bench.fetch(flowing, 0, 130);
    bench.turns();
    expect(bench.given.map(([of]) => of)).toEqual([1, 1]);
  });

  test('has 8 MiB kept with all the others, no more; what is dropped or gone makes room', () => {
    const bench = new Bench();
    const owned = { ...partition(0), wanted: false };
    const MIB = 1024 * 1024;
    expect(bench.fetch(owned, 0, 8, 8, MIB)).toBe(true);
    expect(bench.fetch(owned, 8, 1)).toBe(false);
    expect(bench.fetch(partition(1), 0, 1)).toBe(true);
    expect(bench.handOver.readFrom(owned, 100n)).toBe(100n);
    expect(bench.fetch(owned, 0, 8, 8, MIB)).toBe(true);
    owned.wanted = true;
    bench.handOver.wake();
    bench.turns();
    owned.wanted = false;
    expect(bench.fetch(owned, 8, 8, 16, MIB)).toBe(true);
    bench.handOver.keepOnly(() => false);
    expect(bench.fetch(owned, 0, 8, 8, MIB)).toBe(true);
  });
});

describe('what the log holds where it does not hold what comes next', () => {
  test('is said behind all that was fetched before, whatever room there is', () => {
    const bench = new Bench();
    const owned = partition(0);
    bench.onGiven = () => {
      owned.wanted = false;
    };
    bench.fetch(owned, 0, 8, 8, 1024 * 1024);
    bench.fetch(owned, 8, 8, 16, 1024 * 1024);
    const range = { from: 16n, next: 16n, records: [], outOfRange: { low: 50n, high: 60n } };
    expect(bench.handOver.add(owned, range)).toBe(true);
    bench.handOver.wake();
    expect([bench.turns(), bench.ranges]).toEqual([0, []]);
    bench.onGiven = () => undefined;
    owned.wanted = true;
    bench.handOver.wake();
    bench.turns();
    expect(bench.given).toEqual([
      [0, 0, 8, 8],
      [0, 8, 16, 8],
      [0, 16, 16, 0],
    ]);
    expect(bench.ranges).toEqual([[0, 50, 60]]);
  });
});

describe('a partition that is read on where it was', () => {
  test('keeps what had come, and is fetched from behind it', () => {
    const bench = new Bench();
    const owned = partition(0);
    bench.fetch(owned, 0, 300);
    bench.fetch(owned, 300, 10, 312);
    expect(bench.handOver.readFrom(owned, 128n)).toBe(312n);
    bench.turns();
    expect(bench.given.map(([, from, next]) => [from, next])).toEqual([
      [0, 128],
      [128, 256],
      [256, 300],
      [300, 312],
    ]);
  });

  test('forgets what its log was said to hold: that is asked for again behind what is kept', () => {
    const bench = new Bench();
    const owned = partition(0);
    bench.fetch(owned, 0, 200);
    bench.handOver.add(owned, { from: 200n, next: 200n, records: [], outOfRange: { low: 50n, high: 60n } });
    expect(bench.handOver.readFrom(owned, 128n)).toBe(200n);
    bench.turns();
    expect([bench.given.length, bench.ranges]).toEqual([2, []]);
    bench.handOver.add(owned, { from: 200n, next: 200n, records: [], outOfRange: { low: 50n, high: 60n } });
    expect(bench.handOver.readFrom(owned, 200n)).toBe(200n);
    bench.turns();
    expect(bench.ranges).toEqual([]);
  });
});

describe('a partition that is read from elsewhere', () => {
  test('gets nothing more of what had come, also where whoever got the first part says so', () => {
    const bench = new Bench();
    const owned = partition(0);
    bench.onGiven = () => {
      bench.onGiven = () => undefined;
      bench.handOver.readFrom(owned, 50n);
    };
    bench.fetch(owned, 0, 300);
    expect(bench.turns()).toBe(0);
    expect(bench.given).toEqual([[0, 0, 128, 128]]);
    bench.fetch(owned, 50, 10);
    expect(bench.given.at(-1)).toEqual([0, 50, 60, 10]);
  });

  test('gets nothing where it is not owned any more, whatever had come', () => {
    const bench = new Bench();
    const [gone, kept] = [partition(0), partition(1)];
    bench.fetch(gone, 0, 300);
    bench.fetch(kept, 0, 100);
    bench.handOver.keepOnly((owned) => owned === kept);
    bench.turns();
    expect(bench.given).toEqual([
      [0, 0, 128, 128],
      [1, 0, 100, 100],
    ]);
  });
});

test('there is enough of a partition from 512 records on, and it is told once when there is not any more', () => {
  const bench = new Bench();
  const owned = partition(0);
  bench.fetch(owned, 0, 639);
  expect(bench.handOver.hasEnough(owned)).toBe(false);
  bench.fetch(owned, 639, 129);
  expect(bench.handOver.hasEnough(owned)).toBe(true);
  bench.turns();
  expect(bench.low).toEqual([0]);
});

test('those who wait for a turn go on one in each, in their order', async () => {
  const clock = new TurnByTurn();
  const turns = new Turns(clock);
  const went: number[] = [];
  const waiting = [1, 2, 3].map(async (who) => {
    await turns.next();
    went.push(who);
  });
  for (const expected of [[1], [1, 2], [1, 2, 3]]) {
    await settled();
    clock.turn();
    await settled();
    expect(went).toEqual(expected);
  }
  await Promise.all(waiting);
});
