interface Event {
  readonly atMs: number;
  readonly run: () => void;
}

/** Pseudo-random numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Events by time. */
export class Agenda {
  readonly #heap: Event[] = [];

  get nextMs(): number {
    return this.#heap[0]?.atMs ?? Infinity;
  }

  add(atMs: number, run: () => void): void {
    const heap = this.#heap;
    let index = heap.length;
    heap.push({ atMs, run });
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (at(heap, parent).atMs <= at(heap, index).atMs) break;
      swap(heap, parent, index);
      index = parent;
    }
  }

  take(): Event | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return first;
    heap[0] = last;
    for (let index = 0; ;) {
      const left = 2 * index + 1;
      if (left >= heap.length) return first;
      const right = left + 1;
      const child = right < heap.length && at(heap, right).atMs < at(heap, left).atMs ? right : left;
      if (at(heap, index).atMs <= at(heap, child).atMs) return first;
      swap(heap, child, index);
      index = child;
    }
  }
}

function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new RangeError('outside of the list');
  return item;
}

function swap(list: Event[], one: number, other: number): void {
  const kept = at(list, one);
  list[one] = at(list, other);
  list[other] = kept;
}

/** First in, first out; the newest can be taken, too. */
export class Queue<T> {
  #items: T[] = [];
  #from = 0;

  get size(): number {
    return this.#items.length - this.#from;
  }

  get head(): T | undefined {
    return this.#items[this.#from];
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    const item = this.#items[this.#from];
    if (this.size > 0) this.#from += 1;
    if (this.#from > 4096 && this.#from * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#from);
      this.#from = 0;
    }
    return item;
  }

  pop(): T | undefined {
    return this.size > 0 ? this.#items.pop() : undefined;
  }

  list(): readonly T[] {
    return this.#items.slice(this.#from);
  }
}
