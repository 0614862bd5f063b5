import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Job, type Step } from '../../src/engine/ports.ts';
import { type UpdateCarry } from '../../src/flows/sync/flow.ts';
import { type Update } from '../../src/flows/sync/read.ts';
import { type Exchange } from '../../src/resilience/ports.ts';
import { settled } from '../support/manual-clock.ts';
import { answer, approved, FakeApi, idsOf, job, record, rig, type Rig } from '../unit/flows/sync/builders.ts';

type Fault = 'none' | 'timeout' | 'down' | 'limited' | 'no_session' | 'fenced' | 'forbidden' | 'error_msg' | 'join';

/** An update of the log, as the engine would keep it. */
interface Entry {
  readonly id: string;
  readonly seq: number;
  job: Job<Update, UpdateCarry>;
  state: 'waiting' | 'running' | 'delivered' | 'dead_letter';
  dueMs: number;
}

interface Scenario {
  readonly ids: readonly string[];
  /** Over how many partitions the updates of an id are spread; order holds within each. */
  readonly partitions: 1 | 2;
  /** Ids that the service refuses by 400, and those that it refuses under their key. */
  readonly refused: readonly string[];
  readonly rejected: readonly string[];
  readonly faults: readonly Fault[];
  /** Which of the calls in flight is answered next. */
  readonly picks: readonly number[];
}

const IDS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', '10', '9', '__proto__'];

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  ids: fc.array(fc.constantFrom(...IDS), { minLength: 1, maxLength: 25 }),
  partitions: fc.constantFrom(1, 2),
  refused: fc.subarray(IDS, { maxLength: 3 }),
  rejected: fc.subarray(IDS, { maxLength: 2 }),
  faults: fc.array(
    fc.constantFrom<Fault>(
      'none',
      'none',
      'timeout',
      'down',
      'limited',
      'no_session',
      'fenced',
      'forbidden',
      'error_msg',
      'join',
    ),
    { maxLength: 12 },
  ),
  picks: fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 20 }),
});

function toExchange(fault: Fault, ids: readonly string[], scenario: Scenario): Exchange {
  switch (fault) {
    case 'timeout':
      return { do: 'failed', why: 'timeout', ambiguous: true };
    case 'down':
      return answer(503);
    case 'limited':
      return { do: 'answer', status: 429, retryAfterMs: 2000, body: Buffer.alloc(0), latencyMs: 1 };
    case 'no_session':
      return { do: 'no_session', why: 'service_down', retryMs: 1000 };
    case 'fenced':
      return { do: 'fenced' };
    case 'forbidden':
      return answer(403);
    case 'error_msg':
      return answer(200, { error_msg: 'later' });
    case 'none':
    case 'join':
      break;
  }
  if (ids.some((id) => scenario.refused.includes(id))) return answer(400, { error_msg: 'bad' });
  const under = ids.filter((id) => scenario.rejected.includes(id)).map((id) => `${JSON.stringify(id)}:{"ok":false}`);
  return answer(200, `{${under.join(',')}}`);
}

/** The part of the engine that a flow relies on: order per id, waits, room; the log in which updates are numbered by `latency`. */
class Driver {
  readonly entries: Entry[];
  readonly api = new FakeApi();
  readonly bench: Rig;
  /** What the service accepted, in the order in which it answered. */
  readonly accepted: string[] = [];
  /** What was wrong at the service: an id twice at once, or more calls than allowed. */
  readonly wrongs: string[] = [];
  /** How often each update was refused alone by a fault. */
  readonly forbidden = new Map<string, number>();
  readonly #scenario: Scenario;
  #calls = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.bench = rig({ api: this.api });
    this.entries = scenario.ids.map((id, seq) => ({
      id,
      seq,
      job: job(this.bench.flow, record(approved(id, { latency: seq }), { partition: seq % scenario.partitions })),
      state: 'waiting',
      dueMs: 0,
    }));
  }

  async run(): Promise<void> {
    for (let round = 0; round < 3000 && !this.isDone(); round += 1) {
      this.#start();
      await settled();
      if (this.api.calls.length > 0) await this.#answer();
      else this.#elapse(round);
    }
  }

  isDone(): boolean {
    return this.entries.every(({ state }) => state === 'delivered' || state === 'dead_letter');
  }

  /** Time passes, and now and then somebody else's update comes: refusals are believed only while others are accepted. */
  #elapse(round: number): void {
    const { clock, flow } = this.bench;
    const other = job(flow, record(approved('z')));
    if (round % 50 === 0 && flow.room() > 0 && flow.mayStart(other, clock.monotonicMs()) === null) void flow.run(other);
    clock.advance(250);
    flow.tick(clock.monotonicMs());
  }

  #start(): void {
    const { flow, clock } = this.bench;
    const seen = new Set<string>();
    for (const entry of this.entries) {
      const lane = `${String(entry.job.record.partition)} ${entry.id}`;
      const isHead = entry.state !== 'delivered' && entry.state !== 'dead_letter' && !seen.has(lane);
      if (!isHead) continue;
      seen.add(lane);
      const isReady = entry.state === 'waiting' && entry.dueMs <= clock.monotonicMs();
      if (!isReady || flow.room() <= 0 || flow.mayStart(entry.job, clock.monotonicMs()) !== null) continue;
      entry.state = 'running';
      void flow.run(entry.job).then((step) => {
        this.#apply(entry, step);
      });
    }
  }

  #apply(entry: Entry, step: Step<UpdateCarry>): void {
    if (step.do === 'delivered' || step.do === 'dead_letter') {
      entry.state = step.do;
      return;
    }
    entry.state = 'waiting';
    if (step.do !== 'wait') return;
    entry.dueMs = this.bench.clock.monotonicMs() + step.forMs;
    entry.job = { ...entry.job, attempt: entry.job.attempt + 1, carry: step.carry ?? entry.job.carry };
  }

  async #answer(): Promise<void> {
    const { faults, picks } = this.#scenario;
    const atService = this.api.calls.flatMap(({ body }) => idsOf(body));
    if (new Set(atService).size < atService.length) this.wrongs.push(`twice at once: ${atService.join(' ')}`);
    if (this.api.calls.length > 2) this.wrongs.push('too many calls at once');
    const pick = (picks[this.#calls % picks.length] ?? 0) % this.api.calls.length;
    const [call] = this.api.calls.splice(pick, 1);
    const fault = faults[this.#calls] ?? 'none';
    this.#calls += 1;
    if (call === undefined) return;
    if (fault === 'join') this.bench.flow.barrier('join');
    const ids = idsOf(call.body);
    const exchange = toExchange(fault, ids, this.#scenario);
    const [sent = '', ...mates] = updatesOf(call.body);
    if (fault === 'forbidden' && mates.length === 0) this.forbidden.set(sent, (this.forbidden.get(sent) ?? 0) + 1);
    if (exchange.do === 'answer' && exchange.status === 200 && fault !== 'error_msg') this.#accept(call.body);
    call.give(exchange);
    await settled();
  }

  #accept(body: string): void {
    const isRejected = (update: string): boolean => this.#scenario.rejected.includes(update.split(' ')[0] ?? '');
    this.accepted.push(...updatesOf(body).filter((update) => !isRejected(update)));
  }
}

/** The updates of a body, each as its id and its number in the log. */
function updatesOf(body: string): string[] {
  const found = body.matchAll(/"((?:[^"\\]|\\.)*)":\{[^}]*"latency":(\d+)\}/g);
  return [...found].map(([, id = '', seq = '']) => `${id} ${seq}`);
}

describe('whatever the service answers', () => {
  test('every update ends once, in order per id, and none is at the service twice at once', async () => {
    const law = fc.asyncProperty(scenarios, async (scenario) => {
      const driver = new Driver(scenario);
      await driver.run();
      expect(driver.wrongs).toEqual([]);
      const bad = new Set([...scenario.refused, ...scenario.rejected]);
      // An update that was refused alone twice, with another accepted in between, cannot be told from an odd one.
      const isUnlucky = (id: string, seq: number): boolean => (driver.forbidden.get(`${id} ${String(seq)}`) ?? 0) > 1;
      const good = driver.entries.filter(({ id, seq, state }) => {
        return !bad.has(id) && !(isUnlucky(id, seq) && state === 'dead_letter');
      });
      const ends = driver.entries.map((entry) => [entry.seq, entry.state]);
      const expected = driver.entries.map((entry) => [entry.seq, good.includes(entry) ? 'delivered' : 'dead_letter']);
      expect(ends).toEqual(expected);
      expect(driver.accepted.toSorted()).toEqual(good.map(({ id, seq }) => `${id} ${String(seq)}`).toSorted());
      for (const { id, seq } of good) {
        const isSameLane = (other: number): boolean => other % scenario.partitions === seq % scenario.partitions;
        const numbers = driver.accepted
          .filter((line) => line.startsWith(`${id} `))
          .map((line) => Number(line.split(' ')[1]))
          .filter(isSameLane);
        expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
      }
    });
    await fc.assert(law, { numRuns: 60 });
  }, 30_000);
});
