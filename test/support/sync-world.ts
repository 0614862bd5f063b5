import { guarded } from '../../src/dead-letters/guarded.ts';
import { Engine } from '../../src/engine/engine.ts';
import { type Flow } from '../../src/engine/ports.ts';
import { Alignment } from '../../src/flows/sync/alignment.ts';
import { SyncFlow } from '../../src/flows/sync/flow.ts';
import { type Emit } from '../../src/kernel/emit.ts';
import { type Letter } from '../../src/kernel/outcome.ts';
import { Attribution } from '../../src/resilience/attribution.ts';
import { Gate } from '../../src/resilience/gate.ts';
import { type Exchange } from '../../src/resilience/ports.ts';
import { type UpdateRules } from '../../src/screening/status-update.ts';
import { InMemoryBroker } from './in-memory-broker.ts';
import { ManualClock, settled } from './manual-clock.ts';

const RULES: UpdateRules = {
  chargebackProtection: false,
  cardMethods: [],
  unknownMethod: 'card',
  declineReasonRequired: 'always',
  reasonCodes: null,
  exemptionAsArray: false,
};
const TOPIC = 'payments.authorized';
const PARTITIONS = 4;
const STEP_MS = 20;
const LATENCY_MS = 60;
const TIMEOUT_MS = 2_000;

export type Answer = number | 'error_msg' | 'unusable' | 'reset' | 'timeout' | 'rejected';

export interface SyncWorldOptions {
  /** Updates a second that are written to the topic. */
  readonly perSecond: number;
  /** What an id always gets; null: it is accepted. */
  readonly oddity: (n: number) => Answer | null;
  /** What everybody gets at this time; null: what their ids get. */
  readonly outage?: (atMs: number, call: number) => Answer | null;
  readonly maxShare?: number;
  readonly inFlight?: number;
  readonly seed?: number;
}

interface Sent {
  readonly id: string;
  readonly atMs: number;
  deliveredMs: number | null;
  deliveries: number;
}

/** The whole path of status updates but Kafka and HTTP, in simulated time, against a service that is told whom it dislikes. */
export class SyncWorld {
  readonly clock = new ManualClock();
  readonly broker = new InMemoryBroker();
  readonly letters = new Map<string, Letter & { readonly atMs: number }>();
  /** By second. */
  readonly calls: number[] = [];
  readonly updates = new Map<string, Sent>();
  readonly flow: SyncFlow;
  readonly gate: Gate;
  /** Ids that were at the service twice at once. */
  readonly overlaps: string[] = [];
  readonly said: [string, unknown][] = [];
  readonly #engine: Engine;
  readonly #options: SyncWorldOptions;
  readonly #atService = new Set<string>();
  #written = 0;
  #owed = 0;
  #calls = 0;

  constructor(options: SyncWorldOptions) {
    this.#options = options;
    const { clock } = this;
    const draw = drawsOf(options.seed ?? 7);
    const emit: Emit = (event, fields) => void this.said.push([event, fields]);
    this.gate = new Gate({
      scope: 'sync',
      attribution: new Attribution({
        maxAttempts: 8,
        refuseAfterMs: 30_000,
        maxShare: options.maxShare ?? 0.05,
        draw,
        nowMs: 0,
      }),
      bucket: null,
      clock,
      emit,
    });
    this.flow = new SyncFlow({
      api: { sync: async (body) => await this.#answer(body.toString()) },
      gate: this.gate,
      decoder: { decode: () => ({ do: 'needs', schema: 1 }) },
      alignment: new Alignment({
        topicCreated: 'payments.created',
        ordering: 'key',
        scoreWaitMs: 0,
        isScoringHeld: () => false,
        emit,
      }),
      rules: RULES,
      limits: { maxRecords: 100, maxBytes: 100_000, maxAgeMs: 250, inFlight: options.inFlight ?? 4 },
      recordMaxBytes: 10_000,
      clock,
      emit,
    });
    const letters = {
      write: async (record: { readonly key: Buffer | null }, letter: Letter) => {
        this.letters.set(String(record.key), { ...letter, atMs: clock.monotonicMs() });
        return await Promise.resolve('written' as const);
      },
    };
    this.broker.createTopic(TOPIC, PARTITIONS);
    this.#engine = new Engine({
      source: this.broker.source('g', [TOPIC]),
      flows: new Map<string, Flow<unknown, unknown>>([[TOPIC, this.flow]]),
      deadLetters: guarded(letters, new Map([[TOPIC, this.gate]])),
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
      pressure: { partitionRecords: 2_048, partitionSpan: 1e6, flowRecords: 10_000, flowBytes: 1e9 },
    });
  }

  /** Runs until this second; updates are written until `writtenUntil`. */
  async until(second: number, writtenUntil = Infinity): Promise<void> {
    if (this.clock.monotonicMs() === 0) await this.#engine.start();
    while (this.clock.monotonicMs() < second * 1_000) {
      if (this.clock.monotonicMs() < writtenUntil * 1_000) this.#write();
      await this.broker.step();
      this.clock.advance(STEP_MS);
      await settled();
    }
  }

  async rebalance(): Promise<void> {
    const joining = this.broker.rebalance('g');
    for (let step = 0; step < 100; step += 1) {
      this.clock.advance(STEP_MS);
      await settled();
    }
    await joining;
  }

  oddityOf(id: string): Answer | null {
    return this.#options.oddity(Number(id));
  }

  isOdd(id: string): boolean {
    return this.oddityOf(id) !== null;
  }

  get odd(): readonly string[] {
    return [...this.updates.keys()].filter((id) => this.isOdd(id));
  }

  get good(): readonly Sent[] {
    return [...this.updates.values()].filter(({ id }) => !this.isOdd(id));
  }

  get waits(): readonly { readonly cause: string; readonly records: number; readonly position: string | null }[] {
    return this.#engine.status().flows[0]?.waits ?? [];
  }

  get unfinished(): number {
    return this.#engine.status().flows[0]?.buffered ?? 0;
  }

  /** Calls in these seconds. */
  callsIn(from: number, to: number): number {
    let all = 0;
    for (let second = from; second < to; second += 1) all += this.calls[second] ?? 0;
    return all;
  }

  #write(): void {
    this.#owed += (this.#options.perSecond * STEP_MS) / 1000;
    for (; this.#owed >= 1; this.#owed -= 1) {
      const id = String(this.#written);
      const value = JSON.stringify({ trans_id: id, status: 'approved', ts: '2026-03-01T09:30:00Z', acq_ref_id: 'a' });
      const timestampMs = this.clock.nowMs();
      this.broker.append(TOPIC, this.#written % PARTITIONS, { key: id, value, timestampMs });
      this.updates.set(id, { id, atMs: this.clock.monotonicMs(), deliveredMs: null, deliveries: 0 });
      this.#written += 1;
    }
  }

  async #answer(body: string): Promise<Exchange> {
    const ids = Object.keys(JSON.parse(body) as object);
    const second = Math.floor(this.clock.monotonicMs() / 1_000);
    this.calls[second] = (this.calls[second] ?? 0) + 1;
    this.#calls += 1;
    for (const id of ids) {
      if (this.#atService.has(id)) this.overlaps.push(id);
      this.#atService.add(id);
    }
    const { oddity, outage = () => null } = this.#options;
    const odd = ids.map((id) => oddity(Number(id)));
    const answer =
      outage(this.clock.monotonicMs(), this.#calls) ?? odd.find((one) => one !== null && one !== 'rejected') ?? null;
    return await new Promise((resolve) => {
      this.clock.after(answer === 'timeout' ? TIMEOUT_MS : LATENCY_MS, () => {
        for (const id of ids) this.#atService.delete(id);
        const isRejected = (n: number): boolean => answer === 'rejected' || odd[n] === 'rejected';
        if (answer === null || answer === 'rejected') this.#accept(ids.filter((_id, n) => !isRejected(n)));
        resolve(
          exchangeOf(
            answer,
            ids.filter((_id, n) => isRejected(n)),
          ),
        );
      });
    });
  }

  #accept(ids: readonly string[]): void {
    for (const id of ids) {
      const sent = this.updates.get(id);
      if (sent === undefined) continue;
      sent.deliveries += 1;
      sent.deliveredMs ??= this.clock.monotonicMs();
    }
  }
}

function exchangeOf(answer: Answer | null, rejected: readonly string[]): Exchange {
  switch (answer) {
    case 'reset':
      return { do: 'failed', why: 'reset', ambiguous: true };
    case 'timeout':
      return { do: 'failed', why: 'timeout', ambiguous: true };
    case 'unusable':
      return { do: 'failed', why: 'oversized', ambiguous: true };
    case 'error_msg':
      return answered(200, { error_msg: 'no' });
    case 'rejected':
    case null:
      return answered(rejected.length === 0 ? 200 : 207, Object.fromEntries(rejected.map((id) => [id, { ok: false }])));
    default:
      return answered(answer, {});
  }
}

function answered(status: number, body: object): Exchange {
  return { do: 'answer', status, retryAfterMs: null, body: Buffer.from(JSON.stringify(body)), latencyMs: LATENCY_MS };
}

/** Mulberry32: the same run every time. */
export function drawsOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
