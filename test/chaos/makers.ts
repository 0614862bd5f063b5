import { type Draw } from '../../src/kernel/clock.ts';
import { type Act, type Cramp, type WireEnd, type WireFault } from './acts.ts';
import { ILL_NAMES } from './ills.ts';

/** What a scenario is mixed from. */
export type Kind =
  | 'kill'
  | 'restart'
  | 'freeze'
  | 'node'
  | 'coordinator'
  | 'wire'
  | 'registry'
  | 'ill'
  | 'jump'
  | 'cramp'
  | 'flood'
  | 'roll'
  | 'replay';

export interface MakerOptions {
  readonly connectors: number;
  readonly sessionMs: number;
}

const NODES = 3;
/** Other nodes lead its partitions only after its own session of 6 s. */
export const NODE_DOWN_MS: readonly [number, number] = [7000, 10_000];
const HOUR_MS = 3_600_000;

const WIRES: readonly (readonly [WireEnd, WireFault])[] = [
  ['coordinator', 'silent'],
  ['node', 'silent'],
  ['coordinator', 'cut'],
  ['node', 'cut'],
  ['coordinator', 'forgotten'],
  ['node', 'forgotten'],
  ['node', 'slow'],
  ['coordinator', 'slow'],
  ['service', 'silent'],
  ['service', 'cut'],
  ['service', 'forgotten'],
  ['service', 'slow'],
];
const CRAMPS: readonly Cramp[] = ['few_files', 'small_heap'];
/** Far enough that a token's life and a webhook's window are over, and that a time that was read then tells so. */
const JUMPS_MS: readonly number[] = [13 * HOUR_MS, -13 * HOUR_MS, 0.5 * HOUR_MS, -0.5 * HOUR_MS];

/** Deals all cards in an order that the draw decides, then all of them again. */
export function deckOf<T>(draw: Draw, cards: readonly T[]): () => T {
  let left: T[] = [];
  return () => {
    if (left.length === 0) left = [...cards];
    const [card] = left.splice(Math.floor(draw() * left.length), 1);
    if (card === undefined) throw new RangeError('a deck without cards');
    return card;
  };
}

/** Makes acts of each kind; each kind goes through all it has before anything comes again. */
export function makersOf({ connectors, sessionMs }: MakerOptions, draw: Draw): Readonly<Record<Kind, () => Act>> {
  const connector = (): number => 1 + Math.floor(draw() * connectors);
  const between = (least: number, most: number): number => Math.round(least + draw() * (most - least));
  const wire = deckOf(draw, WIRES);
  const ill = deckOf(draw, ILL_NAMES);
  const cramp = deckOf(draw, CRAMPS);
  const jump = deckOf(draw, JUMPS_MS);
  return {
    kill: () => ({ do: 'kill', connector: connector(), downMs: between(0, 2000) }),
    restart: () => ({ do: 'restart', connector: connector(), downMs: between(0, 1500) }),
    freeze: () => ({ do: 'freeze', connector: connector(), forMs: between(1.3 * sessionMs, 2 * sessionMs) }),
    node: () => ({ do: 'kill_node', downMs: between(...NODE_DOWN_MS), node: 1 + Math.floor(draw() * NODES) }),
    coordinator: () => ({ do: 'kill_coordinator', downMs: between(...NODE_DOWN_MS) }),
    wire: () => {
      const [to, fault] = wire();
      // Beyond the session, so that the group goes on without who is cut off.
      const forMs = between(1.2 * sessionMs, 1.8 * sessionMs);
      return { do: 'wire', connector: connector(), to, node: 1 + Math.floor(draw() * NODES), fault, forMs };
    },
    registry: () => ({ do: 'registry_away', connector: connector(), forMs: between(5000, 8000) }),
    ill: () => ({ do: 'ill', ill: ill(), forMs: between(5000, 8000) }),
    jump: () => ({ do: 'jump', connector: connector(), byMs: jump(), forMs: between(5000, 10_000) }),
    cramp: () => ({ do: 'cramp', connector: connector(), with: cramp(), forMs: between(8000, 14_000) }),
    flood: () => ({ do: 'flood', perSecond: 200, forMs: between(4000, 8000) }),
    roll: () => ({ do: 'roll' }),
    replay: () => ({ do: 'replay' }),
  };
}
