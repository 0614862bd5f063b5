import { type OutgoingRecord, type RecordWriter, type WriteOutcome } from '../engine/ports.ts';
import { BucketCounts, OPERATION_SECONDS } from '../kernel/bucket-counts.ts';
import { type Clock } from '../kernel/clock.ts';
import { type WriteReport } from './running.ts';

/** A writer that counts what it is given, by topic and end, and hands it on unchanged. */
export class MeteredWriter implements RecordWriter {
  readonly #writer: RecordWriter;
  readonly #clock: Clock;
  readonly #topics = new Map<string, Map<string, BucketCounts>>();

  constructor(writer: RecordWriter, clock: Clock) {
    this.#writer = writer;
    this.#clock = clock;
  }

  async write(record: OutgoingRecord, deadlineMs: number): Promise<WriteOutcome> {
    const sinceMs = this.#clock.monotonicMs();
    const outcome = await this.#writer.write(record, deadlineMs);
    const end = outcome.do === 'written' ? '' : outcome.do === 'refused' ? outcome.why : outcome.do;
    this.#countsOf(record.topic, end).add((this.#clock.monotonicMs() - sinceMs) / 1000);
    return outcome;
  }

  report(): readonly WriteReport[] {
    return [...this.#topics].map(([topic, ends]) => ({ topic, ends }));
  }

  #countsOf(topic: string, end: string): BucketCounts {
    let ends = this.#topics.get(topic);
    if (ends === undefined) this.#topics.set(topic, (ends = new Map<string, BucketCounts>()));
    let counts = ends.get(end);
    if (counts === undefined) ends.set(end, (counts = new BucketCounts(OPERATION_SECONDS)));
    return counts;
  }
}
