import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededDraw } from '../../src/sandbox/service/chance.ts';
import { brokenBy, type Law } from '../support/kept-seeds.ts';
import { type RedriveProcess, RedriveWorld } from '../support/redrive-world.ts';
import { UPDATES } from '../support/replay-world.ts';

/** A log of updates, which of them are letters, and what happens while these are sent again. */
interface Scenario {
  readonly partitions: 1 | 2 | 3;
  /** Ids of the updates that are there before; each id keeps to its partition. */
  readonly before: readonly number[];
  /** How many of them are letters, of these pointers, and letters that are there twice. */
  readonly letters: number;
  readonly pointers: number;
  readonly doubles: number;
  /** How many updates are written while it runs, and how often it is killed and begun again. */
  readonly meanwhile: number;
  readonly kills: number;
  /** Whether requests of a killed process still arrive. */
  readonly arrives: boolean;
  readonly seed: number;
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
  readonly #draw: () => number;
  readonly #processes: RedriveProcess[] = [];
  #written = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#world = new RedriveWorld(scenario.partitions);
    this.#draw = seededDraw(scenario.seed);
  }

  async wrong(): Promise<readonly string[]> {
    this.#begin();
    const world = this.#world;
    await world.startLive();
    for (let steps = 0; ; steps += 1) {
      if (steps > MOST_STEPS) return ['the redrive does not end'];
      const now = this.#processes.at(-1);
      if (now === undefined || now.isKilled) this.#processes.push(world.redrive());
      else if (now.end !== null) break;
      await this.#step();
    }
    for (let steps = 0; !world.isLiveDone || world.service.requests.length > 0; steps += 1) {
      if (steps > MOST_STEPS) return ['the live group does not come to its end'];
      world.service.answerAll();
      await world.step([]);
    }
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
        if (this.#draw() >= letters) world.service.statuses.set(id, status);
        else
          for (let times = this.#draw() < doubles ? 2 : 1; times > 0; times -= 1)
            world.letter(record, { at: record.timestampMs, isPointer: this.#draw() < pointers });
      }
      world.goneLive(partition, world.broker.watermarks(UPDATES, partition).high);
    }
  }

  async #step(): Promise<void> {
    const { partitions, meanwhile, kills, arrives } = this.#scenario;
    const { service } = this.#world;
    if (this.#written < meanwhile && this.#draw() < 0.3) {
      this.#written += 1;
      const id = Math.floor(this.#draw() * 12);
      this.#world.write(String(id), id % partitions);
    }
    // In any order, and some of them late.
    for (const request of service.requests.filter(() => this.#draw() < 0.4)) request.carryOut();
    const now = this.#processes.at(-1);
    if (now !== undefined && this.#processes.length <= kills && this.#draw() < 0.05) {
      now.kill();
      // Its session ends before anybody goes on with its work, and its requests have ended by then.
      for (const request of service.requests.filter(({ by }) => by === 'replay')) {
        if (arrives) request.carryOut();
        else service.requests.splice(service.requests.indexOf(request), 1);
      }
    }
    await this.#world.step(now === undefined || now.isKilled ? [] : [now], 1 + Math.floor(this.#draw() * 20));
  }

  #compare(): readonly string[] {
    const end = this.#processes.at(-1)?.end;
    if (end === null || end === undefined || end === 'stopped early') return ['no end'];
    // Killed after its end was noted: the start after it is told that there is nothing to do.
    const isOver = 'failed' in end && /come to its end already/.test(String(end.failed));
    if ('failed' in end && !isOver) return [String(end.failed)];
    const wrong = 'unsettled' in end && end.unsettled > 0 ? ['not settled'] : [];
    const { service } = this.#world;
    for (const [id, status] of this.#world.newest())
      if (service.statuses.get(id) !== status)
        wrong.push(`${id} is ${String(service.statuses.get(id))}, not ${status}`);
    return wrong;
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
