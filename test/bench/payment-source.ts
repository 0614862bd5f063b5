import { type Source, type SourceEvents, type SourceRecord, type TopicPartition } from '../../src/engine/ports.ts';
import { keyPlan, nameOfKey, PARTITIONS, valueOf } from './backlog.ts';

const BATCH = 200;
const DIGITS = 8;
const VALUE = Buffer.from(valueOf(0, 0, false));
const NUMBER_AT = VALUE.indexOf('0'.repeat(DIGITS));

/**
 * A source without Kafka: hands over payments as long as they are wanted, a batch for a partition as soon as it is read
 * again. A record costs about what it costs to copy it out of a fetch.
 */
export class PaymentSource implements Source {
  readonly #topic: string;
  readonly #next = Array.from({ length: PARTITIONS }, () => 0);
  readonly #open = new Set<number>();
  readonly #plan = keyPlan('even');
  readonly #names: readonly Buffer[];
  #events: SourceEvents | null = null;
  #made = 0;
  #filling = false;

  constructor(topic: string) {
    this.#topic = topic;
    this.#names = Array.from({ length: this.#plan.keys }, (_, key) => Buffer.from(nameOfKey(key)));
  }

  async start(events: SourceEvents): Promise<void> {
    this.#events = events;
    const found = { topic: this.#topic, committed: null, metadata: '', low: 0n, high: 0n };
    events.assigned(this.#next.map((_, partition) => ({ ...found, partition })));
    await Promise.resolve();
  }

  pause(at: readonly TopicPartition[]): void {
    for (const { partition } of at) this.#open.delete(partition);
  }

  resume(at: readonly TopicPartition[]): void {
    for (const { partition } of at) this.#open.add(partition);
    if (this.#filling) return;
    this.#filling = true;
    setImmediate(this.#fill);
  }

  seek(): void {}

  async commit(): Promise<void> {
    await Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#open.clear();
    await Promise.resolve();
  }

  readonly #fill = (): void => {
    for (const partition of this.#open) this.#batch(partition);
    this.#filling = this.#open.size > 0;
    if (this.#filling) setImmediate(this.#fill);
  };

  #batch(partition: number): void {
    const at = { topic: this.#topic, partition };
    const from = this.#next[partition] ?? 0;
    const next = from + BATCH;
    const timestampMs = Date.now();
    const records: SourceRecord[] = [];
    for (let offset = from; offset < next; offset += 1) {
      const key = this.#names[this.#plan.keyOf(this.#made)] ?? VALUE;
      const value = Buffer.from(VALUE);
      value.write(String(this.#made % 10 ** DIGITS).padStart(DIGITS, '0'), NUMBER_AT, 'latin1');
      records.push({ ...at, offset: BigInt(offset), timestampMs, key: Buffer.from(key), value, headers: {} });
      this.#made += 1;
    }
    this.#next[partition] = next;
    this.#events?.records(at, BigInt(from), BigInt(next), records);
  }
}
