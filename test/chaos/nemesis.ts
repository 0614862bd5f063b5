import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type KafkaNode } from '../../src/sandbox/broker/node.ts';
import { type Fleet } from './fleet.ts';
import { movedBetween } from './leaders.ts';
import { type Act, type Step } from './schedule.ts';
import { type Sighting } from './sightings.ts';
import { FINISHED_ABOVE, finishedSince, type Sticking, type StuckPayment } from './stuck.ts';
import { type Witness } from './witness.ts';

/** How much longer than planned a node stays away until its partitions have other leaders. */
const MOVE_LIMIT_MS = 15_000;
const LOOK_EVERY_MS = 250;

export interface NemesisParts {
  readonly fleet: Fleet;
  readonly nodes: readonly KafkaNode[];
  readonly witness: Witness;
  readonly stuck: StuckPayment;
  /** Where a payment of this customer is. */
  readonly partitionOf: (key: string) => number;
  /** Which node leads each partition. */
  readonly leaders: () => Promise<ReadonlyMap<string, number>>;
  readonly say: (line: string) => void;
  /** `performance.now()` of the beginning of the traffic. */
  readonly startedMs: number;
  /** Ends the waits between faults. */
  readonly signal: AbortSignal;
}

/** What was really done, so that a campaign whose faults did not happen cannot pass. */
export interface Deeds {
  starts: number;
  /** Exit code 0. */
  cleanStops: number;
  /** Another exit code, or SIGKILL was needed. */
  unclean: number;
  kills: number;
  /** Kills that struck while requests were at the service. */
  killsInFlight: number;
  /** Kills while a payment stuck and thousands above it had finished. */
  stuckKills: number;
  freezes: number;
  nodeKills: number;
  /** Partitions that another node led while the killed one was away. */
  leaderMoves: number;
}

/** Does the steps of a plan at their times. Two processes may suffer at once, but never one process two faults, nor two nodes one. */
export class Nemesis {
  readonly deeds: Deeds = {
    starts: 0,
    cleanStops: 0,
    unclean: 0,
    kills: 0,
    killsInFlight: 0,
    stuckKills: 0,
    freezes: 0,
    nodeKills: 0,
    leaderMoves: 0,
  };
  readonly stickings: Sticking[] = [];
  readonly #parts: NemesisParts;
  readonly #busy = new Map<string, Promise<void>>();

  constructor(parts: NemesisParts) {
    this.#parts = parts;
  }

  /** Resolves when all steps are done and everything that they ended runs again. */
  async follow(steps: readonly Step[]): Promise<void> {
    const { startedMs, signal } = this.#parts;
    for (const { atMs, act } of steps) {
      await sleep(Math.max(0, startedMs + atMs - performance.now()), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) break;
      const target = 'connector' in act ? String(act.connector) : act.do;
      const before = this.#busy.get(target) ?? Promise.resolve();
      this.#busy.set(
        target,
        before.then(async () => {
          await this.#do(act);
        }),
      );
    }
    await Promise.all(this.#busy.values());
  }

  async #do(act: Act): Promise<void> {
    switch (act.do) {
      case 'start':
        return await this.#start(act.connector);
      case 'stop':
        return await this.#stop(act.connector);
      case 'restart':
        await this.#stop(act.connector);
        await sleep(act.downMs);
        return await this.#start(act.connector);
      case 'kill':
        await this.#kill(act.connector);
        await sleep(act.downMs);
        return await this.#start(act.connector);
      case 'freeze':
        return await this.#freeze(act.connector, act.forMs);
      case 'stick':
        return await this.#stick(act);
      case 'kill_node':
        return await this.#killNode(act.node, act.downMs);
    }
  }

  async #start(connector: number): Promise<void> {
    const { fleet } = this.#parts;
    if (fleet.ownerOf(connector) !== null) return;
    const beganMs = performance.now();
    await fleet.start(connector);
    this.deeds.starts += 1;
    this.#say(`start ${String(fleet.ownerOf(connector))}, has joined`, beganMs);
  }

  async #stop(connector: number): Promise<void> {
    const { fleet } = this.#parts;
    const owner = fleet.ownerOf(connector);
    if (owner === null) return;
    const beganMs = performance.now();
    const code = await fleet.stop(connector);
    this.deeds[code === 0 ? 'cleanStops' : 'unclean'] += 1;
    this.#say(`SIGTERM ${owner}, exit ${String(code)}`, beganMs);
  }

  async #kill(connector: number): Promise<void> {
    const { fleet, witness } = this.#parts;
    const owner = fleet.ownerOf(connector);
    if (owner === null) return;
    const open = witness.openOf(owner);
    await fleet.kill(connector);
    this.deeds.kills += 1;
    if (open > 0) this.deeds.killsInFlight += 1;
    this.#say(`kill -9 ${owner}, ${String(open)} in flight`);
  }

  async #stick({ forMs, phaseMs, downMs }: Extract<Act, { readonly do: 'stick' }>): Promise<void> {
    const { stuck, witness, partitionOf, signal } = this.#parts;
    const first = await Promise.race([stuck.next(), this.#after(forMs)]);
    if (first === undefined) return stuck.release();
    const untilMs = performance.now() + forMs;
    this.#say(`a payment of partition ${String(partitionOf(first.key ?? ''))} sticks`);
    let above = 0;
    while (above < FINISHED_ABOVE && performance.now() < untilMs && !signal.aborted) {
      await this.#after(LOOK_EVERY_MS);
      above = finishedSince(first, witness.sightings, partitionOf);
    }
    await this.#after(phaseMs);
    await this.#killOver(first, above, downMs);
    await this.#after(Math.max(0, untilMs - performance.now()));
    stuck.release();
    this.#say('the payment that stuck may go');
  }

  /** Kills whoever works on the partition of the payment that sticks. */
  async #killOver(stuck: Sighting, above: number, downMs: number): Promise<void> {
    const { witness, fleet, partitionOf } = this.#parts;
    const partition = partitionOf(stuck.key ?? '');
    const last = witness.sightings.findLast(({ key }) => key !== null && partitionOf(key) === partition);
    const connector = fleet.numberOf(last?.owner ?? stuck.owner);
    if (connector === null) return;
    this.#say(`${String(above)} have finished above it`);
    await this.#kill(connector);
    const end = fleet.ends.at(-1);
    if (end !== undefined) this.stickings.push({ transId: stuck.transId, end });
    if (above >= FINISHED_ABOVE) this.deeds.stuckKills += 1;
    await sleep(downMs);
    await this.#start(connector);
  }

  /** A wait that ends early when the campaign does. */
  async #after(forMs: number): Promise<undefined> {
    await sleep(forMs, undefined, { signal: this.#parts.signal }).catch(() => undefined);
  }

  async #freeze(connector: number, forMs: number): Promise<void> {
    const { fleet } = this.#parts;
    const owner = fleet.ownerOf(connector);
    if (owner === null) return;
    this.#say(`SIGSTOP ${owner}`);
    await fleet.freeze(connector, forMs);
    this.deeds.freezes += 1;
    this.#say(`SIGCONT ${owner} after ${(forMs / 1000).toFixed(1)} s`);
  }

  async #killNode(choice: number, downMs: number): Promise<void> {
    const before = await this.#known();
    const leading = [...new Set(before.values())].sort((a, b) => a - b);
    const id = leading[(choice - 1) % leading.length] ?? choice;
    const node = this.#parts.nodes.find((each) => each.id === id);
    if (node === undefined) return;
    await node.kill('SIGKILL');
    this.deeds.nodeKills += 1;
    this.#say(`kill -9 node ${String(id)}`);
    await sleep(downMs);
    const moved = await this.#moved(before);
    this.deeds.leaderMoves += moved;
    this.#say(`${String(moved)} partitions have another leader`);
    const beganMs = performance.now();
    await node.start();
    this.#say(`node ${String(id)} is back`, beganMs);
  }

  async #known(): Promise<ReadonlyMap<string, number>> {
    for (let tries = 1; ; tries += 1) {
      const leaders = await this.#parts.leaders();
      if (leaders.size > 0 || tries === 5) return leaders;
    }
  }

  /** How many partitions are led by another node; waits for the first, on a slow machine. */
  async #moved(before: ReadonlyMap<string, number>): Promise<number> {
    const latestMs = performance.now() + MOVE_LIMIT_MS;
    for (;;) {
      const moved = movedBetween(before, await this.#parts.leaders());
      if (moved > 0 || before.size === 0 || performance.now() > latestMs) return moved;
      await sleep(250);
    }
  }

  #say(what: string, sinceMs?: number): void {
    const { say, startedMs } = this.#parts;
    const nowMs = performance.now();
    const took = sinceMs === undefined ? '' : ` (${String(Math.round(nowMs - sinceMs))} ms)`;
    say(`${((nowMs - startedMs) / 1000).toFixed(1).padStart(7)} s  ${what}${took}`);
  }
}
