import { type EngineStatus, type PartitionStatus } from '../engine/ports.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit, type EventFields, type EventName } from '../kernel/emit.ts';
import { errorWords } from '../kernel/error-words.ts';
import { type HoldCause, HOLDS, isPartial } from '../kernel/outcome.ts';
import { duplicateBounds } from './duplicate-bound.ts';
import { type GateReport } from '../resilience/ports.ts';
import { WebhookCounts } from './webhook-counts.ts';
import {
  type GateHealth,
  type HealthPhase,
  type HealthReport,
  type HoldReport,
  type PartitionReport,
} from './ports.ts';

export interface HealthOptions {
  readonly version: string;
  readonly account: string;
  /** What runs here: `scoring`, `sync`, `reviews`. */
  readonly flows: ReadonlySet<string>;
  readonly clock: Clock;
  /** Null as long as (or where) no engine runs. */
  readonly status: () => EngineStatus | null;
  readonly gates?: () => readonly GateReport[];
}

interface Hold {
  readonly cause: HoldCause;
  readonly scope: string;
  readonly sinceMs: number;
  readonly error: string;
  readonly position: string | null;
}

const MOVES: readonly { readonly by: EventName; readonly from: readonly HealthPhase[]; readonly to: HealthPhase }[] = [
  { by: 'ready', from: ['starting'], to: 'running' },
  { by: 'stopping', from: ['starting', 'running'], to: 'stopping' },
  { by: 'stopped', from: ['starting', 'running', 'stopping'], to: 'stopped' },
  { by: 'fatal', from: ['starting', 'running', 'stopping', 'stopped'], to: 'failed' },
];
/** The scope of the hold in which nothing new starts, because too much is finished and not committed. */
const COMMITS = 'commit';
/** The scope of a dependency that does not answer its probes: it stops every flow that needs it. */
const PROBE = 'probe';
const NO_FLOWS: readonly EngineStatus['flows'][number][] = [];

/**
 * Whether this process is alive, ready, and what it waits for. It hears the events and reads the engine's state; it
 * decides nothing.
 *
 * - starting: not everything is open yet. Left by `ready`, or by what follows.
 * - running: records and webhooks are taken. Left by `stopping`.
 * - stopping: what was begun is finished. Left by `stopped`.
 * - stopped, failed: the process is about to end; `fatal` leads to failed from everywhere, and nothing leaves it.
 */
export class Health {
  readonly #options: HealthOptions;
  readonly #startedMs: number;
  readonly #holds = new Map<string, Hold>();
  readonly #webhooks = new WebhookCounts();
  #phase: HealthPhase = 'starting';
  #phaseSinceMs: number;
  #joined = false;

  constructor(options: HealthOptions) {
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
    this.#phaseSinceMs = this.#startedMs;
  }

  /** Hears events; give it to `fanOut`. */
  readonly emit: Emit = (event, fields) => {
    const move = MOVES.find((each) => each.by === event);
    if (move?.from.includes(this.#phase) === true) this.#enter(move.to);
    if (event === 'partitions_assigned') this.#joined = true;
    else if (event === 'webhook') this.#webhooks.count(fields as EventFields['webhook']);
    else if (event === 'hold_started') this.#hold(fields as EventFields['hold_started']);
    else if (event === 'hold_ended') this.#release(fields as EventFields['hold_ended']);
  };

  /** False: restart it. A hold, however long, is no reason to. */
  live(): boolean {
    return this.#phase !== 'failed';
  }

  /** May webhooks be sent here? Where none are taken: is it open, and has the group been joined once? */
  ready(): boolean {
    if (this.#phase !== 'running') return false;
    return this.#options.flows.has('reviews') || this.#joined;
  }

  /** May this flow make progress now: is it open, joined and without a hold of all its records? Null: it does not run here. */
  readyOf(flow: string): boolean | null {
    if (!this.#options.flows.has(flow)) return null;
    const isBlocked = this.#holdsOf(flow).some(({ cause }) => !isPartial(cause));
    if (this.#phase !== 'running' || isBlocked) return false;
    return flow === 'reviews' || (this.#joined && this.#options.status()?.phase === 'running');
  }

  status(): HealthReport {
    const { version, account, clock, status } = this.#options;
    const nowMs = clock.monotonicMs();
    const engine = status();
    return {
      atMs: clock.nowMs(),
      version,
      account,
      phase: this.#phase,
      engine: engine?.phase ?? null,
      live: this.live(),
      ready: this.ready(),
      phaseForMs: Math.round(nowMs - this.#phaseSinceMs),
      upForMs: Math.round(nowMs - this.#startedMs),
      holds: [...this.#holds.values()].map((hold) => report(hold, nowMs, null)),
      flows: (engine?.flows ?? NO_FLOWS).map((flow) => ({
        name: flow.name,
        ready: this.readyOf(flow.name) === true,
        outcomes: flow.outcomes,
        inFlight: flow.inFlight,
        buffered: flow.buffered,
        bufferedBytes: flow.bufferedBytes,
        heldKeys: flow.heldLanes,
        waits: flow.waits.map((wait) => report({ ...wait, scope: flow.name }, nowMs, wait.records)),
      })),
      reviews: this.#options.flows.has('reviews')
        ? { ready: this.readyOf('reviews') === true, ...this.#webhooks.report() }
        : null,
      gates: (this.#options.gates?.() ?? []).map((gate) => reportGate(gate, nowMs)),
      duplicateBound: engine === null ? [] : duplicateBounds(engine, nowMs),
      partitions: (engine?.partitions ?? []).map((each) => reportPartition(each, clock.nowMs())),
    };
  }

  #enter(phase: HealthPhase): void {
    this.#phase = phase;
    this.#phaseSinceMs = this.#options.clock.monotonicMs();
  }

  #hold({ cause, scope, error, position }: EventFields['hold_started']): void {
    const name = `${scope} ${cause}`;
    if (this.#holds.has(name)) return;
    this.#holds.set(name, {
      cause,
      scope,
      sinceMs: this.#options.clock.monotonicMs(),
      error,
      position: position ?? null,
    });
  }

  #release({ cause, scope }: EventFields['hold_ended']): void {
    this.#holds.delete(`${scope} ${cause}`);
  }

  #holdsOf(flow: string): readonly Hold[] {
    return [...this.#holds.values()].filter((hold) => stops(hold, flow));
  }
}

/** Commits that fail stop every flow that reads; so does the silence of a dependency, but that of Kafka stops reviews as well. */
function stops({ cause, scope }: Hold, flow: string): boolean {
  if (scope === COMMITS || scope === PROBE) return flow !== 'reviews' || (scope === PROBE && cause === 'kafka');
  return scope === flow || scope.startsWith(`${flow} `);
}

function report({ cause, scope, sinceMs, error, position }: Hold, nowMs: number, records: number | null): HoldReport {
  const { means, mend } = HOLDS[cause];
  const ageMs = Math.max(0, Math.round(nowMs - sinceMs));
  const partial = isPartial(cause);
  return { scope, cause, records, ageMs, error: errorWords(error), position, partial, means, mend };
}

function reportGate({ scope, breaker, guard, pausedUntilMs, limit }: GateReport, nowMs: number): GateHealth {
  const until = (atMs: number | null): number | null => (atMs === null ? null : Math.max(0, Math.round(atMs - nowMs)));
  return {
    flow: scope,
    breaker: {
      state: breaker.state,
      why: breaker.why,
      forMs: Math.round(nowMs - breaker.sinceMs),
      probeInMs: until(breaker.probeAtMs),
    },
    deadLetterGuard: {
      state: guard.state,
      forMs: Math.round(nowMs - guard.sinceMs),
      permitsInMs: until(guard.untilMs),
      budget: guard.budget,
    },
    pausedForMs: until(pausedUntilMs),
    concurrencyLimit: limit,
  };
}

function reportPartition(each: PartitionStatus, nowMs: number): PartitionReport {
  const done = each.committed ?? each.committable;
  const lag = each.highWatermark > done ? each.highWatermark - done : 0n;
  const oldestMs = each.oldestUnfinishedMs;
  return {
    topic: each.topic,
    partition: each.partition,
    next: String(each.next),
    committable: String(each.committable),
    committed: each.committed === null ? null : String(each.committed),
    highWatermark: String(each.highWatermark),
    lag: String(lag),
    buffered: each.buffered,
    paused: each.pauses.length > 0,
    pauses: each.pauses,
    oldestUnfinishedAgeMs: oldestMs === null ? null : Math.max(0, Math.round(nowMs - oldestMs)),
  };
}
