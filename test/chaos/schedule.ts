import { type Draw } from '../../src/kernel/clock.ts';
import { seededDraw } from '../../src/sandbox/service/chance.ts';
import { type Act } from './acts.ts';
import { deckOf, type Kind, makersOf, NODE_DOWN_MS } from './makers.ts';

/** Every scenario, in one line for `--help`. */
export const MEANINGS = {
  clean: 'SIGTERM and start, from 1 connector to 4 and back to 1',
  kill: 'kill -9 of connectors',
  broker: 'kill -9 of nodes, so that their partitions are led by others',
  freeze: 'SIGSTOP of connectors beyond their session, then SIGCONT',
  stuck: 'one payment sticks; kill -9 when thousands have finished above it',
  mixed: 'clean, kill, broker and freeze, one about every session + 4 s',
  storm:
    'connectors killed, restarted and frozen about every half session + 2.5 s, nodes about every half session + 13 s',
  soak: 'wires, nodes, the service and webhooks; no connector ever ends, so that what it does not give back piles up',
  network: 'connectors cut off from one node, from the coordinator or from the service: silent, cut, half-open, slow',
  service: 'the service and its login are ill, in every way there is, one after the other',
  reviews: 'floods of webhooks, valid and forged, while connectors and nodes are killed',
  clock: 'the clock of a connector jumps by half an hour or 13 h, and back',
  cramped: 'connectors with few open files or a small heap, killed at times',
  roll: 'every connector restarted in turn, nodes and the coordinator killed beside it',
  registry: 'the registry is away while connectors start',
  replay: 'replays beside live traffic, connectors killed meanwhile',
  grown: 'both topics get more partitions under load',
  hostile:
    'odd answers and odd records among good ones, while connectors and nodes are killed; then compared with the same run without them',
  erased: 'records are deleted before they were read',
  mirrored: 'the commits of the group get the maps of another cluster beside them',
  all: 'everything but stuck, grown, hostile, erased and mirrored, one about every session + 4 s',
  brief: 'restart, kill, broker kill and freeze within 22 s',
  slice: 'SIGTERM, kill -9, SIGSTOP, wires cut and silent, an ill service and a flood of webhooks within 28 s',
} as const;

export type Scenario = keyof typeof MEANINGS;
export const SCENARIOS = Object.keys(MEANINGS) as readonly Scenario[];

export function isScenario(text: string): text is Scenario {
  return SCENARIOS.some((scenario) => scenario === text);
}

export interface Step {
  /** Since the beginning of the traffic. */
  readonly atMs: number;
  readonly act: Act;
  /** It is left out where its target has not come back from what was done to it before: a slow machine has fewer faults. */
  readonly unlessBusy?: boolean;
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
/** A payment that sticks is stuck for this long and a session: who is killed in the middle of it is succeeded before its end. */
const STUCK_MS = 54_000;
/** Longer than the interval of commits, so that a kill meets any moment of it. */
const PHASE_MS = 500;
/** How far apart faults begin on average, and of what kinds they are: all kinds come before one comes again. */
const MIXES: Partial<
  Record<Scenario, { readonly of: readonly Kind[]; readonly everyMs: (sessionMs: number) => number }>
> = {
  network: { of: ['wire'], everyMs: (sessionMs) => 2.2 * sessionMs },
  // Some are met by the next login only, which may be a minute away.
  service: { of: ['ill'], everyMs: () => 24_000 },
  reviews: { of: ['flood', 'kill', 'node', 'restart', 'wire'], everyMs: (sessionMs) => 4000 + sessionMs },
  clock: { of: ['jump', 'jump', 'jump', 'restart'], everyMs: (sessionMs) => 6000 + sessionMs },
  cramped: { of: ['cramp', 'cramp', 'kill'], everyMs: (sessionMs) => 8000 + sessionMs },
  roll: { of: ['roll', 'coordinator', 'roll', 'node'], everyMs: (sessionMs) => 9000 + 2 * sessionMs },
  registry: { of: ['registry', 'kill'], everyMs: (sessionMs) => 6000 + sessionMs },
  hostile: { of: ['kill', 'kill', 'restart', 'freeze', 'node'], everyMs: (sessionMs) => 14_000 + sessionMs },
  replay: { of: ['replay', 'kill', 'restart'], everyMs: (sessionMs) => 6000 + sessionMs },
  soak: { of: ['wire', 'wire', 'node', 'ill', 'flood', 'coordinator'], everyMs: (sessionMs) => 4000 + 2 * sessionMs },
  all: {
    of: [
      ...(['kill', 'restart', 'freeze', 'node', 'coordinator', 'wire', 'wire', 'wire', 'registry'] as const),
      ...(['ill', 'ill', 'ill', 'jump', 'cramp', 'flood', 'roll', 'replay'] as const),
    ],
    everyMs: (sessionMs) => 4000 + sessionMs,
  },
};
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
  if (scenario === 'slice') return slicePlan(options, draw);
  if (scenario === 'grown') return grownPlan(options, draw);
  if (scenario === 'storm') return stormPlan(options, draw);
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

function makerOf(options: PlanOptions, draw: Draw): Maker {
  const { scenario, sessionMs } = options;
  const make = makersOf(options, draw);
  const mix = MIXES[scenario];
  if (mix !== undefined) {
    const kind = deckOf(draw, mix.of);
    return { everyMs: mix.everyMs(sessionMs), next: () => make[kind()]() };
  }
  const between = (least: number, most: number): number => Math.round(least + draw() * (most - least));
  switch (scenario) {
    case 'kill':
      return { everyMs: 1.5 * sessionMs + 3000, next: make.kill };
    case 'broker':
      return { everyMs: 13_000 + 0.5 * sessionMs, next: make.node };
    case 'freeze':
      return { everyMs: 2 * sessionMs + 4000, next: make.freeze };
    case 'stuck': {
      const forMs = STUCK_MS + sessionMs;
      const next = (): Act => ({ do: 'stick', forMs, phaseMs: between(0, PHASE_MS), downMs: between(0, 2000) });
      return { everyMs: forMs + sessionMs, next };
    }
    case 'mixed':
      return { everyMs: 4000 + sessionMs, next: () => pick(draw, [make.kill, make.restart, make.freeze, make.node]) };
    case 'mirrored':
      return { everyMs: 12_000 + sessionMs, next: () => ({ do: 'mirror' }) };
    case 'erased':
      return { everyMs: 12_000 + sessionMs, next: () => ({ do: 'erase', partition: between(0, 11) }) };
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

/** Processes and nodes beside each other, each as close together as one comes back before it is struck again. */
function stormPlan(options: PlanOptions, draw: Draw): Plan {
  const { forMs, connectors, sessionMs } = options;
  const make = makersOf(options, draw);
  const track = (of: readonly Kind[], everyMs: number): readonly Step[] => {
    const kind = deckOf(draw, of);
    const steps: Step[] = [];
    for (let atMs = CALM_MS; atMs < forMs; atMs += everyMs * (0.8 + 0.4 * draw()))
      steps.push({ atMs: Math.round(atMs), act: make[kind()](), unlessBusy: true });
    return steps;
  };
  const processes = track(['kill', 'kill', 'restart', 'restart', 'freeze'], 0.5 * sessionMs + 2500);
  const nodes = track(['node', 'node', 'coordinator'], 0.5 * sessionMs + 13_000);
  return { connectors, steps: [...processes, ...nodes].toSorted((a, b) => a.atMs - b.atMs), endMs: forMs };
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

/** What `npm test` can afford: two connectors, of which one is cut off while the other one is killed, and so on. */
function slicePlan({ sessionMs }: PlanOptions, draw: Draw): Plan {
  const node = 1 + Math.floor(draw() * 3);
  const silentMs = Math.round(1.5 * sessionMs);
  const frozenMs = Math.round(1.3 * sessionMs);
  const steps: readonly Step[] = [
    { atMs: 1000, act: { do: 'flood', perSecond: 100, forMs: 12_000 } },
    { atMs: 2000, act: { do: 'wire', connector: 1, to: 'coordinator', node, fault: 'silent', forMs: silentMs } },
    { atMs: 6000, act: { do: 'kill', connector: 2, downMs: 500 } },
    { atMs: 3000 + silentMs, act: { do: 'freeze', connector: 2, forMs: frozenMs } },
    { atMs: 4000 + silentMs, act: { do: 'wire', connector: 1, to: 'node', node, fault: 'cut', forMs: 1500 } },
    { atMs: 7000 + silentMs, act: { do: 'restart', connector: 1, downMs: 0 } },
    { atMs: 4000 + silentMs + frozenMs, act: { do: 'ill', ill: 'unavailable', forMs: 5000 } },
  ];
  return { connectors: 2, steps, endMs: 10_000 + silentMs + frozenMs };
}

/** Both topics grow once, between two kills. */
function grownPlan(options: PlanOptions, draw: Draw): Plan {
  const { forMs, connectors } = options;
  const make = makersOf(options, draw);
  const steps: readonly Step[] = [
    { atMs: CALM_MS, act: make.kill() },
    { atMs: Math.round(CALM_MS + forMs / 6), act: { do: 'grow', by: 6 } },
    { atMs: Math.round(CALM_MS + forMs / 2), act: make.restart() },
  ];
  return { connectors, steps: steps.filter(({ atMs }) => atMs < forMs), endMs: forMs };
}

function pick(draw: Draw, makers: readonly (() => Act)[]): Act {
  return (makers[Math.floor(draw() * makers.length)] ?? makers[0]!)();
}
