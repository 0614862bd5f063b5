import {
  type Job,
  type OutgoingRecord,
  type SourceRecord,
  type Step,
  type Tenure,
  type WriteOutcome,
} from '../../../../src/engine/ports.ts';
import { ScoringFlow, type ScoreCarry, type ScoringFlowOptions } from '../../../../src/flows/scoring/flow.ts';
import { type ScoreOutput } from '../../../../src/flows/scoring/publish.ts';
import { type Payment } from '../../../../src/flows/scoring/read.ts';
import { type HoldCause } from '../../../../src/kernel/outcome.ts';
import { type Blame, type Decision, type FailedAttempt } from '../../../../src/resilience/attribution.ts';
import { type Attempted, type NotScored } from '../../../../src/resilience/caller.ts';
import { type FraudScore } from '../../../../src/screening/avro.generated.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

/** A scored payment, by what the service answered. */
export function done(answer: Readonly<Record<string, unknown>>, latencyMs = 1): Attempted {
  return { do: 'done', status: 200, latencyMs, answer, body: Buffer.from(JSON.stringify(answer)) };
}

export const DONE: Attempted = done({ fraugster_approved: 1, score: 0.25, frg_trans_id: 'F1' }, 12);
export const REFUSED: NotScored = {
  do: 'refused',
  why: 'status_422',
  error: 'status_422',
  ambiguous: false,
  status: 422,
  latencyMs: 9,
  afterMs: null,
  cause: 'service_down',
  errorMessage: 'no such currency',
};
/** An attempt that failed with 503; `changes` make another failure of it. */
export const failed = (changes: Partial<NotScored> = {}): NotScored => ({
  do: 'failed',
  why: 'status_503',
  error: 'status_503',
  ambiguous: false,
  status: 503,
  latencyMs: 1,
  afterMs: null,
  cause: 'service_down',
  errorMessage: null,
  ...changes,
});
export const UNAVAILABLE: WriteOutcome = { do: 'unavailable', error: 'TimeoutError' };
const WRITTEN: WriteOutcome = { do: 'written', partition: 0, offset: 0n };

export interface MutableTenure {
  readonly epoch: number;
  phase: Tenure['phase'];
}

/** A flow whose service and Kafka answer as told; what they are not told is a score and an acknowledgement. */
export class Rig {
  readonly clock = new ManualClock();
  readonly log: string[] = [];
  readonly events: unknown[] = [];
  readonly written: OutgoingRecord[] = [];
  readonly mayBeScored: boolean[] = [];
  /** Of the requests, in order. */
  readonly headers: (readonly string[] | undefined)[] = [];
  judged: Attempted[] = [];
  free = 64;
  /** What the gate makes of failures, in order; after them refusals end their record, and all else is retried after 100 ms. */
  decisions: ('dead_letter' | Blame)[] = [];
  /** The failures that it was asked about. */
  readonly decided: FailedAttempt[] = [];
  /** Why calls do not go out. */
  why: HoldCause | null = null;
  outcomes: WriteOutcome[] = [];
  onScore: () => void = () => {};
  readonly output: ScoreOutput = {
    topic: 'fraud.scores',
    encoder: { encode: (score) => Buffer.from(JSON.stringify(score)) },
    deadlineMs: 1_000,
    writer: {
      write: async (record) => {
        this.log.push('write');
        this.written.push(record);
        return await Promise.resolve(this.outcomes.shift() ?? WRITTEN);
      },
    },
  };
  readonly flow: ScoringFlow;

  constructor(options: Partial<ScoringFlowOptions> = {}) {
    const whyOf = (): HoldCause | null => this.why;
    this.flow = new ScoringFlow({
      caller: {
        free: () => this.free,
        score: async (_body, attempt, headers) => {
          this.log.push('post');
          this.headers.push(headers);
          this.mayBeScored.push(attempt.mayBeScored);
          this.onScore();
          return await Promise.resolve(this.judged.shift() ?? DONE);
        },
      },
      gate: {
        attach: () => undefined,
        dueMs: () => null,
        limit: null,
        noneUntried: () => undefined,
        tick: () => undefined,
        decide: (attempt) => this.#decide(attempt),
        get why() {
          return whyOf();
        },
      },
      concurrency: 64,
      ordering: 'key',
      decoder: { decode: () => ({ do: 'needs', schema: 1 }) },
      recordMaxBytes: 1_000,
      output: this.output,
      scoreOnRefusal: true,
      account: 'eu shop',
      scored: { note: (transId, fact) => this.log.push(`note ${transId} ${JSON.stringify(fact)}`) },
      clock: this.clock,
      draw: () => 0.5,
      emit: (event, fields) => this.events.push([event, fields]),
      ...options,
    });
  }

  #decide(attempt: FailedAttempt): Decision {
    this.decided.push(attempt);
    const decision = this.decisions.shift() ?? (attempt.kind === 'refused' ? 'dead_letter' : 'service');
    if (decision === 'dead_letter') return { do: 'dead_letter' };
    const state = { failures: 1, against: 1, sinceMs: 0, succeededBefore: 0, failedBefore: 0 };
    return { do: 'retry', forMs: 100, state, blame: decision };
  }

  get scores(): FraudScore[] {
    return this.written.map(({ value }) => JSON.parse(String(value)) as FraudScore);
  }

  /** Runs a job until it ends, as the engine would: each wait gives the next step its carry. */
  async runToEnd(job: Job<Payment, ScoreCarry>): Promise<Step<ScoreCarry>[]> {
    const steps: Step<ScoreCarry>[] = [];
    for (let next = job; ;) {
      const step = await this.flow.run(next);
      steps.push(step);
      if (step.do !== 'wait') return steps;
      next = { ...next, attempt: next.attempt + 1, carry: step.carry };
    }
  }
}

export function createRecord(changes: Partial<SourceRecord> = {}): SourceRecord {
  return {
    topic: 'payments.created',
    partition: 3,
    offset: 42n,
    timestampMs: 0,
    key: Buffer.from('C1'),
    value: Buffer.from('{"trans_id":"T1"}'),
    headers: {},
    ...changes,
  };
}

export function createJob(
  tenure: Tenure = { epoch: 1, phase: 'owned' },
  record: SourceRecord = createRecord(),
): Job<Payment, ScoreCarry> {
  const item = { transId: 'T1', body: record.value ?? Buffer.alloc(0), paymentMethod: 'card', ip: null };
  // Beyond the records of which an earlier owner may have had some scored.
  return { record, item, attempt: 1, carry: undefined, tenure, lane: 'C1', ordinal: 1_000 };
}
