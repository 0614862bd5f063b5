import { type EngineSignals, type Job, type Position, type SourceRecord } from '../../../../src/engine/ports.ts';
import { Alignment } from '../../../../src/flows/sync/alignment.ts';
import { type Member, type UpdateEnd } from '../../../../src/flows/sync/batch.ts';
import { toFragment } from '../../../../src/flows/sync/body.ts';
import { SyncFlow, type SyncOptions, type UpdateCarry } from '../../../../src/flows/sync/flow.ts';
import { type Update } from '../../../../src/flows/sync/read.ts';
import { UNTRIED, type UpdateState } from '../../../../src/flows/sync/search.ts';
import { type Clock } from '../../../../src/kernel/clock.ts';
import { type Emit } from '../../../../src/kernel/emit.ts';
import { type HoldCause } from '../../../../src/kernel/outcome.ts';
import { Attribution } from '../../../../src/resilience/attribution.ts';
import { Gate } from '../../../../src/resilience/gate.ts';
import { type Exchange } from '../../../../src/resilience/ports.ts';
import { type UpdateRules } from '../../../../src/screening/status-update.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

export const TS = '2026-03-01T09:30:00Z';
export const RULES: UpdateRules = {
  chargebackProtection: false,
  cardMethods: [],
  unknownMethod: 'card',
  declineReasonRequired: 'always',
  reasonCodes: null,
  exemptionAsArray: false,
};

export function answer(status: number, body: unknown = {}): Exchange {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { do: 'answer', status, retryAfterMs: null, body: Buffer.from(text), latencyMs: 12 };
}

export function record(value: unknown, change: Partial<SourceRecord> = {}): SourceRecord {
  const bytes = value === null ? null : Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  return {
    topic: 'payments.authorized',
    partition: 0,
    offset: 0n,
    timestampMs: 1_000_000,
    key: Buffer.from('k'),
    value: bytes,
    headers: {},
    ...change,
  };
}

export function approved(transId: unknown, change: Record<string, unknown> = {}): Record<string, unknown> {
  return { trans_id: transId, status: 'approved', ts: TS, acq_ref_id: 'arn', ...change };
}

export interface FakeTenure {
  readonly epoch: number;
  phase: 'owned' | 'lost';
}

export function owned(): FakeTenure {
  return { epoch: 1, phase: 'owned' };
}

/** A member that keeps its ends. */
export function member(
  transId: string,
  tenure: FakeTenure = owned(),
  state: UpdateState = UNTRIED,
): Member & { readonly ends: UpdateEnd[] } {
  const ends: UpdateEnd[] = [];
  const fragment = toFragment(transId, [['status', 'error']]);
  const at = { topic: 'payments.authorized', partition: 0, offset: BigInt(transId.charCodeAt(0)) };
  return { transId, fragment, tenure, record: at, state, ends, end: (end) => void ends.push(end) };
}

export type Said = [event: string, fields: unknown];

export function listener(): { readonly said: Said[]; readonly emit: Emit } {
  const said: Said[] = [];
  return { said, emit: (event, fields) => void said.push([event, fields]) };
}

/** Proof enough after 8 failures over five minutes. */
export function gateOf(clock: Clock, emit: Emit, scope = 'sync'): Gate {
  const nowMs = clock.monotonicMs();
  const options = { maxAttempts: 8, refuseAfterMs: 300_000, maxShare: 0.05, draw: () => 0.5, nowMs };
  return new Gate({ scope, attribution: new Attribution(options), bucket: null, clock, emit });
}

/** The engine as a flow sees it, with positions and held lanes that a test sets. */
export class FakeSignals implements EngineSignals {
  readonly woken: string[] = [];
  readonly hurried: (readonly HoldCause[])[] = [];
  changes = 0;
  readonly positions = new Map<number, Position>();
  /** Timestamp of the first record that is held, by lane. */
  readonly held = new Map<string, number>();

  wake(lane: string): void {
    this.woken.push(lane);
  }

  hurry(causes: readonly HoldCause[]): void {
    this.hurried.push(causes);
  }

  changed(): void {
    this.changes += 1;
  }

  failingFill(): number {
    return 0;
  }

  position(_topic: string, partition: number): Position | null {
    return this.positions.get(partition) ?? null;
  }

  oldestHeldMs(_topic: string, _partition: number, lane: string): number | null {
    return this.held.get(lane) ?? null;
  }
}

/** A service whose answers a test gives one by one; `calls` that have no answer yet are at the service. */
export class FakeApi {
  readonly bodies: string[] = [];
  readonly calls: { readonly body: string; readonly give: (exchange: Exchange) => void }[] = [];

  async sync(bytes: Buffer): Promise<Exchange> {
    const body = bytes.toString();
    this.bodies.push(body);
    return await new Promise<Exchange>((resolve) => {
      this.calls.push({ body, give: resolve });
    });
  }

  /** Answers the call that has waited longest. */
  give(exchange: Exchange): void {
    const call = this.calls.shift();
    if (call === undefined) throw new Error('nothing was asked');
    call.give(exchange);
  }
}

export interface Rig {
  readonly flow: SyncFlow;
  readonly api: FakeApi;
  readonly clock: ManualClock;
  readonly signals: FakeSignals;
  readonly alignment: Alignment;
  readonly said: Said[];
}

/** A flow without alignment, of two batches of three, unless told otherwise. */
export function rig(change: Partial<SyncOptions> & { readonly scoreWaitMs?: number } = {}): Rig {
  const { said, emit } = listener();
  const { scoreWaitMs = 0, ...options } = change;
  const alignment = new Alignment({
    topicCreated: 'payments.created',
    ordering: 'key',
    scoreWaitMs,
    isScoringHeld: () => false,
    emit,
  });
  const api = new FakeApi();
  const clock = new ManualClock();
  const flow = new SyncFlow({
    api,
    gate: gateOf(clock, emit),
    decoder: { decode: () => ({ do: 'needs', schema: 7 }) },
    alignment,
    rules: RULES,
    limits: { maxRecords: 3, maxBytes: 10_000, maxAgeMs: 500, inFlight: 2 },
    recordMaxBytes: 100_000,
    clock,
    emit,
    ...options,
  });
  const signals = new FakeSignals();
  flow.attach(signals);
  return { flow, api, clock, signals, alignment, said };
}

/** The job of a record that reads as an update. */
export function job(
  flow: SyncFlow,
  source: SourceRecord,
  change: Partial<Job<Update, UpdateCarry>> = {},
): Job<Update, UpdateCarry> {
  const reading = flow.read(source);
  if (reading.do !== 'item') throw new Error(`reads as ${reading.do}`);
  const { item } = reading;
  const lane = item.transId;
  return { record: source, item, attempt: 1, carry: undefined, tenure: owned(), lane, ordinal: 0, ...change };
}

/** The ids of a body, in the order of its bytes. */
export function idsOf(body: string): string[] {
  return [...body.matchAll(/("(?:[^"\\]|\\.)*"):\{/g)].map((match) => JSON.parse(match[1] ?? '""') as string);
}
