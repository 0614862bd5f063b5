/** Counts over the last while, in slices of time: O(1) to add, old slices are forgotten as time goes on. */
export class SlidingCount {
  readonly #sliceMs: number;
  readonly #counts: Float64Array;
  #slice: number;

  constructor({ spanMs, slices, nowMs }: { readonly spanMs: number; readonly slices: number; readonly nowMs: number }) {
    this.#sliceMs = spanMs / slices;
    this.#counts = new Float64Array(slices);
    this.#slice = Math.floor(nowMs / this.#sliceMs);
  }

  add(by: number, nowMs: number): void {
    this.#pass(nowMs);
    const index = this.#slice % this.#counts.length;
    this.#counts[index] = (this.#counts[index] ?? 0) + by;
  }

  sum(nowMs: number): number {
    this.#pass(nowMs);
    let all = 0;
    for (const count of this.#counts) all += count;
    return all;
  }

  clear(): void {
    this.#counts.fill(0);
  }

  #pass(nowMs: number): void {
    const slice = Math.floor(nowMs / this.#sliceMs);
    const { length } = this.#counts;
    for (let gone = Math.min(slice - this.#slice, length); gone > 0; gone -= 1)
      this.#counts[(slice - gone + 1) % length] = 0;
    this.#slice = Math.max(slice, this.#slice);
  }
}
