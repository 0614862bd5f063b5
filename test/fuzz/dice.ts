import { type Draw } from '../../src/kernel/clock.ts';
import { seededDraw } from '../../src/sandbox/service/chance.ts';

/** Chance that is the same for the same seed, in the shapes that making requests needs. */
export class Dice {
  readonly #draw: Draw;

  /** `index`: of the thing that is made; neighbours have nothing in common. */
  constructor(seed: number, index: number) {
    this.#draw = seededDraw(Math.imul(seed ^ 0x2545f491, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b));
  }

  /** A whole number from 0 (included) to `below` (excluded). */
  below(below: number): number {
    return Math.floor(this.#draw() * below);
  }

  /** A whole number between two, both included. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(share: number): boolean {
    return this.#draw() < share;
  }

  pick<T>(from: readonly T[]): T {
    const picked = from[this.below(from.length)];
    if (picked === undefined) throw new RangeError('nothing to pick from');
    return picked;
  }

  shuffled<T>(list: readonly T[]): T[] {
    const all = [...list];
    for (let last = all.length - 1; last > 0; last -= 1) {
      const other = this.below(last + 1);
      [all[last], all[other]] = [all[other] as T, all[last] as T];
    }
    return all;
  }

  bytes(count: number): Buffer {
    return Buffer.from(Array.from({ length: count }, () => this.below(256)));
  }

  /** The text with the case of its letters changed here and there. */
  cased(text: string): string {
    if (this.chance(0.5)) return text;
    return Array.from(text, (letter) => (this.chance(0.5) ? letter.toUpperCase() : letter.toLowerCase())).join('');
  }
}
