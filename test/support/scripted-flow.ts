import { type HoldCause } from '../../src/kernel/outcome.ts';
import {
  type EngineSignals,
  type Flow,
  type Job,
  type Reading,
  type SourceRecord,
  type Step,
} from '../../src/engine/ports.ts';

export interface Started {
  readonly job: Job<string, unknown>;
  readonly end: (step: Step<unknown>) => void;
  readonly fail: (error: Error) => void;
}

/** A flow whose steps end when the test says so. Lane: the record's key; item: the text of its value. */
export class ScriptedFlow implements Flow<string, unknown> {
  readonly name = 'scripted';
  readonly started: Started[] = [];
  readonly barriers: string[] = [];
  ticks: number[] = [];
  limit = 64;
  dueMs: number | null = null;
  /** Steps that stand still because nothing may go out; null: it may. */
  standing: number | null = null;
  signals: EngineSignals | undefined;
  /** Texts of values for which `read` answers something else. */
  readings: (record: SourceRecord) => Reading<string> | null = () => null;
  blocks: (job: Job<string, unknown>) => HoldCause | null = () => null;
  /** Ends steps at once; null: by hand. */
  answer: ((job: Job<string, unknown>) => Step<unknown>) | null = null;
  /** Called when a step has begun. */
  onRun: () => void = () => undefined;
  /** Called with the job when a step has begun, before it is counted among `started`. */
  onStart: (job: Job<string, unknown>) => void = () => undefined;
  /** Called with each step that has begun. */
  onOpen: (open: Started) => void = () => undefined;
  onBarrier: (before: 'stop' | 'join') => void = () => undefined;
  running = 0;

  attach(signals: EngineSignals): void {
    this.signals = signals;
  }

  read(record: SourceRecord): Reading<string> {
    return this.readings(record) ?? { do: 'item', item: record.value?.toString() ?? '' };
  }

  lane(_item: string, record: SourceRecord): string {
    return record.key?.toString('latin1') ?? '';
  }

  mayStart(job: Job<string, unknown>): HoldCause | null {
    return this.blocks(job);
  }

  room(): number {
    return this.limit - this.running;
  }

  async run(job: Job<string, unknown>): Promise<Step<unknown>> {
    this.running += 1;
    this.onRun();
    this.onStart(job);
    try {
      return await new Promise<Step<unknown>>((resolve, reject) => {
        const open: Started = { job, end: resolve, fail: reject };
        this.started.push(open);
        this.onOpen(open);
        if (this.answer !== null) resolve(this.answer(job));
      });
    } finally {
      this.running -= 1;
    }
  }

  /** A wait that carries `a score` is one for Kafka alone. */
  isAnswered(carry: unknown): boolean {
    return carry === 'a score';
  }

  heldBack(): number | null {
    return this.standing;
  }

  due(): number | null {
    return this.dueMs;
  }

  tick(nowMs: number): void {
    this.ticks.push(nowMs);
    this.dueMs = null;
  }

  barrier(before: 'stop' | 'join'): void {
    this.barriers.push(before);
    this.onBarrier(before);
  }

  /** The texts of the items started so far. */
  get items(): readonly string[] {
    return this.started.map(({ job }) => job.item);
  }
}
