interface Link<T> {
  readonly item: T;
  next: Link<T> | null;
}

/** First in, first out; O(1), and keeps nothing that has left. */
export class Fifo<T> {
  #first: Link<T> | null = null;
  #last: Link<T> | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  push(item: T): void {
    const link: Link<T> = { item, next: null };
    if (this.#last === null) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    this.#size += 1;
  }

  peek(): T | undefined {
    return this.#first?.item;
  }

  shift(): T | undefined {
    const link = this.#first;
    if (link === null) return undefined;
    this.#first = link.next;
    if (link.next === null) this.#last = null;
    this.#size -= 1;
    return link.item;
  }

  *[Symbol.iterator](): Generator<T, void> {
    for (let link = this.#first; link !== null; link = link.next) yield link.item;
  }

  /** The one that came last. */
  peekLast(): T | undefined {
    return this.#last?.item;
  }

  /** Takes the one that came last; O(n). */
  takeLast(): T | undefined {
    const last = this.#last;
    if (last === null) return undefined;
    let before: Link<T> | null = null;
    for (let link = this.#first; link !== null && link !== last; link = link.next) before = link;
    if (before === null) this.#first = null;
    else before.next = null;
    this.#last = before;
    this.#size -= 1;
    return last.item;
  }

  clear(): void {
    this.#first = null;
    this.#last = null;
    this.#size = 0;
  }
}
