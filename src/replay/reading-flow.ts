import { type Flow, type Reading, type SourceRecord, type Step } from '../engine/ports.ts';
import { type Letter, type SkipRule } from '../kernel/outcome.ts';

export interface ReadingOptions<Item> {
  /** Reads, and names lanes; its lanes are trans_ids. */
  readonly flow: Pick<Flow<Item, unknown>, 'name' | 'read' | 'lane'>;
  /** A record that could be sent. Null: it counts as delivered. Must not throw. */
  readonly onUpdate: (transId: string, record: SourceRecord, item: Item) => SkipRule | null;
  /** A record that would become a letter. */
  readonly onLetter?: (letter: Letter, record: SourceRecord) => void;
}

/** Reads records as another flow does, and sends and writes nothing: each ends when it has been read. */
export class ReadingFlow<Item> implements Flow<Item, never> {
  readonly name: string;
  readonly #options: ReadingOptions<Item>;

  constructor(options: ReadingOptions<Item>) {
    this.#options = options;
    this.name = options.flow.name;
  }

  attach(): void {}

  read(record: SourceRecord): Reading<Item> {
    const { flow, onUpdate, onLetter } = this.#options;
    const reading = flow.read(record);
    if (reading.do === 'dead_letter') {
      onLetter?.(reading.letter, record);
      return { do: 'skip', rule: 'out_of_range' };
    }
    if (reading.do !== 'item') return reading;
    const rule = onUpdate(flow.lane(reading.item, record), record, reading.item);
    return rule === null ? { do: 'delivered' } : { do: 'skip', rule };
  }

  lane(item: Item, record: SourceRecord): string {
    return this.#options.flow.lane(item, record);
  }

  mayStart(): null {
    return null;
  }

  room(): number {
    return Infinity;
  }

  /** Never called: every record ends when it is read. */
  async run(): Promise<Step<never>> {
    return await Promise.resolve({ do: 'release' });
  }

  due(): number | null {
    return null;
  }

  tick(): void {}

  barrier(): void {}
}
