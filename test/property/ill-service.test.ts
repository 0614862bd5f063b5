import { describe, expect, test } from 'vitest';
import { behindFloodgates } from '../../src/dead-letters/floodgated.ts';
import { Engine } from '../../src/engine/engine.ts';
import { type Flow } from '../../src/engine/ports.ts';
import { ScoringFlow } from '../../src/flows/scoring/flow.ts';
import { type EventName } from '../../src/kernel/emit.ts';
import { type Letter } from '../../src/kernel/outcome.ts';
import { Caller } from '../../src/resilience/caller.ts';
import { Floodgate } from '../../src/resilience/floodgate.ts';
import { Gate } from '../../src/resilience/gate.ts';
import { type Exchange } from '../../src/resilience/ports.ts';
import { InMemoryBroker } from '../support/in-memory-broker.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';

const TOPIC = 'payments.created';
const CONCURRENCY = 64;
const KEYS = 500;
const STEP_MS = 10;

/** What the service does with a call at this second of the run, for this transaction. */
type Health = (second: number, transId: string, draw: () => number) => 'ok' | number;

/** Mulberry32: the same run every time. */
function drawsOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The whole scoring path but Kafka and HTTP, in simulated time, against a service that is ill as told. */
class Run {
  readonly clock = new ManualClock();
  readonly broker = new InMemoryBroker();
  readonly letters: Letter[] = [];
  readonly said: EventName[] = [];
  /** Calls and successes by second. */
  readonly calls: number[] = [];
  readonly successes: number[] = [];
  readonly scored = new Map<string, number>();
  readonly open = new Set<string>();
  overlaps = 0;
  disorders = 0;
  readonly #engine: Engine;
  readonly #draw = drawsOf(7);
  readonly #lastOfKey = new Map<string, number>();

  readonly #latencyMs: number;

  constructor(health: Health, records: number, latencyMs = 50) {
    this.#latencyMs = latencyMs;
    const { clock } = this;
    const draw = this.#draw;
    const emit = (event: EventName): void => void this.said.push(event);
    const gate = new Gate({ scope: 'scoring', floodgate: new Floodgate(0.05, 0), bucket: null, clock, emit });
    const score = async (body: Buffer): Promise<Exchange> => await this.#answer(body.toString(), health);
    const flow = new ScoringFlow({
      caller: new Caller({ api: { score }, concurrency: CONCURRENCY, gate, clock }),
      gate,
      suspicion: { maxAttempts: 8, refuseAfterMs: 300_000 },
      concurrency: CONCURRENCY,
      ordering: 'key',
      decoder: { decode: () => ({ do: 'needs', schema: 1 }) },
      recordMaxBytes: 10_000,
      output: null,
      scoreOnRefusal: true,
      account: 'a',
      scored: { note: () => undefined },
      clock,
      draw,
      emit,
    });
    const letters = {
      write: async (_record: unknown, letter: Letter) => {
        this.letters.push(letter);
        return await Promise.resolve('written' as const);
      },
    };
    this.broker.createTopic(TOPIC, 4);
    for (let n = 0; n < records; n += 1)
      this.broker.append(TOPIC, n % 4, { key: `k${n % KEYS}`, value: `{"trans_id":"k${n % KEYS}-${n}"}` });
    this.#engine = new Engine({
      source: this.broker.source('g', [TOPIC]),
      flows: new Map<string, Flow<unknown, unknown>>([[TOPIC, flow]]),
      deadLetters: behindFloodgates(letters, new Map([[TOPIC, gate]])),
      schemas: { fetch: async () => await Promise.resolve({ do: 'ready' }) },
      clock,
      draw,
      emit,
      commitIntervalMs: 250,
      clusterHash: 'AAAAAA',
      nonce: 'n',
      parked: new Set(),
      onGap: 'earliest',
      barrierMs: 2_000,
      pressure: { partitionRecords: 1_024, partitionSpan: 1e6, flowRecords: 10_000, flowBytes: 1e9 },
    });
  }

  async until(second: number): Promise<void> {
    if (this.clock.monotonicMs() === 0) await this.#engine.start();
    while (this.clock.monotonicMs() < second * 1_000) {
      await this.broker.step();
      this.clock.advance(STEP_MS);
      await settled();
    }
  }

  get unfinished(): number {
    return this.#engine.status().flows[0]?.buffered ?? 0;
  }

  /** Mean of a count over seconds `from` to `to`. */
  static rate(counts: readonly number[], from: number, to: number): number {
    let all = 0;
    for (let second = from; second < to; second += 1) all += counts[second] ?? 0;
    return all / (to - from);
  }

  async #answer(body: string, health: Health): Promise<Exchange> {
    const [transId = '', key = '', number = ''] = /"((k\d+)-(\d+))"/.exec(body)?.slice(1) ?? [];
    const second = Math.floor(this.clock.monotonicMs() / 1_000);
    this.calls[second] = (this.calls[second] ?? 0) + 1;
    if (this.open.has(key)) this.overlaps += 1;
    this.open.add(key);
    if (Number(number) < (this.#lastOfKey.get(key) ?? -1)) this.disorders += 1;
    this.#lastOfKey.set(key, Number(number));
    const verdict = health(second, transId, this.#draw);
    return await new Promise((resolve) => {
      this.clock.after(this.#latencyMs, () => {
        this.open.delete(key);
        if (verdict === 'ok') {
          this.scored.set(transId, (this.scored.get(transId) ?? 0) + 1);
          this.successes[second] = (this.successes[second] ?? 0) + 1;
        }
        const status = verdict === 'ok' ? 200 : verdict;
        resolve({ do: 'answer', status, retryAfterMs: null, body: Buffer.from('{}'), latencyMs: this.#latencyMs });
      });
    });
  }
}

/** 64 at once and 50 ms, in steps of 10 ms. */
const FULL_RATE = CONCURRENCY / 0.06;

describe('a service that', () => {
  test.each([0.2, 0.45, 0.6])(
    'answers %d of its calls with 503 for a while: nothing is lost, nothing a letter',
    async (share) => {
      const run = new Run((second, _id, draw) => (second >= 5 && second < 25 && draw() < share ? 503 : 'ok'), 45_000);
      await run.until(40);
      expect([run.letters, run.overlaps, run.disorders]).toEqual([[], 0, 0]);
      expect([...run.scored.values()].filter((times) => times > 1)).toEqual([]);
      expect(Run.rate(run.successes, 35, 40)).toBeGreaterThan(FULL_RATE * 0.9);
      expect(Run.rate(run.successes, 10, 25)).toBeGreaterThan(share < 0.5 ? FULL_RATE * 0.2 : 10);
    },
  );

  test('answers nothing but 503 for five minutes is asked next to nothing, and at full rate within 10 s of its health', async () => {
    const run = new Run((second) => (second >= 5 && second < 305 ? 503 : 'ok'), 40_000);
    await run.until(316);
    expect([run.letters, run.overlaps, run.disorders]).toEqual([[], 0, 0]);
    expect(Run.rate(run.calls, 20, 305)).toBeLessThan(0.2);
    expect(Run.rate(run.successes, 315, 316)).toBeGreaterThan(FULL_RATE * 0.9);
    expect(run.said.filter((event) => event === 'hold_started').length).toBeGreaterThan(0);
  });

  test('refuses everything with 400 gets a hold, not letters; its health ends it', async () => {
    const run = new Run((second) => (second >= 5 && second < 125 ? 400 : 'ok'), 20_000);
    await run.until(126);
    expect(run.letters.length).toBeLessThan(10);
    expect(Run.rate(run.calls, 7, 125)).toBeLessThan(0.2);
    await run.until(132);
    expect(Run.rate(run.successes, 127, 132)).toBeGreaterThan(FULL_RATE * 0.5);
    expect(run.letters.length).toBeLessThan(10);
  });

  test('always answers one transaction with 500 loses no other, and gets a letter of that one after five minutes', async () => {
    const run = new Run((_second, id) => (id === 'k7-7' ? 500 : 'ok'), 25_000, 1_000);
    await run.until(299);
    expect(run.letters).toEqual([]);
    expect(Run.rate(run.successes, 10, 299)).toBeGreaterThan(CONCURRENCY * 0.9);
    await run.until(360);
    expect(run.letters).toMatchObject([{ reason: 'status_500', stage: 'score' }]);
  });

  test('answers every call with 403 is asked once a minute, and works on when that is over', async () => {
    const run = new Run((second) => (second >= 5 && second < 125 ? 403 : 'ok'), 20_000);
    await run.until(125);
    expect(Run.rate(run.calls, 10, 125)).toBeLessThan(0.1);
    expect([run.letters, run.overlaps]).toEqual([[], 0]);
    await run.until(205);
    expect(run.scored.size).toBe(20_000);
  });
});
