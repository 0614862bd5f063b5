/** Something that falls due; the queue keeps its place in `slot` (-1: not in it). */
export interface Due {
  dueMs: number;
  slot: number;
}

/** Waits ordered by their time: a binary heap, O(log n) to add and to remove any of them; a wait costs no timer and no promise. */
export class WaitQueue<T extends Due> {
  readonly #heap: T[] = [];

  get size(): number {
    return this.#heap.length;
  }

  /** When the first one falls due; null: none waits. */
  nextDueMs(): number | null {
    return this.#heap[0]?.dueMs ?? null;
  }

  /** All that wait, in no order. */
  list(): readonly T[] {
    return [...this.#heap];
  }

  add(item: T): void {
    this.#place(item, this.#heap.length);
    this.#up(item);
  }

  /** Takes the first one that is due, or undefined. */
  take(nowMs: number): T | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.dueMs > nowMs) return undefined;
    this.remove(first);
    return first;
  }

  remove(item: T): void {
    const slot = item.slot;
    if (slot < 0) return;
    item.slot = -1;
    const last = this.#heap.pop();
    if (last === undefined || last === item) return;
    this.#place(last, slot);
    this.#up(last);
    this.#down(last);
  }

  /** Lets it fall due sooner; never later. */
  moveUp(item: T, dueMs: number): void {
    if (item.dueMs <= dueMs) return;
    item.dueMs = dueMs;
    this.#up(item);
  }

  #place(item: T, slot: number): void {
    this.#heap[slot] = item;
    item.slot = slot;
  }

  #up(item: T): void {
    while (item.slot > 0) {
      const slot = item.slot;
      const parent = this.#heap[(slot - 1) >> 1];
      if (parent === undefined || parent.dueMs <= item.dueMs) return;
      this.#place(parent, slot);
      this.#place(item, (slot - 1) >> 1);
    }
  }

  #down(item: T): void {
    for (;;) {
      const slot = item.slot;
      const left = this.#heap[slot * 2 + 1];
      const right = this.#heap[slot * 2 + 2];
      const child = right !== undefined && left !== undefined && right.dueMs < left.dueMs ? right : left;
      if (child === undefined || child.dueMs >= item.dueMs) return;
      const childSlot = child.slot;
      this.#place(child, slot);
      this.#place(item, childSlot);
    }
  }
}
