import { type AssignedPartition, type Source, type SourceEvents, type ValueDecoder } from '../../engine/ports.ts';
import { type Schemas, type SourceRecord, type TopicPartition } from '../../engine/ports.ts';
import { type ReviewsRead } from './reckoning.ts';

/** Reads the topic of reviews as any service would, from its start, and counts what it finds. */
export class ReviewsReader implements SourceEvents {
  readonly #source: Source;
  readonly #decoder: ValueDecoder;
  readonly #schemas: Schemas;
  readonly #events = new Set<string>();
  #records = 0;

  constructor(source: Source, decoder: ValueDecoder, schemas: Schemas) {
    this.#source = source;
    this.#decoder = decoder;
    this.#schemas = schemas;
  }

  get found(): ReviewsRead {
    return { records: this.#records, events: this.#events.size };
  }

  async barrier(): Promise<void> {
    await Promise.resolve();
  }

  assigned(partitions: readonly AssignedPartition[]): void {
    this.#events.clear();
    this.#records = 0;
    for (const each of partitions) this.#source.seek(each, each.low);
    this.#source.resume(partitions);
  }

  records(at: TopicPartition, _from: bigint, _next: bigint, records: readonly SourceRecord[]): void {
    for (const { value, offset } of records) {
      const decoded = this.#decoder.decode(value ?? Buffer.alloc(0));
      if (decoded.do === 'needs') {
        void this.#schemas.fetch(decoded.schema);
        this.#source.seek(at, offset);
        return;
      }
      this.#records += 1;
      if (decoded.do === 'value') this.#events.add((decoded.value as { event_id: string }).event_id);
    }
  }

  position(): void {
    // Only what is read counts.
  }

  lost(): void {
    // It starts over when it is assigned again.
  }
}
