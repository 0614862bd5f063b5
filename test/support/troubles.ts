import { seededDraw } from '../../src/sandbox/service/chance.ts';
import { type ReplayProcess, type ReplayWorld } from './replay-world.ts';

/** What happens to statuses that are sent again while they are. */
export interface Troubled {
  readonly partitions: number;
  /** How many updates are written while it runs, and how often it is killed and begun again. */
  readonly meanwhile: number;
  readonly kills: number;
  /** Whether requests of a killed process still arrive. */
  readonly arrives: boolean;
  readonly seed: number;
}

/** The processes of one run, one after another, and what happens beside their work. */
export class Troubles<Process extends ReplayProcess> {
  readonly draw: () => number;
  readonly #world: ReplayWorld;
  readonly #planned: Troubled;
  readonly #processes: Process[] = [];
  #written = 0;

  constructor(world: ReplayWorld, planned: Troubled) {
    this.#world = world;
    this.#planned = planned;
    this.draw = seededDraw(planned.seed);
  }

  /** The one that works, or the last one that did. */
  get now(): Process | undefined {
    return this.#processes.at(-1);
  }

  /** Steps until a process has come to its end; each that was killed is followed by another. False: that takes more steps than `most`. */
  async untilEnded(start: () => Process, hasEnded: (process: Process) => boolean, most: number): Promise<boolean> {
    for (let steps = 0; steps <= most; steps += 1) {
      const { now } = this;
      if (now === undefined || now.isKilled) this.#processes.push(start());
      else if (hasEnded(now)) return true;
      await this.#step();
    }
    return false;
  }

  /** Steps until the live group has nothing left to do. False: that takes more steps than `most`. */
  async untilLiveIsDone(most: number): Promise<boolean> {
    const { service } = this.#world;
    for (let steps = 0; !this.#world.isLiveDone || service.requests.length > 0; steps += 1) {
      if (steps > most) return false;
      service.answerAll();
      await this.#world.step([]);
    }
    return true;
  }

  /** Transactions that the service does not hold the newest status of. Expired updates are nobody's any more. */
  older(): readonly string[] {
    const { statuses } = this.#world.service;
    return [...this.#world.newest()].flatMap(([id, status]) =>
      statuses.get(id) === status ? [] : [`${id} is ${String(statuses.get(id))}, not ${status}`],
    );
  }

  async #step(): Promise<void> {
    const { partitions, meanwhile } = this.#planned;
    const { service } = this.#world;
    if (this.#written < meanwhile && this.draw() < 0.3) {
      this.#written += 1;
      const id = Math.floor(this.draw() * 12);
      this.#world.write(String(id), id % partitions);
    }
    // In any order, and some of them late.
    for (const request of service.requests.filter(() => this.draw() < 0.4)) request.carryOut();
    const { now } = this;
    if (now !== undefined && this.#processes.length <= this.#planned.kills && this.draw() < 0.05) this.#kill(now);
    await this.#world.step(now === undefined || now.isKilled ? [] : [now], 1 + Math.floor(this.draw() * 20));
  }

  /** Its session ends before anybody goes on with its work, and its requests have ended by then. */
  #kill(process: Process): void {
    const { requests } = this.#world.service;
    process.kill();
    for (const request of requests.filter(({ by }) => by === 'replay')) {
      if (this.#planned.arrives) request.carryOut();
      else requests.splice(requests.indexOf(request), 1);
    }
  }
}
