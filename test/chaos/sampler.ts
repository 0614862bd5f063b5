import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { type Fleet } from './fleet.ts';

/** What there was at one moment; `performance.now()`. */
export interface Sample {
  readonly atMs: number;
  /** Records that are written and not committed; null: Kafka did not say. */
  readonly lag: number | null;
}

export interface SamplerParts {
  readonly brokers: readonly string[];
  readonly groupId: string;
  readonly topics: readonly string[];
  readonly fleet: Pick<Fleet, 'look'>;
  readonly everyMs: number;
}

type Committed = ReadonlyMap<string, bigint>;

/** Looks every second at what is committed, and at the connectors, from outside. */
export class Sampler {
  readonly samples: Sample[] = [];
  /** How often a committed offset was lower than the time before. */
  regressions = 0;
  readonly #parts: SamplerParts;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;
  #before: Committed = new Map();

  constructor(parts: SamplerParts) {
    this.#parts = parts;
    this.#ended = this.#run();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const kafka = new Kafka({
      brokers: [...this.#parts.brokers],
      logLevel: logLevel.NOTHING,
      connectionTimeout: 1000,
      requestTimeout: 3000,
      retry: { initialRetryTime: 100, retries: 1 },
    });
    const admin = kafka.admin();
    while (!this.#stop.signal.aborted) {
      const atMs = performance.now();
      const [lag] = await Promise.all([this.#lag(admin), this.#parts.fleet.look()]);
      this.samples.push({ atMs, lag });
      const restMs = Math.max(0, atMs + this.#parts.everyMs - performance.now());
      await sleep(restMs, undefined, { signal: this.#stop.signal }).catch(() => undefined);
    }
    await admin.disconnect().catch(() => undefined);
  }

  async #lag(admin: ReturnType<Kafka['admin']>): Promise<number | null> {
    const { groupId, topics } = this.#parts;
    try {
      await admin.connect();
      const found = await admin.fetchOffsets({ groupId, topics: [...topics] });
      const committed = new Map(
        found.flatMap(({ topic, partitions }) =>
          partitions.map(({ partition, offset }) => [`${topic}/${String(partition)}`, BigInt(offset)] as const),
        ),
      );
      this.#compare(committed);
      let lag = 0n;
      for (const topic of topics) {
        for (const { partition, high, low } of await admin.fetchTopicOffsets(topic)) {
          const at = committed.get(`${topic}/${String(partition)}`) ?? -1n;
          lag += BigInt(high) - (at < 0n ? BigInt(low) : at);
        }
      }
      return Number(lag);
    } catch {
      return null;
    }
  }

  #compare(now: Committed): void {
    for (const [place, offset] of now) if (offset < (this.#before.get(place) ?? -1n)) this.regressions += 1;
    this.#before = now;
  }
}
