import { type Act, type ActName } from './acts.ts';
import { type Plan, type Scenario } from './schedule.ts';

/** What was really done, and befell somebody, by name; so that a campaign whose faults did not happen cannot pass. */
export type Deeds = Readonly<Record<string, number>>;

/** Counts deeds. */
export class Tally {
  readonly #counts = new Map<string, number>();

  add(deed: string, times = 1): void {
    this.#counts.set(deed, this.of(deed) + times);
  }

  of(deed: string): number {
    return this.#counts.get(deed) ?? 0;
  }

  get deeds(): Deeds {
    return Object.fromEntries(this.#counts);
  }
}

/** What must have happened beside what the acts themselves say. */
const ALSO: Partial<Record<Scenario, readonly string[]>> = {
  clean: ['starts', 'cleanStops'],
  kill: ['kills', 'killsInFlight'],
  broker: ['nodeKills', 'leaderMoves'],
  freeze: ['freezes'],
  stuck: ['kills', 'killsInFlight', 'stuckKills'],
  hostile: ['kills', 'oddPayments', 'oddRecords', 'abortedTransactions'],
};

/** What must have happened when a plan was followed: each kind of act at least once. */
export function requiredOf(scenario: Scenario, { steps }: Plan): readonly string[] {
  return [...new Set([...(ALSO[scenario] ?? []), ...steps.flatMap(({ act }) => deedsOf(act))])];
}

/** What acts of a kind come to, where they befall somebody. */
const COMES_TO: Readonly<Record<ActName, readonly string[]>> = {
  start: ['starts'],
  stop: ['cleanStops'],
  restart: ['cleanStops'],
  roll: ['cleanStops'],
  kill: ['kills'],
  freeze: ['freezes'],
  stick: ['stuckKills'],
  kill_node: ['nodeKills', 'leaderMoves'],
  kill_coordinator: ['coordinatorKills'],
  wire: [],
  registry_away: ['registryAway'],
  ill: [],
  jump: ['clockJumps'],
  cramp: [],
  flood: ['floods', 'forgedWebhooks'],
  replay: ['replays', 'replayedUpdates'],
  grow: ['growths'],
  erase: ['erasures', 'erasedRecords'],
  mirror: ['mirroredMaps'],
};

/** What an act comes to, where it befalls somebody. */
export function deedsOf(act: Act): readonly string[] {
  switch (act.do) {
    case 'wire':
      return [`wire to ${act.to} ${act.fault}`];
    case 'ill':
      return [`ill ${act.ill}`];
    case 'cramp':
      return [`cramped by ${act.with}`];
    default:
      return COMES_TO[act.do];
  }
}
