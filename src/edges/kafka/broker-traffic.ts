import { type Clock } from '../../kernel/clock.ts';
import { type Heard } from './sockets.ts';

/** When something last came in from each broker of a client. */
export class BrokerTraffic {
  readonly #clock: Clock;
  readonly #heardAtMs = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  readonly heard: Heard = (broker) => {
    this.#heardAtMs.set(broker, this.#clock.monotonicMs());
  };

  /** Since when, monotonic, all of these brokers were heard, each at least once; null: one of them never was, or there are none. */
  allHeardAtMs(brokers: readonly string[]): number | null {
    const times = brokers.map((broker) => this.#heardAtMs.get(broker) ?? null);
    if (times.length === 0 || times.includes(null)) return null;
    return Math.min(...times.filter((time) => time !== null));
  }
}
