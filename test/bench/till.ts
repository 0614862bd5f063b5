import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';

const CUSTOMERS = 5000;
const LOT = 1000;
const TICK_MS = 100;

interface Topics {
  readonly created: string;
  readonly authorized: string;
}

/** Writes made-up payments and their status updates; the number at the end of `order_id` tells the order of a customer's. */
export class Till {
  readonly #producer: kafkajs.Producer;
  readonly #topics: Topics;
  #payments = 0;
  #updates = 0;
  #odd = 0;
  /** One write after the other, whoever asks for it: the order of the numbers is that of the log. */
  #last: Promise<void> = Promise.resolve();

  private constructor(producer: kafkajs.Producer, topics: Topics) {
    this.#producer = producer;
    this.#topics = topics;
  }

  static async open(client: kafkajs.Kafka, topics: Topics): Promise<Till> {
    const producer = client.producer({ createPartitioner: kafkajs.Partitioners.DefaultPartitioner });
    await producer.connect();
    return new Till(producer, topics);
  }

  /** The trans_id of a payment that is odd, by its number from 0; null: it is none. An odd one has a customer of its own. */
  name: (number: number) => string | null = () => null;

  /** Of the payments, those that are odd. */
  get odd(): number {
    return this.#odd;
  }

  /** Acknowledged so far. */
  get payments(): number {
    return this.#payments;
  }

  get updates(): number {
    return this.#updates;
  }

  /** The trans_id of a payment, by its number from 0. */
  transIdOf(payment: number): string {
    return this.name(payment) ?? `b${String(payment).padStart(8, '0')}`;
  }

  /** The next payments, without their updates. */
  async pay(count: number): Promise<void> {
    await this.#next(async () => {
      for (let left = count; left > 0; left -= LOT) {
        const lot = Math.min(left, LOT);
        const messages = Array.from({ length: lot }, (_, n) => this.#payment(this.#payments + n));
        await this.#producer.send({ topic: this.#topics.created, messages });
        for (let n = 0; n < lot; n += 1) if (this.name(this.#payments + n) !== null) this.#odd += 1;
        this.#payments += lot;
      }
    });
  }

  /** The updates of the payments that have none yet. */
  async report(): Promise<void> {
    await this.#next(async () => {
      while (this.#updates < this.#payments) {
        const lot = Math.min(this.#payments - this.#updates, LOT);
        const messages = Array.from({ length: lot }, (_, n) => this.#update(this.#updates + n));
        await this.#producer.send({ topic: this.#topics.authorized, messages });
        this.#updates += lot;
      }
    });
  }

  /** So many payments a second, each with its update behind it, until the signal; what is late is made up for. */
  async trade(rate: number, signal: AbortSignal): Promise<void> {
    const fromMs = performance.now();
    let made = 0;
    while (!signal.aborted) {
      const due = Math.floor(((performance.now() - fromMs) / 1000) * rate) - made;
      made += due;
      if (due > 0) {
        await this.pay(due);
        await this.report();
      }
      await sleep(TICK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  async close(): Promise<void> {
    await this.#producer.disconnect();
  }

  async #next(write: () => Promise<void>): Promise<void> {
    const written = this.#last.then(write);
    this.#last = written.catch(() => undefined);
    await written;
  }

  #payment(number: number): kafkajs.Message {
    const customer = this.#customerOf(number);
    const value = {
      trans_id: this.transIdOf(number),
      cust_id: customer,
      order_id: `o-${String(number)}`,
      trans_amt: 59.9,
      trans_currency: 'EUR',
      cust_email: 'ada.adler@example.com',
    };
    return { key: customer, value: JSON.stringify(value) };
  }

  #update(number: number): kafkajs.Message {
    const ts = `${new Date().toISOString().slice(0, 19)}Z`;
    const value = { trans_id: this.transIdOf(number), status: 'approved', ts, acq_ref_id: 'arn' };
    return { key: this.#customerOf(number), value: JSON.stringify(value) };
  }

  #customerOf(number: number): string {
    return this.name(number) ?? `c${String(number % CUSTOMERS)}`;
  }
}
