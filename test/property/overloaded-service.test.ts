import { describe, expect, test } from 'vitest';
import { seededDraw } from '../../src/sandbox/service/chance.ts';
import { Gate } from '../../src/resilience/gate.ts';
import { ConcurrencyLimit, LIMITED_QUIET_MS } from '../../src/resilience/limit.ts';
import { buildAttribution } from '../support/attribution-builder.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ModelledService, type ServiceNature } from '../support/modelled-service.ts';

const MOST = 64;
const STEP_MS = 10;
const WELL: ServiceNature = { workers: MOST, workMs: 50, queue: 0, refusal: { status: 429, afterMs: null } };

/** What a span of time came to. */
interface Span {
  /** Good answers ÷ what the service could have given. */
  readonly share: number;
  /** Refused calls ÷ good answers. */
  readonly refusals: number;
  readonly late: number;
  readonly lowest: number;
  readonly highest: number;
}

/** Calls without end through the real gate, breaker included, to a service in simulated time. */
class Run {
  readonly clock = new ManualClock();
  readonly service: ModelledService;
  readonly #gate: Gate;
  #open = 0;
  #calls = 0;

  constructor(limit: 'fixed' | 'adaptive', seed = 7) {
    const { clock } = this;
    this.service = new ModelledService(WELL, clock, seededDraw(seed));
    this.#gate = new Gate({
      scope: 'scoring',
      attribution: buildAttribution({ quietMs: limit === 'fixed' ? 0 : LIMITED_QUIET_MS }),
      bucket: null,
      limit: limit === 'fixed' ? null : new ConcurrencyLimit({ most: MOST, nowMs: 0 }),
      clock,
      emit: () => undefined,
    });
  }

  get limit(): number {
    return this.#gate.report().limit ?? MOST;
  }

  /** Lets so many seconds pass, in which the service is of this nature. */
  pass(seconds: number, nature: ServiceNature): Span {
    const { service } = this;
    service.nature = nature;
    const { good, refused, late } = service;
    let [lowest, highest] = [Infinity, 0];
    for (let ms = 0; ms < seconds * 1_000; ms += STEP_MS) {
      this.#pump();
      this.clock.advance(STEP_MS);
      lowest = Math.min(lowest, this.limit);
      highest = Math.max(highest, this.limit);
    }
    const answered = service.good - good;
    return {
      share: answered / (service.capacity * seconds),
      refusals: (service.refused - refused) / Math.max(1, answered),
      late: service.late - late,
      lowest,
      highest,
    };
  }

  #pump(): void {
    while (this.#open < MOST && this.#gate.room(this.clock.monotonicMs()) > 0) {
      const pass = this.#gate.begin(this.clock.monotonicMs());
      this.#open += 1;
      this.service.call((end, answer) => {
        this.#open -= 1;
        const offset = (this.#calls += 1);
        const record = { topic: 'payments.created', partition: 0, offset: BigInt(offset) };
        const delivered = end.do === 'ok' ? 1 : 0;
        this.#gate.end(pass, { key: String(offset), isFirst: true, record, end, answer, delivered });
        this.#pump();
      });
    }
  }
}

/** A run that was well for 10 s and has then had 10 s to find the new capacity. */
function found(limit: 'fixed' | 'adaptive', nature: ServiceNature): Run {
  const run = new Run(limit);
  run.pass(10, WELL);
  run.pass(10, nature);
  return run;
}

const QUARTER: ServiceNature = { ...WELL, workers: 16 };

describe('a service that takes a quarter of the calls from one moment to the next', () => {
  /** With how many refused calls for each good one at most: plain 503 says less than the others, so it takes more of them. */
  const refusing: [string, number, ServiceNature][] = [
    ['429', 0.02, QUARTER],
    ['429 with Retry-After', 0.02, { ...QUARTER, refusal: { status: 429, afterMs: 1_000 } }],
    ['503 with Retry-After', 0.02, { ...QUARTER, refusal: { status: 503, afterMs: 1_000 } }],
    ['plain 503', 0.6, { ...QUARTER, refusal: { status: 503, afterMs: null } }],
    ['429 behind a queue of 8', 0.02, { ...QUARTER, queue: 8 }],
  ];

  test.each(refusing)(
    'refuses the rest with %s: 0.97 of its capacity is used, and few calls are refused',
    (_, refused, nature) => {
      const span = found('adaptive', nature).pass(60, nature);
      expect(span.share).toBeGreaterThan(0.97);
      expect(span.refusals).toBeLessThan(refused);
      expect(span.lowest).toBeGreaterThanOrEqual(13);
      expect(span.highest).toBeLessThanOrEqual(26);
    },
  );

  test.each(refusing)(
    'refuses the rest with %s: with a fixed limit the breaker opens again and again',
    (_, _refused, nature) => {
      expect(found('fixed', nature).pass(60, nature).share).toBeLessThan(0.1);
    },
  );

  test('is found within 5 s', () => {
    const run = new Run('adaptive');
    run.pass(10, WELL);
    run.pass(5, QUARTER);
    expect(run.pass(1, QUARTER).share).toBeGreaterThan(0.9);
  });
});

test('a service that is slow, and does not refuse: as many calls as it can answer in time', () => {
  const slow: ServiceNature = { ...WELL, workers: 8, workMs: 1_000, queue: 10_000 };
  const [span, fixed] = (['adaptive', 'fixed'] as const).map((limit) => {
    const run = new Run(limit);
    run.pass(10, WELL);
    run.pass(25, slow);
    return run.pass(60, slow);
  });
  expect(span?.share).toBeGreaterThan(0.75);
  expect(span?.lowest).toBeGreaterThanOrEqual(20);
  expect(fixed?.share).toBeLessThan(0.5);
});

test.each([500, 503])('a fifth of all calls fail with %d by chance: nothing is lowered, nothing is lost', (status) => {
  for (const workMs of [50, 2_000]) {
    const failing: ServiceNature = { ...WELL, workMs, failing: { share: 0.2, status } };
    const run = new Run('adaptive');
    run.pass(10, failing);
    const span = run.pass(120, failing);
    expect(span.share).toBeGreaterThan(0.95);
    expect(span.lowest).toBe(MOST);
  }
});

test('takes all of it again when the capacity comes back', () => {
  const run = found('adaptive', QUARTER);
  run.pass(30, QUARTER);
  run.pass(4, WELL);
  expect(run.limit).toBe(MOST);
  expect(run.pass(10, WELL).share).toBeGreaterThan(0.97);
});

test('a capacity of one is found, and kept', () => {
  const one: ServiceNature = { ...WELL, workers: 1 };
  const run = new Run('adaptive');
  run.pass(10, WELL);
  run.pass(30, one);
  const span = run.pass(60, one);
  expect([span.lowest, span.highest <= 3]).toEqual([1, true]);
  expect(span.share).toBeGreaterThan(0.8);
});
