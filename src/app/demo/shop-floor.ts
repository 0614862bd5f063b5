import { type RecordWriter } from '../../engine/ports.ts';
import { type Cancel, type Clock } from '../../kernel/clock.ts';
import { type Shops, type ShopPayment } from '../../sandbox/shops.ts';

export interface ShopFloorParts {
  readonly shops: Shops;
  readonly writer: RecordWriter;
  readonly topicCreated: string;
  readonly topicAuthorized: string;
  /** Payments a second. */
  readonly rate: number;
  readonly clock: Clock;
  /** Told of each payment when it is about to be written: whose, and when (milliseconds since 1970). */
  readonly selling?: (transId: string, atMs: number) => void;
}

const BEAT_MS = 20;
const WRITE_DEADLINE_MS = 30_000;

/** Made-up shops that write payments at a rate, and their outcomes when the bank has answered. Keeps account of what Kafka has acknowledged. */
export class ShopFloor {
  readonly #parts: ShopFloorParts;
  /** By trans_id: the status that was written; null: none yet. */
  readonly payments = new Map<string, string | null>();
  /** Payments whose outcome is still to come. */
  open = 0;
  /** Payments whose status was written. */
  authorized = 0;
  /** Records written that are no payments. */
  poison = 0;
  /** Records that Kafka did not acknowledge: they count for nothing. */
  refused = 0;
  readonly #startedMs: number;
  #made = 0;
  #cancel: Cancel = () => undefined;
  #selling = true;

  constructor(parts: ShopFloorParts) {
    this.#parts = parts;
    this.#startedMs = parts.clock.monotonicMs();
    this.#beat();
  }

  /** No new payments; outcomes of those that were made still come. */
  close(): void {
    this.#selling = false;
    this.#cancel();
  }

  /** Writes a record that is no payment and can never be one. */
  async spoil(): Promise<void> {
    this.open += 1;
    if (await this.#write(this.#parts.topicCreated, 'a broken shop', 'this is no JSON')) this.poison += 1;
    this.open -= 1;
  }

  #beat(): void {
    const { clock, rate, shops } = this.#parts;
    const due = Math.floor(((clock.monotonicMs() - this.#startedMs) / 1000) * rate);
    for (; this.#made < due; this.#made += 1) void this.#sell(shops.payment(clock.nowMs()));
    this.#cancel = clock.after(BEAT_MS, () => {
      this.#beat();
    });
  }

  async #sell(payment: ShopPayment): Promise<void> {
    const { clock, topicCreated } = this.#parts;
    if (!this.#selling) return;
    this.open += 1;
    this.#parts.selling?.(payment.transId, clock.nowMs());
    if (!(await this.#write(topicCreated, payment.key, payment.created))) {
      this.open -= 1;
      return;
    }
    this.payments.set(payment.transId, null);
    clock.after(payment.authorizedAfterMs, () => void this.#authorize(payment));
  }

  async #authorize(payment: ShopPayment): Promise<void> {
    const { clock, topicAuthorized } = this.#parts;
    const update = payment.authorized(clock.nowMs());
    if (await this.#write(topicAuthorized, payment.key, update)) {
      this.payments.set(payment.transId, String(update['status']));
      this.authorized += 1;
    }
    this.open -= 1;
  }

  async #write(topic: string, key: string, value: object | string): Promise<boolean> {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    const record = { topic, key: Buffer.from(key), value: Buffer.from(text), headers: {} };
    const outcome = await this.#parts.writer.write(record, WRITE_DEADLINE_MS);
    if (outcome.do === 'written') return true;
    this.refused += 1;
    return false;
  }
}
