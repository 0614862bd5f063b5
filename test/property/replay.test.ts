import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { brokenBy, type Law } from '../support/kept-seeds.ts';
import { type ReplayProcess, ReplayWorld, UPDATES } from '../support/replay-world.ts';
import { type Troubled, Troubles } from '../support/troubles.ts';

/** A log, what of it the service has lost, a replay of a part of it, and what happens meanwhile. */
interface Scenario extends Troubled {
  readonly partitions: 1 | 2 | 3;
  /** Ids of the updates that are there before; each id keeps to its partition. */
  readonly before: readonly number[];
  /** Shares of the log: where the range begins and ends, where the live group stands, and what has expired. */
  readonly from: number;
  readonly to: number;
  readonly live: number;
  readonly expired: number;
  readonly everyUpdate: boolean;
  readonly isLiveRunning: boolean;
}

const share = fc.integer({ min: 0, max: 20 }).map((of) => of / 20);
const scenarios: fc.Arbitrary<Scenario> = fc.record({
  partitions: fc.constantFrom(1, 2, 3),
  before: fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 60, size: 'max' }),
  from: share,
  to: share,
  live: share,
  expired: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: share }),
  everyUpdate: fc.boolean(),
  meanwhile: fc.nat({ max: 25 }),
  kills: fc.nat({ max: 3 }),
  arrives: fc.boolean(),
  isLiveRunning: fc.boolean(),
  seed: fc.nat(),
});

const MOST_STEPS = 4000;

function list(offsets: readonly bigint[]): string {
  return offsets.map((offset, partition) => `${String(partition)}:${String(offset)}`).join(',');
}

/** One run of a scenario. */
class Run {
  readonly #world: ReplayWorld;
  readonly #scenario: Scenario;
  readonly #troubles: Troubles<ReplayProcess>;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#world = new ReplayWorld(scenario.partitions);
    this.#troubles = new Troubles(this.#world, scenario);
  }

  async wrong(): Promise<readonly string[]> {
    const typed = this.#begin();
    const { isLiveRunning } = this.#scenario;
    if (isLiveRunning) await this.#world.startLive();
    const start = (): ReplayProcess => this.#world.start(...typed);
    if (!(await this.#troubles.untilEnded(start, ({ outcome }) => outcome !== null, MOST_STEPS)))
      return ['the replay does not end'];
    if (!isLiveRunning) await this.#world.startLive();
    if (!(await this.#troubles.untilLiveIsDone(MOST_STEPS))) return ['the live group does not come to its end'];
    return this.#compare();
  }

  /** Writes the log, and has the service know what it did not lose. Answers what the replay is asked for. */
  #begin(): Parameters<ReplayWorld['start']> {
    const { partitions, before, everyUpdate, expired, live } = this.#scenario;
    const world = this.#world;
    for (const id of before) world.write(String(id), id % partitions);
    const ends = Array.from({ length: partitions }, (_, partition) => world.broker.watermarks(UPDATES, partition).high);
    const at = (of: number): bigint[] => ends.map((end) => BigInt(Math.round(of * Number(end))));
    const [from, to] = [this.#scenario.from, this.#scenario.to].sort((one, other) => one - other);
    const [starts, stops, gone] = [at(from ?? 0), at(to ?? 1), at(Math.min(expired, live))];
    for (const [partition, offset] of at(live).entries()) {
      for (const record of world.broker.records(UPDATES, partition)) {
        const isInRange = record.offset >= (starts[partition] ?? 0n) && record.offset < (stops[partition] ?? 0n);
        if (record.offset >= offset || (isInRange && this.#troubles.draw() < 0.7)) continue;
        const [id = '', status = ''] = String(record.value).split(' ');
        world.service.statuses.set(id, status);
      }
      world.goneLive(partition, offset);
      world.broker.expire(UPDATES, partition, gone[partition] ?? 0n);
    }
    return [{ from: list(starts), to: list(stops), everyUpdate }, { force: everyUpdate }];
  }

  #compare(): readonly string[] {
    const outcome = this.#troubles.now?.outcome;
    if (outcome === null || outcome === undefined || outcome === 'stopped early') return ['no outcome'];
    if ('failed' in outcome) {
      // Killed between its last commit and the next look: the start after it is told that there is nothing to do.
      if (/come to its end already/.test(String(outcome.failed))) return this.#troubles.older();
      return [String(outcome.failed)];
    }
    return [...(outcome.unsettled > 0 ? ['not settled'] : []), ...this.#troubles.older()];
  }
}

const convergence: Law<Scenario> = {
  name: 'replay',
  worlds: scenarios,
  check: async (scenario) => await new Run(scenario).wrong(),
};

describe('a replay', () => {
  test('ends in the newest status of every transaction, in whatever range, killed whenever, beside whatever traffic', async () => {
    expect(await brokenBy(convergence, 600)).toBeNull();
  });
});
