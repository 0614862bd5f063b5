import { describe, expect, test } from 'vitest';
import { type Entry } from '../../../src/engine/entry.ts';
import { Partition, signOf } from '../../../src/engine/partition.ts';
import { type Tracked } from '../../../src/engine/tracker.ts';
import { type AssignedPartition, type SourceRecord } from '../../../src/engine/ports.ts';

const FOUND: AssignedPartition = {
  topic: 'payments',
  partition: 3,
  committed: 100n,
  metadata: 'a map',
  low: 40n,
  high: 180n,
};

const recordAt = (offset: bigint): SourceRecord => ({
  topic: FOUND.topic,
  partition: FOUND.partition,
  offset,
  timestampMs: 1000 + Number(offset),
  key: null,
  value: null,
  headers: {},
});

function trackedIn({ tracker }: Partition, { offset, timestampMs }: SourceRecord): Tracked {
  const tracked = tracker.track(offset, timestampMs);
  if (tracked === null) throw new Error('a repeat');
  return tracked;
}

/** A partition that has read records of these lanes in a row; items are the lane's name and a number. */
class Bench {
  readonly partition = new Partition(FOUND, 7, 100n);

  add(...lanes: string[]): Entry[] {
    return lanes.map((lane) => {
      const record = recordAt(this.partition.tracker.next);
      const tracked = trackedIn(this.partition, record);
      return this.partition.add({ record, item: `${lane}@${String(record.offset)}`, lane, tracked, letter: null });
    });
  }

  /** Takes all that may start; nothing of it ends. */
  takeAll(): unknown[] {
    const items: unknown[] = [];
    for (let entry = this.partition.takeReady(); entry !== undefined; entry = this.partition.takeReady())
      items.push(entry.item);
    return items;
  }
}

function one(entries: readonly Entry[], at = 0): Entry {
  const entry = entries[at];
  if (entry === undefined) throw new Error('no such entry');
  return entry;
}

describe('a partition that was just assigned', () => {
  test('has nothing to start, holds no lane, and has committed nothing of its own', () => {
    const { partition } = new Bench();
    expect([partition.hasReady, partition.peekReady(), partition.takeReady()]).toEqual([false, undefined, undefined]);
    expect([partition.holds('a'), [...partition.heads()], partition.inRound]).toEqual([false, [], false]);
    expect([partition.phase, partition.epoch, partition.start]).toEqual(['owned', 7, 100n]);
    expect([partition.version, partition.committedVersion, partition.doubtful]).toEqual([0, 0, []]);
    expect([partition.running, partition.orphans, partition.mapTimestampMs]).toEqual([0, 0, null]);
  });

  test('knows what it was found with', () => {
    const { partition } = new Bench();
    expect(partition.acknowledged).toBe('100 a map');
    expect(partition.position).toEqual({ next: 100n, highWatermark: 180n, asOfMs: 0, timestampMs: 0 });
    expect(partition.status).toEqual({
      topic: 'payments',
      partition: 3,
      next: 100n,
      committable: 100n,
      committed: 100n,
      highWatermark: 180n,
      buffered: 0,
      pauses: [],
      oldestUnfinishedMs: null,
      lastReadMs: null,
    });
  });
});

describe('lanes', () => {
  test('keep a record back while another of its lane has not ended', () => {
    const bench = new Bench();
    const entries = bench.add('a', 'a', 'b', 'a');
    expect(entries.map(({ state }) => state)).toEqual(['ready', 'queued', 'ready', 'queued']);
    expect(bench.takeAll()).toEqual(['a@100', 'b@102']);
    expect(bench.partition.hasReady).toBe(false);
  });

  test('give all their records in the order of the log, also those that come while others end', () => {
    const bench = new Bench();
    const [first, second] = bench.add('a', 'a', 'a');
    expect(bench.takeAll()).toEqual(['a@100']);
    bench.partition.settle(first ?? one([]));
    expect(bench.takeAll()).toEqual(['a@101']);
    bench.add('a');
    bench.partition.settle(second ?? one([]));
    const third = bench.partition.takeReady();
    expect([third?.item, third?.state]).toEqual(['a@102', 'ready']);
    bench.partition.settle(third ?? one([]));
    const fourth = bench.partition.takeReady();
    expect(fourth?.item).toBe('a@103');
    bench.partition.settle(fourth ?? one([]));
    expect([bench.partition.hasReady, bench.partition.holds('a')]).toEqual([false, false]);
  });

  test('let go of a record that has ended', () => {
    const bench = new Bench();
    const [first, second] = bench.add('a', 'a');
    bench.partition.settle(first ?? one([]));
    expect(first?.next).toBeNull();
    expect([...bench.partition.heads()]).toEqual([second]);
    expect(second?.tail).toBe(second);
  });

  test('are held from the first record to the end of the last', () => {
    const bench = new Bench();
    const [first, second] = bench.add('a', 'a');
    expect([bench.partition.holds('a'), bench.partition.holds('b')]).toEqual([true, false]);
    bench.partition.settle(first ?? one([]));
    expect(bench.partition.holds('a')).toBe(true);
    bench.partition.settle(second ?? one([]));
    expect(bench.partition.holds('a')).toBe(false);
  });

  test('that have ended begin anew with the next record', () => {
    const bench = new Bench();
    bench.partition.settle(one(bench.add('a')));
    bench.takeAll();
    expect(one(bench.add('a')).state).toBe('ready');
    expect(bench.takeAll()).toEqual(['a@101']);
  });

  test('name their heads, one each', () => {
    const bench = new Bench();
    bench.add('a', 'a', 'b');
    expect([...bench.partition.heads()].map(({ item }) => item)).toEqual(['a@100', 'b@102']);
  });
});

describe('what may start', () => {
  test('stays until it is taken', () => {
    const bench = new Bench();
    const entries = bench.add('a');
    expect(bench.partition.hasReady).toBe(true);
    expect([bench.partition.peekReady(), bench.partition.peekReady()]).toEqual([entries[0], entries[0]]);
    expect(bench.partition.takeReady()).toBe(entries[0]);
    expect(bench.partition.peekReady()).toBeUndefined();
  });

  test('begins with lanes that have become free, then what has just been read', () => {
    const bench = new Bench();
    const entries = bench.add('a', 'b', 'a');
    expect(bench.partition.takeReady()).toBe(entries[0]);
    bench.partition.settle(one(entries));
    expect(bench.partition.peekReady()).toBe(entries[2]);
    expect(bench.takeAll()).toEqual(['a@102', 'b@101']);
  });

  test('begins with a head that waited, as soon as it may go on', () => {
    const bench = new Bench();
    const [first] = bench.add('a');
    bench.partition.takeReady();
    if (first !== undefined) first.state = 'waiting';
    expect(bench.partition.hasReady).toBe(false);
    bench.partition.resume(first ?? one([]));
    expect([first?.state, bench.partition.hasReady]).toEqual(['ready', true]);
    bench.add('b');
    expect(bench.takeAll()).toEqual(['a@100', 'b@101']);
  });
});

describe('what has ended', () => {
  test('is counted, and lets the committable offset pass', () => {
    const bench = new Bench();
    const entries = bench.add('a', 'b', 'c');
    expect([bench.partition.buffered, bench.partition.version]).toEqual([3, 0]);
    bench.partition.settle(one(entries, 1));
    expect(bench.partition.status).toMatchObject({ buffered: 2, committable: 100n, oldestUnfinishedMs: 1100 });
    bench.partition.settle(one(entries, 0));
    expect(bench.partition.status).toMatchObject({ buffered: 1, committable: 102n, oldestUnfinishedMs: 1102 });
    expect(bench.partition.version).toBe(2);
  });

  test('shows how far was read, and when that was known', () => {
    const { partition } = new Bench();
    partition.tracker.passTo(120n);
    partition.highWatermark = 200n;
    partition.asOfMs = 55;
    partition.timestampMs = 66;
    partition.committed = 110n;
    expect(partition.position).toEqual({ next: 120n, highWatermark: 200n, asOfMs: 55, timestampMs: 66 });
    expect(partition.status).toMatchObject({ next: 120n, committable: 120n, committed: 110n, highWatermark: 200n });
  });
});

describe('a partition', () => {
  test('is paused while any reason is left', () => {
    const { partition } = new Bench();
    partition.pauses.add('schema').add('flow_full');
    partition.pauses.delete('schema');
    expect(partition.status.pauses).toEqual(['flow_full']);
    partition.pauses.delete('flow_full');
    expect(partition.status.pauses).toEqual([]);
  });

  test('forgets everything read when it is lost', () => {
    const bench = new Bench();
    const entries = bench.add('a', 'b', 'a', 'c');
    bench.partition.takeReady();
    bench.partition.settle(one(entries));
    expect(bench.partition.hasReady).toBe(true);
    bench.partition.lose();
    expect([bench.partition.phase, bench.partition.buffered]).toEqual(['lost', 0]);
    expect([bench.partition.hasReady, bench.partition.peekReady()]).toEqual([false, undefined]);
    expect([[...bench.partition.heads()], bench.partition.holds('b')]).toEqual([[], false]);
  });
});

describe('the sign of a commit', () => {
  test('is empty where nothing is committed, whatever the metadata', () => {
    expect(signOf(null, 'a map')).toBe('');
  });

  test('tells offset and metadata apart', () => {
    expect(signOf(12n, '3')).toBe('12 3');
    expect(signOf(0n, '')).toBe('0 ');
  });
});
