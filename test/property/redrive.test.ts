import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { brokenBy, type Law } from '../support/kept-seeds.ts';
import { type RedriveProcess, RedriveWorld } from '../support/redrive-world.ts';
import { UPDATES } from '../support/replay-world.ts';
import { type Troubled, Troubles } from '../support/troubles.ts';

/** A log of updates, which of them are letters, and what happens while these are sent again. */
interface Scenario extends Troubled {
  readonly partitions: 1 | 2 | 3;
  /** Ids of the updates that are there before; each id keeps to its partition. */
  readonly before: readonly number[];
  /** How many of them are letters, of these pointers, and letters that are there twice. */
  readonly letters: number;
  readonly pointers: number;
  readonly doubles: number;
}

const share = fc.integer({ min: 0, max: 20 }).map((of) => of / 20);
const scenarios: fc.Arbitrary<Scenario> = fc.record({
  partitions: fc.constantFrom(1, 2, 3),
  before: fc.array(fc.nat({ max: 11 }), { minLength: 1, maxLength: 50, size: 'max' }),
  letters: share,
  pointers: fc.constantFrom(0, 0.3),
  doubles: fc.constantFrom(0, 0.2),
  meanwhile: fc.nat({ max: 20 }),
  kills: fc.nat({ max: 3 }),
  arrives: fc.boolean(),
  seed: fc.nat(),
});

const MOST_STEPS = 6000;

/** One run of a scenario. */
class Run {
  readonly #world: RedriveWorld;
  readonly #scenario: Scenario;
  readonly #troubles: Troubles<RedriveProcess>;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#world = new RedriveWorld(scenario.partitions);
    this.#troubles = new Troubles(this.#world, scenario);
  }

  async wrong(): Promise<readonly string[]> {
    this.#begin();
    await this.#world.startLive();
    const start = (): RedriveProcess => this.#world.redrive();
    if (!(await this.#troubles.untilEnded(start, ({ end }) => end !== null, MOST_STEPS)))
      return ['the redrive does not end'];
    if (!(await this.#troubles.untilLiveIsDone(MOST_STEPS))) return ['the live group does not come to its end'];
    return this.#compare();
  }

  /** Writes the log; the service knows what is no letter, the newest of each. */
  #begin(): void {
    const { partitions, before, letters, pointers, doubles } = this.#scenario;
    const world = this.#world;
    for (const id of before) world.write(String(id), id % partitions);
    for (let partition = 0; partition < partitions; partition += 1) {
      for (const record of world.broker.records(UPDATES, partition)) {
        const [id = '', status = ''] = String(record.value).split(' ');
        if (this.#troubles.draw() >= letters) world.service.statuses.set(id, status);
        else
          for (let times = this.#troubles.draw() < doubles ? 2 : 1; times > 0; times -= 1)
            world.letter(record, { at: record.timestampMs, isPointer: this.#troubles.draw() < pointers });
      }
      world.goneLive(partition, world.broker.watermarks(UPDATES, partition).high);
    }
  }

  #compare(): readonly string[] {
    const end = this.#troubles.now?.end;
    if (end === null || end === undefined || end === 'stopped early') return ['no end'];
    // Killed after its end was noted: the start after it is told that there is nothing to do.
    const isOver = 'failed' in end && /come to its end already/.test(String(end.failed));
    if ('failed' in end && !isOver) return [String(end.failed)];
    return [...('unsettled' in end && end.unsettled > 0 ? ['not settled'] : []), ...this.#troubles.older()];
  }
}

const convergence: Law<Scenario> = {
  name: 'redrive',
  worlds: scenarios,
  check: async (scenario) => await new Run(scenario).wrong(),
};

describe('a redrive of status updates', () => {
  test('ends in the newest status of every transaction, whatever were letters, killed whenever, beside whatever traffic', async () => {
    expect(await brokenBy(convergence, 300)).toBeNull();
  });
});
