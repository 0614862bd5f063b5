import { type AssignedPartition, type Source, type SourceEvents, type ValueDecoder } from '../../engine/ports.ts';
import { type LogRange, type Schemas, type SourceRecord, type TopicPartition } from '../../engine/ports.ts';
import { type ReviewsRead } from './reckoning.ts';

export interface OutputsReaderParts {
  readonly source: Source;
  readonly schemas: Schemas;
  /** Of the topic of reviews. */
  readonly decoder: ValueDecoder;
  readonly reviews: string;
  readonly scores: string | null;
  /** Told of every score record, of repeated ones too: whose, and the record's timestamp. */
  readonly scored: (transId: string, atMs: number) => void;
}

/** Reads the topics that the connector writes, as any service would, from their start, and counts what it finds. */
export class OutputsReader implements SourceEvents {
  readonly #parts: OutputsReaderParts;
  readonly #events = new Set<string>();
  #reviews = 0;
  #scores = 0;
  #letters = 0;

  constructor(parts: OutputsReaderParts) {
    this.#parts = parts;
  }

  get found(): ReviewsRead {
    return { records: this.#reviews, events: this.#events.size };
  }

  /** Score records, repeated ones too. */
  get scores(): number {
    return this.#scores;
  }

  /** Records in dead-letter topics. */
  get letters(): number {
    return this.#letters;
  }

  async barrier(): Promise<void> {
    await Promise.resolve();
  }

  assigned(partitions: readonly AssignedPartition[]): void {
    this.#events.clear();
    this.#reviews = 0;
    this.#scores = 0;
    this.#letters = 0;
    for (const each of partitions) this.#parts.source.seek(each, each.low);
    this.#parts.source.resume(partitions);
  }

  records(at: TopicPartition, _from: bigint, _next: bigint, records: readonly SourceRecord[]): void {
    const { reviews, scores } = this.#parts;
    if (at.topic === reviews) this.#readReviews(at, records);
    else if (at.topic === scores) this.#readScores(records);
    else this.#letters += records.length;
  }

  position(): void {
    // Only what is read counts.
  }

  outOfRange(at: TopicPartition, { low }: LogRange): void {
    this.#parts.source.seek(at, low);
  }

  lost(): void {
    // It starts over when it is assigned again.
  }

  #readReviews(at: TopicPartition, records: readonly SourceRecord[]): void {
    const { decoder, schemas, source } = this.#parts;
    for (const { value, offset } of records) {
      const decoded = decoder.decode(value ?? Buffer.alloc(0));
      if (decoded.do === 'needs') {
        void schemas.fetch(decoded.schema);
        source.seek(at, offset);
        return;
      }
      this.#reviews += 1;
      if (decoded.do === 'value') this.#events.add((decoded.value as { event_id: string }).event_id);
    }
  }

  #readScores(records: readonly SourceRecord[]): void {
    this.#scores += records.length;
    // The key of a score record is its trans_id.
    for (const { key, timestampMs } of records) if (key !== null) this.#parts.scored(key.toString('utf8'), timestampMs);
  }
}
