import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededDraw } from '../../src/sandbox/service/chance.ts';
import { brokenBy, type Law } from '../support/kept-seeds.ts';
import { type ReplayProcess, ReplayWorld, UPDATES } from '../support/replay-world.ts';

/** A log, what of it the service has lost, a replay of a part of it, and what happens meanwhile. */
interface Scenario {
  readonly partitions: 1 | 2 | 3;
  /** Ids of the updates that are there before; each id keeps to its partition. */
  readonly before: readonly number[];
  /** Shares of the log: where the range begins and ends, where the live group stands, and what has expired. */
  readonly from: number;
  readonly to: number;
  readonly live: number;
  readonly expired: number;
  readonly everyUpdate: boolean;
  /** How many updates are written while it runs, and how often it is killed and begun again. */
  readonly meanwhile: number;
  readonly kills: number;
  /** Whether requests of a killed process still arrive. */
  readonly arrives: boolean;
  readonly isLiveRunning: boolean;
  readonly seed: number;
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
  readonly #draw: () => number;
  readonly #processes: ReplayProcess[] = [];
  #written = 0;

  constructor(scenario: Scenario) {
    this.#scenario = scenario;
    this.#world = new ReplayWorld(scenario.partitions);
    this.#draw = seededDraw(scenario.seed);
  }

  async wrong(): Promise<readonly string[]> {
    const typed = this.#begin();
    const { isLiveRunning } = this.#scenario;
    if (isLiveRunning) await this.#world.startLive();
    for (let steps = 0; ; steps += 1) {
      if (steps > MOST_STEPS) return ['the replay does not end'];
      const now = this.#processes.at(-1);
      if (now === undefined || now.isKilled) this.#processes.push(this.#world.start(...typed));
      else if (now.outcome !== null) break;
      await this.#step();
    }
    if (!isLiveRunning) await this.#world.startLive();
    for (let steps = 0; !this.#world.isLiveDone || this.#world.service.requests.length > 0; steps += 1) {
      if (steps > MOST_STEPS) return ['the live group does not come to its end'];
      this.#world.service.answerAll();
      await this.#world.step([]);
    }
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
        if (record.offset >= offset || (isInRange && this.#draw() < 0.7)) continue;
        const [id = '', status = ''] = String(record.value).split(' ');
        world.service.statuses.set(id, status);
      }
      world.goneLive(partition, offset);
      world.broker.expire(UPDATES, partition, gone[partition] ?? 0n);
    }
    return [{ from: list(starts), to: list(stops), everyUpdate }, { force: everyUpdate }];
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
      const own = service.requests.filter(({ by }) => by === 'replay');
      for (const request of own) {
        if (arrives) request.carryOut();
        else service.requests.splice(service.requests.indexOf(request), 1);
      }
    }
    await this.#world.step(now === undefined || now.isKilled ? [] : [now], 1 + Math.floor(this.#draw() * 20));
  }

  #compare(): readonly string[] {
    const outcome = this.#processes.at(-1)?.outcome;
    if (outcome === null || outcome === undefined || outcome === 'stopped early') return ['no outcome'];
    if ('failed' in outcome) {
      // Killed between its last commit and the next look: the start after it is told that there is nothing to do.
      if (/come to its end already/.test(String(outcome.failed))) return this.#older();
      return [String(outcome.failed)];
    }
    return [...(outcome.unsettled > 0 ? ['not settled'] : []), ...this.#older()];
  }

  /** Transactions that the service does not hold the newest status of. Expired updates are nobody's any more. */
  #older(): readonly string[] {
    const { service } = this.#world;
    const wrong: string[] = [];
    for (const [id, status] of this.#world.newest())
      if (service.statuses.get(id) !== status)
        wrong.push(`${id} is ${String(service.statuses.get(id))}, not ${status}`);
    return wrong;
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
