import {
  type DeadLetters,
  type EngineSignals,
  type Flow,
  type Job,
  type Reading,
  type SourceRecord,
  type Step,
} from '../engine/ports.ts';
import { type HoldCause } from '../kernel/outcome.ts';

/** What a flow has read, with the record that it takes it for. */
export interface LetterItem<Item> {
  readonly item: Item;
  readonly record: SourceRecord;
}

/** The record that a letter is about; null: this letter is not to be sent. The same each time it is asked. */
export type RecordOf = (letter: SourceRecord) => SourceRecord | null;

/** Sends letters through the flow of their source, which sees the records that they are about. All others are passed over. */
export class LetterFlow<Item, Carry> implements Flow<LetterItem<Item>, Carry> {
  readonly name: string;
  readonly #flow: Flow<Item, Carry>;
  readonly #recordOf: RecordOf;

  constructor(flow: Flow<Item, Carry>, recordOf: RecordOf) {
    this.name = flow.name;
    this.#flow = flow;
    this.#recordOf = recordOf;
  }

  attach(signals: EngineSignals): void {
    this.#flow.attach(signals);
  }

  read(letter: SourceRecord): Reading<LetterItem<Item>> {
    const record = this.#recordOf(letter);
    if (record === null) return { do: 'skip', rule: 'out_of_range' };
    const reading = this.#flow.read(record);
    return reading.do === 'item' ? { do: 'item', item: { item: reading.item, record } } : reading;
  }

  lane({ item, record }: LetterItem<Item>): string {
    return this.#flow.lane(item, record);
  }

  mayStart(job: Job<LetterItem<Item>, Carry>, nowMs: number): HoldCause | null {
    return this.#flow.mayStart(toJob(job), nowMs);
  }

  room(nowMs: number): number {
    return this.#flow.room(nowMs);
  }

  async run(job: Job<LetterItem<Item>, Carry>): Promise<Step<Carry>> {
    return await this.#flow.run(toJob(job));
  }

  due(askedMs: number): number | null {
    return this.#flow.due(askedMs);
  }

  tick(nowMs: number): void {
    this.#flow.tick(nowMs);
  }

  barrier(before: 'stop' | 'join'): void {
    this.#flow.barrier(before);
  }

  isAnswered(carry: Carry): boolean {
    return this.#flow.isAnswered?.(carry) ?? false;
  }

  lettered(letter: SourceRecord): void {
    const record = this.#recordOf(letter);
    if (record !== null) this.#flow.lettered?.(record);
  }
}

/** Letters of letters are letters of the same source: they go where those went, and say where the record was. */
export function lettersAgain(letters: DeadLetters, recordOf: RecordOf): DeadLetters {
  return {
    write: async (record, letter, attempts) => await letters.write(recordOf(record) ?? record, letter, attempts),
  };
}

function toJob<Item, Carry>({ item: { item, record }, ...job }: Job<LetterItem<Item>, Carry>): Job<Item, Carry> {
  return { ...job, item, record };
}
