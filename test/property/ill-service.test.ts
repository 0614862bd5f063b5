import { describe, expect, test } from 'vitest';
import { guarded } from '../../src/dead-letters/guarded.ts';
import { Engine } from '../../src/engine/engine.ts';
import { type Flow, type FlowStatus } from '../../src/engine/ports.ts';
import { ScoringFlow } from '../../src/flows/scoring/flow.ts';
import { type EventName } from '../../src/kernel/emit.ts';
import { type Letter } from '../../src/kernel/outcome.ts';
import { Attribution } from '../../src/resilience/attribution.ts';
import { Caller } from '../../src/resilience/caller.ts';
import { Gate } from '../../src/resilience/gate.ts';
import { type Exchange } from '../../src/resilience/ports.ts';
import { InMemoryBroker } from '../support/in-memory-broker.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';

const TOPIC = 'payments.created';
const CONCURRENCY = 64;
const KEYS = 500;
const STEP_MS = 10;
const TIMEOUT_MS = 5_000;

/** What the service does with a call at this second of the run, for this transaction. */
type Health = (second: number, transId: string, draw: () => number) => 'ok' | number | 'timeout' | 'reset';

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

  constructor(
    health: Health,
    records: number,
    {
      latencyMs = 50,
      keys = KEYS,
      refuseAfterMs = 300_000,
    }: Partial<Record<'latencyMs' | 'keys' | 'refuseAfterMs', number>> = {},
  ) {
    this.#latencyMs = latencyMs;
    const { clock } = this;
    const draw = this.#draw;
    const emit = (event: EventName): void => void this.said.push(event);
    const attribution = new Attribution({ maxAttempts: 8, refuseAfterMs, maxShare: 0.05, draw, nowMs: 0 });
    const gate = new Gate({ scope: 'scoring', attribution, bucket: null, clock, emit });
    const score = async (body: Buffer): Promise<Exchange> => await this.#answer(body.toString(), health);
    const flow = new ScoringFlow({
      caller: new Caller({ api: { score }, concurrency: CONCURRENCY, gate, clock }),
      gate,
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
      this.broker.append(TOPIC, n % 4, { key: `k${n % keys}`, value: `{"trans_id":"k${n % keys}-${n}"}` });
    this.#engine = new Engine({
      source: this.broker.source('g', [TOPIC]),
      flows: new Map<string, Flow<unknown, unknown>>([[TOPIC, flow]]),
      deadLetters: guarded(letters, new Map([[TOPIC, gate]])),
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

  get waits(): FlowStatus['waits'] {
    return this.#engine.status().flows[0]?.waits ?? [];
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
      this.clock.after(verdict === 'timeout' ? TIMEOUT_MS : this.#latencyMs, () => {
        this.open.delete(key);
        if (verdict === 'ok') {
          this.scored.set(transId, (this.scored.get(transId) ?? 0) + 1);
          this.successes[second] = (this.successes[second] ?? 0) + 1;
        }
        if (verdict === 'timeout' || verdict === 'reset') {
          resolve({ do: 'failed', why: verdict, ambiguous: true });
          return;
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

  test('answers nothing but 503 for five minutes gets almost no requests, and works at full rate within 10 s of its recovery', async () => {
    const run = new Run((second) => (second >= 5 && second < 305 ? 503 : 'ok'), 40_000);
    await run.until(316);
    expect([run.letters, run.overlaps, run.disorders]).toEqual([[], 0, 0]);
    expect(Run.rate(run.calls, 20, 305)).toBeLessThan(0.2);
    expect(Run.rate(run.successes, 315, 316)).toBeGreaterThan(FULL_RATE * 0.9);
    expect(run.said.filter((event) => event === 'hold_started').length).toBeGreaterThan(0);
  });

  test('refuses everything with 400 makes no more than a few dead letters; its health ends it', async () => {
    const run = new Run((second) => (second >= 5 && second < 125 ? 400 : 'ok'), 20_000);
    await run.until(126);
    expect(run.letters.length).toBeLessThan(10);
    expect(Run.rate(run.calls, 7, 125)).toBeLessThan(0.2);
    await run.until(138);
    expect(Run.rate(run.successes, 135, 138)).toBeGreaterThan(FULL_RATE * 0.9);
    expect(run.letters.length).toBeLessThan(20);
  });

  test('always answers one transaction with 500 loses no other, and gets a letter of that one after five minutes', async () => {
    const run = new Run((_second, id) => (id === 'k7-7' ? 500 : 'ok'), 25_000, { latencyMs: 1_000 });
    await run.until(299);
    expect(run.letters).toEqual([]);
    expect(Run.rate(run.successes, 10, 299)).toBeGreaterThan(CONCURRENCY * 0.9);
    await run.until(360);
    expect(run.letters).toMatchObject([{ reason: 'status_500', stage: 'score' }]);
  });

  test('answers every call with 403 gets almost no requests, and works on when that is over', async () => {
    const run = new Run((second) => (second >= 5 && second < 125 ? 403 : 'ok'), 20_000);
    await run.until(125);
    expect(Run.rate(run.calls, 20, 125)).toBeLessThan(0.2);
    expect([run.letters, run.overlaps]).toEqual([[], 0]);
    await run.until(205);
    expect(run.scored.size).toBe(20_000);
  });
});

/** One payment of a hundred. */
const isOdd = (id: string): boolean => Number(id.slice(id.indexOf('-') + 1)) % 100 === 7;

describe('odd payments, 1 % of all,', () => {
  test.each([301, 401, 404, 409, 422, 500, 502, 599, 'reset'] as const)(
    'that always get %s: the others keep their rate, and each odd one ends',
    async (answer) => {
      const records = 9_000;
      const run = new Run((_second, id) => (isOdd(id) ? answer : 'ok'), records, {
        latencyMs: 200,
        keys: records,
        refuseAfterMs: 20_000,
      });
      await run.until(100);
      expect([run.overlaps, run.disorders]).toEqual([0, 0]);
      // 64 at once and 200 ms, in steps of 10 ms; each odd one is tried some nine times.
      expect(Run.rate(run.successes, 5, 28)).toBeGreaterThan((CONCURRENCY / 0.21) * 0.85);
      const good = Array.from({ length: records }, (_, n) => `k${n}-${n}`).filter((id) => !isOdd(id));
      expect(good.filter((id) => run.scored.get(id) !== 1)).toEqual([]);
      // The last ones are followed by too few who could tell.
      expect(run.unfinished).toBeLessThan(3);
      const reason = answer === 'reset' ? 'connection_failed' : `status_${answer}`;
      const reasons = answer === 409 ? [] : [reason];
      expect([...new Set(run.letters.map((letter) => letter.reason))]).toEqual(reasons);
    },
  );

  test('that always get 429 wait, and nobody else does', async () => {
    const run = new Run((_second, id) => (isOdd(id) ? 429 : 'ok'), 5_000, { keys: 5_000 });
    await run.until(30);
    expect([run.scored.size, run.letters.length, run.unfinished]).toEqual([4_950, 0, 50]);
  });

  test('are named by the position of one of them, and hold nobody else', async () => {
    const run = new Run((_second, id) => (isOdd(id) ? 403 : 'ok'), 5_000, { keys: 5_000 });
    await run.until(30);
    const [wait, ...others] = run.waits;
    expect(others).toEqual([]);
    expect(wait).toMatchObject({ cause: 'record_failing', records: 50, error: 'status_403' });
    expect(wait?.position).toMatch(/^payments\.created:\d:\d+$/);
  });

  test('whose keys fill the memory are named as too many, and so is the end of that', async () => {
    const run = new Run(
      (second, id) => (second < 30 && Number(id.slice(1, id.indexOf('-'))) < 300 ? 500 : 'ok'),
      8_000,
    );
    await run.until(29);
    expect(run.waits).toMatchObject([{ cause: 'record_failing' }, { cause: 'too_many_failing', records: 300 }]);
    await run.until(90);
    expect(run.scored.size).toBe(8_000);
    expect(run.waits).toEqual([]);
  });
});
