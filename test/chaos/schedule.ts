import { type Draw } from '../../src/kernel/clock.ts';
import { seededDraw } from '../../src/sandbox/service/chance.ts';

export const SCENARIOS = ['clean', 'kill', 'broker', 'freeze', 'stuck', 'mixed', 'brief'] as const;
export type Scenario = (typeof SCENARIOS)[number];

export function isScenario(text: string): text is Scenario {
  return SCENARIOS.some((scenario) => scenario === text);
}

/** One thing that is done to one process. Connectors and nodes are numbered from 1. */
export type Act =
  | { readonly do: 'start'; readonly connector: number }
  /** SIGTERM, and its end is waited for. */
  | { readonly do: 'stop'; readonly connector: number }
  /** SIGTERM, and a start `downMs` after its end. */
  | { readonly do: 'restart'; readonly connector: number; readonly downMs: number }
  /** SIGKILL, and a start `downMs` after. */
  | { readonly do: 'kill'; readonly connector: number; readonly downMs: number }
  /** SIGSTOP, and SIGCONT `forMs` after. */
  | { readonly do: 'freeze'; readonly connector: number; readonly forMs: number }
  /**
   * The next payment that is asked about gets no good answer for `forMs`. When enough has finished above it, and `phaseMs`
   * later, SIGKILL of the connector that works on its partition, and a start `downMs` after.
   */
  | { readonly do: 'stick'; readonly forMs: number; readonly phaseMs: number; readonly downMs: number }
  /** SIGKILL of a node, of those that lead partitions then the first, second or third, and a start `downMs` after. */
  | { readonly do: 'kill_node'; readonly node: number; readonly downMs: number };

export interface Step {
  /** Since the beginning of the traffic. */
  readonly atMs: number;
  readonly act: Act;
}

/** All that will be done, known before it begins. */
export interface Plan {
  /** Running at the beginning: 1 to this. */
  readonly connectors: number;
  readonly steps: readonly Step[];
  readonly endMs: number;
}

export interface PlanOptions {
  readonly scenario: Scenario;
  readonly seed: number;
  readonly connectors: number;
  readonly sessionMs: number;
  /** Nothing begins later. */
  readonly forMs: number;
}

/** Traffic without a fault, at the beginning. */
const CALM_MS = 3000;
const NODES = 3;
/** A payment that sticks is stuck for this long and a session: who is killed in the middle of it is succeeded before its end. */
const STUCK_MS = 54_000;
/** Longer than the interval of commits, so that a kill meets any moment of it. */
const PHASE_MS = 500;
/** Other nodes lead its partitions only after its own session of 6 s. */
const NODE_DOWN_MS: readonly [number, number] = [7000, 10_000];
/** From 1 connector to 2, to 4, and back to 1. */
const CLEAN_CYCLE: readonly Act[] = [
  { do: 'start', connector: 2 },
  { do: 'start', connector: 3 },
  { do: 'start', connector: 4 },
  { do: 'stop', connector: 1 },
  { do: 'stop', connector: 3 },
  { do: 'stop', connector: 4 },
];

/** The faults of a campaign. Pure: the options decide everything. */
export function planOf(options: PlanOptions): Plan {
  const { scenario, forMs, connectors, sessionMs } = options;
  const draw = seededDraw(options.seed);
  if (scenario === 'brief') return briefPlan(sessionMs);
  const { everyMs, next } = makerOf(options, draw);
  const steps: Step[] = [];
  for (let atMs = CALM_MS; atMs < forMs; atMs += everyMs * (0.8 + 0.4 * draw())) {
    steps.push({ atMs: Math.round(atMs), act: next(steps.length) });
  }
  return { connectors: scenario === 'clean' ? 1 : connectors, steps, endMs: forMs };
}

interface Maker {
  readonly everyMs: number;
  readonly next: (index: number) => Act;
}

function makerOf({ scenario, connectors, sessionMs }: PlanOptions, draw: Draw): Maker {
  const connector = (): number => 1 + Math.floor(draw() * connectors);
  const between = (least: number, most: number): number => Math.round(least + draw() * (most - least));
  const kill = (): Act => ({ do: 'kill', connector: connector(), downMs: between(0, 2000) });
  const freeze = (): Act => ({
    do: 'freeze',
    connector: connector(),
    forMs: between(1.3 * sessionMs, 2 * sessionMs),
  });
  const killNode = (downMs: number): Act => ({ do: 'kill_node', node: 1 + Math.floor(draw() * NODES), downMs });
  const restart = (): Act => ({ do: 'restart', connector: connector(), downMs: between(0, 1500) });
  switch (scenario) {
    case 'kill':
      return { everyMs: 1.5 * sessionMs + 3000, next: kill };
    case 'broker':
      return { everyMs: 13_000 + 0.5 * sessionMs, next: () => killNode(between(...NODE_DOWN_MS)) };
    case 'freeze':
      return { everyMs: 2 * sessionMs + 4000, next: freeze };
    case 'stuck': {
      const forMs = STUCK_MS + sessionMs;
      const next = (): Act => ({ do: 'stick', forMs, phaseMs: between(0, PHASE_MS), downMs: between(0, 2000) });
      return { everyMs: forMs + sessionMs, next };
    }
    case 'mixed':
      return {
        everyMs: 4000 + sessionMs,
        next: () => pick(draw, [kill, restart, freeze, () => killNode(between(...NODE_DOWN_MS))]),
      };
    default:
      return { everyMs: 2500 + 0.25 * sessionMs, next: (index) => cleanAct(index) };
  }
}

/** Each cycle leaves another connector alone, so that each of them is stopped and started in turn. */
function cleanAct(index: number): Act {
  const act = CLEAN_CYCLE[index % CLEAN_CYCLE.length] ?? { do: 'start', connector: 1 };
  if (act.do !== 'start' && act.do !== 'stop') return act;
  const turn = Math.floor(index / CLEAN_CYCLE.length);
  return { do: act.do, connector: 1 + ((act.connector - 1 + turn) % 4) };
}

/** One of each, as close together as they can be told apart. */
function briefPlan(sessionMs: number): Plan {
  const steps: readonly Step[] = [
    { atMs: 1000, act: { do: 'restart', connector: 1, downMs: 0 } },
    { atMs: 5000, act: { do: 'kill', connector: 2, downMs: 500 } },
    { atMs: 5000 + sessionMs, act: { do: 'kill_node', node: 2, downMs: NODE_DOWN_MS[0] } },
    { atMs: 7000 + sessionMs, act: { do: 'freeze', connector: 1, forMs: Math.round(1.3 * sessionMs) } },
  ];
  return { connectors: 2, steps, endMs: Math.round(8000 + 2.3 * sessionMs) };
}

function pick(draw: Draw, makers: readonly (() => Act)[]): Act {
  return (makers[Math.floor(draw() * makers.length)] ?? makers[0]!)();
}
