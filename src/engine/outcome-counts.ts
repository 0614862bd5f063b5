import { type Settlement } from '../kernel/outcome.ts';

/** How many records ended how, by `delivered`, `skip:<rule>` and `dead_letter:<reason>`. */
export class OutcomeCounts {
  readonly #counts = new Map<string, number>();

  count(settlement: Settlement): void {
    const name = nameOf(settlement);
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }

  list(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }
}

function nameOf(settlement: Settlement): string {
  switch (settlement.do) {
    case 'delivered':
      return 'delivered';
    case 'skip':
      return `skip:${settlement.rule}`;
    case 'dead_letter':
      return `dead_letter:${settlement.letter.reason}`;
  }
}
