import { type Dispatcher, Pool } from 'undici';
import { openConsumer, SETTINGS } from './settings.ts';

/**
 * The floor: order per key at full concurrency with nothing else. One record of a key at a time, the record's own bytes as
 * body, a ring of finished offsets for each partition, the offset below the oldest unfinished one committed. No retries,
 * no answer read, no dead letters, no metrics, nothing on a rebalance: a measure, not a product.
 */
const BUFFERED_MOST = 4_000;
const RING = 65_536;
const MASK = RING - 1;

/** Which offsets of a partition have ended. */
class Progress {
  /** The oldest that has not. */
  base: number;
  /** The next one to be read. */
  next: number;
  committed = -1;
  readonly #done = new Uint8Array(RING);

  constructor(first: number) {
    this.base = first;
    this.next = first;
  }

  read(offset: number): void {
    if (offset - this.base >= RING) throw new Error('more unfinished records than the ring has places');
    // What the log has no record for needs no end.
    for (; this.next < offset; this.next += 1) this.#done[this.next & MASK] = 1;
    this.#done[offset & MASK] = 0;
    this.next = offset + 1;
  }

  finish(offset: number): void {
    this.#done[offset & MASK] = 1;
    while (this.base < this.next && this.#done[this.base & MASK] === 1) {
      this.#done[this.base & MASK] = 0;
      this.base += 1;
    }
  }
}

interface Entry {
  readonly progress: Progress;
  readonly offset: number;
  readonly key: string;
  readonly value: Buffer;
}

/** Entries in order; O(1) at both ends. */
class Queue {
  #items: (Entry | undefined)[] = [];
  #head = 0;

  push(entry: Entry): void {
    this.#items.push(entry);
  }

  shift(): Entry | undefined {
    const entry = this.#items[this.#head];
    if (entry === undefined) return undefined;
    this.#items[this.#head] = undefined;
    this.#head += 1;
    if (this.#head === this.#items.length) {
      this.#items.length = 0;
      this.#head = 0;
    } else if (this.#head > 4_096 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return entry;
  }
}

const partitions = new Map<number, Progress>();
/** A key is here while one of its records is under way; what follows waits. Null: nothing does. */
const lanes = new Map<string, Queue | null>();
/** Lanes that have become free hold the oldest records: they go first. */
const [resumed, fresh] = [new Queue(), new Queue()];
const pool = new Pool(SETTINGS.url.origin, { connections: SETTINGS.concurrency, pipelining: 1 });
const head = ['content-type', 'application/json'];
let [inFlight, buffered] = [0, 0];
let waiting: (() => void)[] = [];

class Handler implements Dispatcher.DispatchHandler {
  readonly #entry: Entry;

  constructor(entry: Entry) {
    this.#entry = entry;
  }

  onRequestStart(): void {}

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status >= 300) throw new Error(`status ${String(status)}`);
  }

  onResponseData(): void {}

  onResponseEnd(): void {
    finish(this.#entry);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    throw error;
  }
}

function offer(entry: Entry): void {
  buffered += 1;
  const lane = lanes.get(entry.key);
  if (lane === undefined) {
    lanes.set(entry.key, null);
    fresh.push(entry);
    return;
  }
  const behind = lane ?? new Queue();
  if (lane === null) lanes.set(entry.key, behind);
  behind.push(entry);
}

function finish({ progress, offset, key }: Entry): void {
  inFlight -= 1;
  buffered -= 1;
  progress.finish(offset);
  const next = lanes.get(key)?.shift();
  if (next === undefined) lanes.delete(key);
  else resumed.push(next);
  if (buffered <= BUFFERED_MOST / 2 && waiting.length > 0) {
    for (const resume of waiting) resume();
    waiting = [];
  }
  pump();
}

function pump(): void {
  while (inFlight < SETTINGS.concurrency) {
    const entry = resumed.shift() ?? fresh.shift();
    if (entry === undefined) return;
    inFlight += 1;
    pool.dispatch(
      { method: 'POST', path: SETTINGS.url.pathname, headers: head, body: entry.value },
      new Handler(entry),
    );
  }
}

function isFull(): boolean {
  return buffered >= BUFFERED_MOST;
}

const consumer = await openConsumer();
let isCommitting = false;

async function commit(): Promise<void> {
  if (isCommitting) return;
  isCommitting = true;
  const due = [...partitions].filter(([, { base, committed }]) => base > committed);
  const offsets = due.map(([partition, { base }]) => ({ topic: SETTINGS.topic, partition, offset: String(base) }));
  if (offsets.length > 0) await consumer.commitOffsets(offsets);
  for (const [index, [, progress]] of due.entries()) progress.committed = Number(offsets[index]?.offset ?? -1);
  isCommitting = false;
}

setInterval(() => {
  void commit();
}, SETTINGS.commitMs);
await consumer.run({
  autoCommit: false,
  eachBatchAutoResolve: false,
  partitionsConsumedConcurrently: SETTINGS.partitions,
  eachBatch: async (payload) => {
    const { batch } = payload;
    const progress = partitions.get(batch.partition) ?? new Progress(Number(batch.messages[0]?.offset ?? 0));
    partitions.set(batch.partition, progress);
    for (const { offset, key, value } of batch.messages) {
      while (isFull()) {
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
        });
        await payload.heartbeat();
      }
      progress.read(Number(offset));
      offer({ progress, offset: Number(offset), key: key?.toString('latin1') ?? '', value: value ?? Buffer.alloc(0) });
      if ((Number(offset) & 255) === 0) pump();
      payload.resolveOffset(offset);
    }
    pump();
  },
});
