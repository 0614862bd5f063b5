import { describe, expect, test } from 'vitest';
import { Batches, type BatchLimits, type ClosedBatch, type UpdateEnd } from '../../../../src/flows/sync/batch.ts';
import { bodyBytes } from '../../../../src/flows/sync/body.ts';
import { UNTRIED, type UpdateState } from '../../../../src/flows/sync/search.ts';
import { settled } from '../../../support/manual-clock.ts';
import { member, owned, type FakeTenure } from './builders.ts';

const LIMITS: BatchLimits = { maxRecords: 3, maxBytes: 10_000, maxAgeMs: 500, inFlight: 2 };

class Bench {
  readonly sent: { readonly batch: ClosedBatch; readonly finish: (error?: Error) => void }[] = [];
  readonly freed: string[] = [];
  readonly ends: [id: string, end: UpdateEnd | 'failed'][] = [];
  changes = 0;
  /** Whether batches may be sent. */
  open = true;
  isProbing = false;
  readonly batches: Batches;

  constructor(limits: Partial<BatchLimits> = {}) {
    this.batches = new Batches({
      limits: { ...LIMITS, ...limits },
      send: async (batch) => {
        await new Promise<void>((resolve, reject) => {
          this.sent.push({
            batch,
            finish: (error) => {
              if (error === undefined) resolve();
              else reject(error);
            },
          });
        });
      },
      maySend: () => this.open,
      isProbing: () => this.isProbing,
      onFreed: (id) => void this.freed.push(id),
      onChanged: () => {
        this.changes += 1;
      },
    });
  }

  add(id: string, nowMs = 0, tenure: FakeTenure = owned(), state: UpdateState = UNTRIED): void {
    this.batches.add(member(id, tenure, state), nowMs).then(
      (end) => void this.ends.push([id, end]),
      () => void this.ends.push([id, 'failed']),
    );
  }

  shape(): string[] {
    return this.sent.map(({ batch }) => `${batch.closedBy}: ${batch.members.map(({ transId }) => transId).join(' ')}`);
  }

  async accept(index: number): Promise<void> {
    const sent = this.sent[index];
    for (const one of sent?.batch.members ?? []) one.end({ do: 'accepted' });
    sent?.finish();
    await settled();
  }
}

describe('what is not sent', () => {
  test('an open batch before it is full or old', () => {
    const bench = new Bench();
    bench.add('a', 100);
    bench.add('b', 300);
    expect(bench.batches.due()).toBe(600);
    bench.batches.tick(599);
    expect(bench.sent).toEqual([]);
  });

  test('an empty batch, whatever happens', () => {
    const bench = new Bench();
    expect(bench.batches.due()).toBeNull();
    bench.batches.tick(10_000);
    bench.batches.flush();
    bench.batches.release();
    expect(bench.sent).toEqual([]);
  });

  test('updates of a lost partition', async () => {
    const bench = new Bench();
    const lost = owned();
    bench.add('a', 0, lost);
    bench.add('b');
    lost.phase = 'lost';
    bench.batches.tick(500);
    await settled();
    expect(bench.shape()).toEqual(['age: b']);
    expect(bench.ends).toEqual([['a', { do: 'release' }]]);
  });

  test('a batch of lost partitions alone', () => {
    const bench = new Bench();
    const lost = owned();
    bench.add('a', 0, lost);
    lost.phase = 'lost';
    bench.batches.tick(500);
    expect(bench.sent).toEqual([]);
    expect(bench.batches.room()).toBe(9);
  });

  test('more batches at once than allowed', async () => {
    const bench = new Bench();
    for (const id of 'abcdefgh') bench.add(id);
    expect(bench.shape()).toEqual(['records: a b c', 'records: d e f']);
    expect(bench.batches.due()).toBeNull();
    bench.add('i');
    expect(bench.sent).toHaveLength(2);
    expect(bench.batches.room()).toBe(0);
    await bench.accept(0);
    expect(bench.shape()).toEqual(['records: a b c', 'records: d e f', 'records: g h i']);
    expect(bench.changes).toBe(1);
  });
});

describe('what closes a batch', () => {
  test('its age, since its first update', () => {
    const bench = new Bench();
    bench.add('a', 100);
    bench.add('b', 590);
    bench.batches.tick(600);
    expect(bench.shape()).toEqual(['age: a b']);
    expect(bench.batches.due()).toBeNull();
  });

  test('its records', () => {
    const bench = new Bench();
    for (const id of 'abcd') bench.add(id);
    expect(bench.shape()).toEqual(['records: a b c']);
  });

  test('its bytes, exactly', () => {
    const { length } = member('a').fragment;
    const fits = new Bench({ maxBytes: bodyBytes(2, 2 * length) });
    fits.add('a');
    fits.add('b');
    expect(fits.shape()).toEqual(['bytes: a b']);
    const short = new Bench({ maxBytes: bodyBytes(2, 2 * length) - 1 });
    short.add('a');
    short.add('b');
    expect(short.shape()).toEqual(['bytes: a']);
  });

  test('one update that is longer than a batch goes alone', () => {
    const bench = new Bench({ maxBytes: 60 });
    bench.add('a');
    bench.add('x'.repeat(100));
    bench.add('c');
    expect(bench.shape()).toEqual(['bytes: a', `bytes: ${'x'.repeat(100)}`]);
  });

  test('a stop', () => {
    const bench = new Bench();
    bench.add('a');
    bench.batches.flush();
    expect(bench.shape()).toEqual(['stop: a']);
  });

  test('its age, as soon as there is a place for it', async () => {
    const bench = new Bench({ inFlight: 1 });
    for (const id of 'abcd') bench.add(id, 0);
    expect(bench.batches.due()).toBeNull();
    await bench.accept(0);
    expect(bench.batches.due()).toBe(500);
    expect(bench.changes).toBe(1);
  });
});

describe('an id', () => {
  test('is held from its adding to its end', async () => {
    const bench = new Bench();
    expect(bench.batches.holds('a')).toBe(false);
    bench.add('a');
    expect(bench.batches.holds('a')).toBe(true);
    bench.batches.flush();
    expect(bench.batches.holds('a')).toBe(true);
    await bench.accept(0);
    expect(bench.batches.holds('a')).toBe(false);
    expect(bench.freed).toEqual(['a']);
    expect(bench.ends).toEqual([['a', { do: 'accepted' }]]);
  });

  test('is given up when its partition is lost before it was sent, open or ready', async () => {
    const bench = new Bench({ inFlight: 1, maxRecords: 2 });
    const lost = owned();
    for (const id of 'abc') bench.add(id);
    bench.add('d', 0, lost);
    bench.add('e', 0, lost);
    lost.phase = 'lost';
    expect(['d', 'e'].map((id) => bench.batches.holds(id))).toEqual([false, false]);
    await bench.accept(0);
    expect(bench.shape()).toEqual(['records: a b', 'records: c']);
  });

  test('is kept when its partition is lost while it is sent', () => {
    const bench = new Bench();
    const lost = owned();
    bench.add('a', 0, lost);
    bench.batches.flush();
    lost.phase = 'lost';
    expect(bench.batches.holds('a')).toBe(true);
  });

  test('that has ended does not end its successor', async () => {
    const bench = new Bench();
    bench.add('a');
    bench.batches.flush();
    const [first] = bench.sent[0]?.batch.members ?? [];
    first?.end({ do: 'accepted' });
    bench.add('a');
    first?.end({ do: 'release' });
    await settled();
    expect(bench.ends).toEqual([['a', { do: 'accepted' }]]);
    expect(bench.batches.holds('a')).toBe(true);
  });
});

describe('before a join', () => {
  test('what is open or ready goes back, what is in flight may end without further calls', async () => {
    const bench = new Bench({ inFlight: 1 });
    for (const id of 'abcdefg') bench.add(id);
    expect(bench.sent[0]?.batch.mayGoOn()).toBe(true);
    bench.batches.release();
    expect(bench.sent[0]?.batch.mayGoOn()).toBe(false);
    await settled();
    expect(bench.ends).toEqual(['d', 'e', 'f', 'g'].map((id) => [id, { do: 'release' }]));
    await bench.accept(0);
    expect(bench.shape()).toEqual(['records: a b c']);
    bench.add('d');
    bench.batches.flush();
    expect(bench.sent[1]?.batch.mayGoOn()).toBe(true);
  });
});

describe('a batch whose sending fails', () => {
  test('fails its updates and frees its place', async () => {
    const bench = new Bench({ inFlight: 1 });
    for (const id of 'abcdef') bench.add(id);
    bench.sent[0]?.finish(new Error('broken'));
    await settled();
    expect(bench.ends).toEqual(['a', 'b', 'c'].map((id) => [id, 'failed']));
    expect(bench.shape()).toEqual(['records: a b c', 'records: d e f']);
  });

  test('fails those that it forgot', async () => {
    const bench = new Bench();
    for (const id of 'abc') bench.add(id);
    bench.sent[0]?.batch.members[0]?.end({ do: 'accepted' });
    bench.sent[0]?.finish();
    await settled();
    expect(bench.ends).toEqual([
      ['a', { do: 'accepted' }],
      ['b', 'failed'],
      ['c', 'failed'],
    ]);
    expect(bench.batches.room()).toBe(9);
  });
});

describe('while batches may not be sent', () => {
  test('they are kept, in order, and sent when they may be', async () => {
    const bench = new Bench();
    bench.open = false;
    for (const id of 'abcd') bench.add(id);
    expect([bench.sent, bench.batches.isHeldBack]).toEqual([[], true]);
    bench.open = true;
    bench.batches.pump();
    expect(bench.shape()).toEqual(['records: a b c']);
    await bench.accept(0);
    expect(bench.batches.isHeldBack).toBe(false);
  });

  test('a stop gives them back instead of waiting for a service that is ill', async () => {
    const bench = new Bench();
    for (const id of 'abc') bench.add(id);
    bench.open = false;
    bench.add('d');
    bench.batches.flush();
    expect(bench.ends).toEqual([]);
    await bench.accept(0);
    expect(bench.ends.map(([id, end]) => [id, end])).toEqual([
      ['a', { do: 'accepted' }],
      ['b', { do: 'accepted' }],
      ['c', { do: 'accepted' }],
      ['d', { do: 'release' }],
    ]);
  });
});

/** Of an update that has failed so often. */
function tried(failures: number, aloneAt: number | null = null): UpdateState {
  const retry = { failures, against: 0, sinceMs: 0, succeededBefore: 0, failedBefore: 0 };
  return { retry, failedAt: 1, aloneAt };
}

const ALONE = tried(3, 2);

describe('an update that was found to fail', () => {
  test('is a batch of its own at once, and closes no other', () => {
    const bench = new Bench();
    bench.add('a');
    bench.add('b', 0, owned(), ALONE);
    bench.add('c');
    bench.add('d');
    expect(bench.shape()).toEqual(['records: b', 'records: a c d']);
  });

  test('takes a quarter of the places at most, also while no other waits', async () => {
    const bench = new Bench({ inFlight: 8 });
    for (const id of 'abcd') bench.add(id, 0, owned(), ALONE);
    expect(bench.shape()).toEqual(['records: a', 'records: b']);
    expect(bench.batches.loneRoom).toBe(-2);
    bench.add('x');
    bench.batches.flush();
    expect(bench.shape().at(-1)).toBe('stop: x');
    await bench.accept(0);
    expect(bench.shape().at(-1)).toBe('records: c');
  });

  test('gets a place of those that become free, however many others wait', async () => {
    const bench = new Bench({ inFlight: 4, maxRecords: 1 });
    for (const id of 'abcdef') bench.add(id);
    bench.add('z', 0, owned(), ALONE);
    expect(bench.batches.loneRoom).toBe(0);
    await bench.accept(0);
    expect(bench.shape().at(-1)).toBe('records: z');
  });

  test('takes turns with others where there is one place', async () => {
    const bench = new Bench({ inFlight: 1, maxRecords: 1 });
    for (const id of 'ab') bench.add(id, 0, owned(), ALONE);
    for (const id of 'xy') bench.add(id);
    for (let n = 0; n < 3; n += 1) await bench.accept(n);
    expect(bench.shape().map((line) => line.at(-1))).toEqual(['a', 'x', 'b', 'y']);
  });

  test('is given up when its partition is lost before it was sent, and given back before a join', async () => {
    const bench = new Bench();
    bench.open = false;
    const lost = owned();
    bench.add('a', 0, lost, ALONE);
    bench.add('b', 0, owned(), ALONE);
    expect([bench.batches.unsent, bench.batches.isHeldBack]).toEqual([2, true]);
    lost.phase = 'lost';
    expect(bench.batches.holds('a')).toBe(false);
    bench.batches.release();
    await settled();
    expect(bench.ends).toEqual(['a', 'b'].map((id) => [id, { do: 'release' }]));
    expect([bench.batches.unsent, bench.batches.isHeldBack]).toEqual([0, false]);
  });
});

/** A bench that may send nothing but a probe, later. */
function probing(): Bench {
  const bench = new Bench({ maxRecords: 4, inFlight: 2 });
  bench.open = false;
  bench.isProbing = true;
  return bench;
}

describe('a probe', () => {
  test('is one update, the newest of those that were not tried yet, out of whatever batch it waits in', () => {
    const bench = probing();
    bench.add('a');
    bench.add('b');
    for (const id of 'cd') bench.add(id, 0, owned(), tried(1));
    bench.add('e', 0, owned(), tried(1));
    bench.add('f', 0, owned(), ALONE);
    expect([bench.shape(), bench.batches.unsent]).toEqual([[], 6]);
    bench.open = true;
    bench.batches.pump();
    expect(bench.shape().slice(0, 2)).toEqual(['records: b', 'records: a']);
  });

  test('is of those that failed least often, where all were tried', () => {
    const bench = probing();
    bench.add('a', 0, owned(), tried(2));
    bench.add('b', 0, owned(), tried(1));
    bench.add('c', 0, owned(), tried(3));
    bench.open = true;
    bench.batches.pump();
    expect(bench.shape()[0]).toBe('records: b');
  });

  test('goes out as soon as an update comes, if one is due', () => {
    const bench = probing();
    bench.open = true;
    bench.add('a');
    expect(bench.shape()).toEqual(['records: a']);
  });

  test('leaves the others in their batches', async () => {
    const bench = probing();
    for (const id of 'abcde') bench.add(id);
    bench.open = true;
    bench.batches.pump();
    bench.isProbing = false;
    await bench.accept(0);
    bench.batches.flush();
    expect(bench.shape().slice(0, 1)).toEqual(['records: e']);
    expect(bench.batches.unsent).toBe(0);
  });
});

test('bodies are half as long after one was refused as too large, and grow again with each success', () => {
  const { length } = member('a').fragment;
  const bench = new Bench({ maxRecords: 100, inFlight: 99, maxBytes: 200 * length });
  bench.batches.tooLarge(100 * length);
  for (let n = 0; n < 60; n += 1) bench.add(String.fromCodePoint(0x4e00 + n));
  const first = bench.sent[0]?.batch.members.length ?? 0;
  expect(bodyBytes(first, first * (length + 2))).toBeLessThanOrEqual(50 * length);
  for (let n = 0; n < 30; n += 1) bench.batches.fits();
  bench.batches.flush();
  const sentBefore = bench.sent.length;
  for (let n = 0; n < 100; n += 1) bench.add(`g${String(n)}`);
  expect(bench.sent[sentBefore]?.batch.members.length).toBe(100);
});
