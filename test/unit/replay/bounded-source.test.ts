import { describe, expect, test } from 'vitest';
import {
  type AssignedPartition,
  type Commit,
  type LogRange,
  type Source,
  type SourceEvents,
  type SourceRecord,
  type TopicPartition,
} from '../../../src/engine/ports.ts';
import { BoundedSource, type Span } from '../../../src/replay/bounded-source.ts';

const AT: TopicPartition = { topic: 't', partition: 0 };

/** What is asked of the source behind, by name. */
class Behind implements Source {
  events: SourceEvents | null = null;
  readonly said: string[] = [];
  commitFails = false;

  async start(events: SourceEvents): Promise<void> {
    this.events = events;
    await Promise.resolve();
  }

  pause(partitions: readonly TopicPartition[]): void {
    this.said.push(`pause ${names(partitions)}`);
  }

  resume(partitions: readonly TopicPartition[]): void {
    this.said.push(`resume ${names(partitions)}`);
  }

  seek({ partition }: TopicPartition, next: bigint): void {
    this.said.push(`seek ${String(partition)}:${String(next)}`);
  }

  async commit(commits: readonly Commit[]): Promise<void> {
    await Promise.resolve();
    if (this.commitFails) throw new Error('not now');
    this.said.push(`commit ${commits.map(({ partition, offset }) => `${String(partition)}:${String(offset)}`).join()}`);
  }

  async stop(): Promise<void> {
    this.said.push('stop');
    await Promise.resolve();
  }
}

function names(partitions: readonly TopicPartition[]): string {
  return partitions.map(({ partition }) => String(partition)).join();
}

/** The engine in front. */
class Ahead implements SourceEvents {
  assignment: readonly AssignedPartition[] = [];
  readonly got: { readonly from: bigint; readonly next: bigint; readonly offsets: readonly bigint[] }[] = [];
  ends: bigint[] = [];
  readonly ranges: LogRange[] = [];

  async barrier(): Promise<void> {
    await Promise.resolve();
  }

  assigned(partitions: readonly AssignedPartition[]): void {
    this.assignment = partitions;
  }

  records(_at: TopicPartition, from: bigint, next: bigint, records: readonly SourceRecord[]): void {
    this.got.push({ from, next, offsets: records.map(({ offset }) => offset) });
  }

  position(_at: TopicPartition, highWatermark: bigint): void {
    this.ends.push(highWatermark);
  }

  outOfRange(_at: TopicPartition, log: LogRange): void {
    this.ranges.push(log);
  }

  lost(): void {
    this.ends.push(-1n);
  }
}

async function bounded(spans: readonly (readonly [number, Span])[], keepsCommits = true) {
  const behind = new Behind();
  const ahead = new Ahead();
  const source = new BoundedSource({ source: behind, spans: new Map(spans), keepsCommits });
  await source.start(ahead);
  return { behind, ahead, source, events: behind.events! };
}

function found(change: Partial<AssignedPartition> = {}): AssignedPartition {
  return { ...AT, committed: null, metadata: '', low: 0n, high: 100n, ...change };
}

function record(offset: bigint): SourceRecord {
  return { ...AT, offset, timestampMs: 0, key: null, value: null, headers: {} };
}

const SPAN: Span = { from: 10n, end: 20n };

describe('where a bounded source begins', () => {
  test('at the start of the span where the group has committed nothing', async () => {
    const { ahead, events } = await bounded([[0, SPAN]]);
    events.assigned([found()]);
    expect(ahead.assignment).toEqual([found({ committed: 10n, high: 20n })]);
  });

  test('at what the group has committed, with its metadata', async () => {
    const { ahead, events } = await bounded([[0, SPAN]]);
    events.assigned([found({ committed: 15n, metadata: 'map' })]);
    expect(ahead.assignment[0]).toMatchObject({ committed: 15n, metadata: 'map' });
  });

  test('a partition without a span has nothing to read', async () => {
    const { ahead, behind, source, events } = await bounded([[1, SPAN]]);
    events.assigned([found()]);
    expect(ahead.assignment[0]).toMatchObject({ committed: 0n, low: 0n, high: 0n });
    source.seek(AT, 0n);
    source.resume([AT]);
    expect(behind.said).toEqual(['seek 0:0']);
  });

  test('a log that begins beyond the end leaves all of the span missing, and no more', async () => {
    const { ahead, events } = await bounded([[0, SPAN]]);
    events.assigned([found({ low: 50n })]);
    expect(ahead.assignment[0]).toMatchObject({ committed: 10n, low: 20n, high: 20n });
  });
});

describe('a log that has lost what a bounded source is to read next', () => {
  test('is told as far as the span reaches', async () => {
    const { ahead, behind, events } = await bounded([[0, SPAN]]);
    events.assigned([found()]);
    events.outOfRange(AT, { low: 15n, high: 100n });
    expect([ahead.ranges, behind.said]).toEqual([[{ low: 15n, high: 20n }], []]);
  });

  test('and all that is left of the span with it is read no more', async () => {
    const { ahead, behind, source, events } = await bounded([[0, SPAN]]);
    events.assigned([found()]);
    events.outOfRange(AT, { low: 50n, high: 100n });
    source.seek(AT, 20n);
    source.resume([AT]);
    expect([ahead.ranges, behind.said]).toEqual([[{ low: 20n, high: 20n }], ['pause 0', 'seek 0:20']]);
  });
});

describe('where a bounded source ends', () => {
  test('hands over nothing from the end on, stops the partition before it does, and never resumes it', async () => {
    const { ahead, behind, source, events } = await bounded([[0, SPAN]]);
    events.assigned([found()]);
    source.seek(AT, 10n);
    source.resume([AT]);
    events.position(AT, 100n);
    events.records(AT, 10n, 25n, [record(18n), record(19n), record(20n), record(24n)]);
    source.resume([AT]);
    expect(ahead.got).toEqual([{ from: 10n, next: 20n, offsets: [18n, 19n] }]);
    expect(ahead.ends).toEqual([20n]);
    expect(behind.said).toEqual(['seek 0:10', 'resume 0', 'pause 0']);
    expect(source.handedOver).toBe(2);
  });

  test('a partition that is read again from an earlier offset flows again', async () => {
    const { behind, source, events } = await bounded([[0, SPAN]]);
    events.assigned([found()]);
    events.records(AT, 10n, 20n, [record(19n)]);
    source.seek(AT, 12n);
    source.resume([AT]);
    expect(behind.said).toEqual(['pause 0', 'seek 0:12', 'resume 0']);
  });

  test('a span that ends in offsets without records ends all the same', async () => {
    const { ahead, behind, events } = await bounded([[0, SPAN]]);
    events.assigned([found()]);
    events.records(AT, 10n, 20n, []);
    expect(ahead.got).toEqual([{ from: 10n, next: 20n, offsets: [] }]);
    expect(behind.said).toEqual(['pause 0']);
  });
});

describe('commits of a bounded source', () => {
  test('one that failed counts for nothing', async () => {
    const { behind, source, events } = await bounded([[0, SPAN]]);
    events.assigned([found()]);
    behind.commitFails = true;
    await expect(source.commit([{ ...AT, offset: 12n, metadata: '' }])).rejects.toThrow('not now');
    expect(source.isCommitted).toBe(false);
  });

  test('all are there once every partition of the spans has one, from now or from before', async () => {
    const { source, events } = await bounded([
      [0, SPAN],
      [1, SPAN],
    ]);
    let calls = 0;
    source.onCommitted(() => {
      calls += 1;
    });
    events.assigned([found(), found({ partition: 1, committed: 12n })]);
    expect(source.isCommitted).toBe(false);
    await source.commit([{ ...AT, offset: 10n, metadata: '' }]);
    expect(source.isCommitted).toBe(true);
    expect(calls).toBe(2);
  });

  test('stay here where the group is to keep nothing, and come back with the next assignment', async () => {
    const { ahead, behind, source, events } = await bounded([[0, SPAN]], false);
    events.assigned([found({ committed: 3n, metadata: 'of somebody' })]);
    expect(ahead.assignment[0]).toMatchObject({ committed: 10n, metadata: '' });
    await source.commit([{ ...AT, offset: 14n, metadata: 'map' }]);
    events.lost('crash');
    events.assigned([found()]);
    expect(ahead.assignment[0]).toMatchObject({ committed: 14n, metadata: 'map' });
    await source.stop();
    expect(behind.said).toEqual(['stop']);
  });
});
