import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type KafkaNode } from '../../src/sandbox/broker/node.ts';
import { type Act, nameOfAct, targetOf } from './acts.ts';
import { Chronicle } from './chronicle.ts';
import { type ClusterView } from './cluster-view.ts';
import { type Deeds, deedsOf, Tally } from './deeds.ts';
import { type Eraser } from './eraser.ts';
import { type Fleet } from './fleet.ts';
import { movedBetween } from './leaders.ts';
import { mirrorMaps } from './mirror.ts';
import { type Step } from './schedule.ts';
import { type Field, spared } from './sparing.ts';
import { stick } from './stick.ts';
import { type Sticking, type StuckPayment } from './stuck.ts';
import { Troubles, type TroublesParts } from './troubles.ts';
import { type Witness } from './witness.ts';

/** How much longer than planned a node stays away until its partitions have other leaders. */
const MOVE_LIMIT_MS = 15_000;
/** How long a fault waits for a connector that is being started. */
const WORK_LIMIT_MS = 30_000;

export interface NemesisParts extends Omit<TroublesParts, 'tally'> {
  readonly fleet: Fleet;
  readonly nodes: readonly KafkaNode[];
  readonly witness: Witness;
  readonly stuck: StuckPayment;
  /** Where a payment of this customer is. */
  readonly partitionOf: (key: string) => number;
  readonly view: ClusterView;
  readonly eraser: Eraser;
  readonly say: (line: string) => void;
  /** `performance.now()` of the beginning of the traffic. */
  readonly startedMs: number;
  /** Ends the waits between faults. */
  readonly signal: AbortSignal;
}

/** Does the steps of a plan at their times. Several may suffer at once, but none of them two faults of one kind. */
export class Nemesis {
  readonly chronicle = new Chronicle();
  readonly stickings: Sticking[] = [];
  readonly #parts: NemesisParts;
  readonly #tally = new Tally();
  readonly #troubles: Troubles;
  readonly #busy = new Map<string, Promise<void>>();
  /** Partitions that a topic has got since. */
  grownBy = 0;

  constructor(parts: NemesisParts) {
    this.#parts = parts;
    this.#troubles = new Troubles({ ...parts, tally: this.#tally });
  }

  get #field(): Field {
    const { fleet, connectors } = this.#parts;
    return {
      connectors,
      isBusy: (target) => this.#busy.has(target),
      isAtWork: (connector) => fleet.isAtWork(connector),
    };
  }

  get deeds(): Deeds {
    return this.#tally.deeds;
  }

  /** Resolves when all steps are done and everything that they ended runs again. */
  async follow(steps: readonly Step[]): Promise<void> {
    const { startedMs, signal } = this.#parts;
    for (const { atMs, act: planned, unlessBusy = false } of steps) {
      await sleep(Math.max(0, startedMs + atMs - performance.now()), undefined, { signal }).catch(() => undefined);
      if (signal.aborted) break;
      const act = unlessBusy ? spared(planned, this.#field) : planned;
      if (act === null) continue;
      void this.#inTurn(targetOf(act), async () => {
        await this.#noted(act);
      });
    }
    while (this.#busy.size > 0) await Promise.all(this.#busy.values());
  }

  /** Does something to a target when what is being done to it has ended. */
  async #inTurn(target: string, work: () => Promise<void>): Promise<void> {
    const before = this.#busy.get(target) ?? Promise.resolve();
    const mine = before.then(work).finally(() => {
      if (this.#busy.get(target) === mine) this.#busy.delete(target);
    });
    this.#busy.set(target, mine);
    await mine;
  }

  async #noted(act: Act): Promise<void> {
    if (this.#parts.signal.aborted) return;
    // A wire that nobody uses can be cut without anybody noticing.
    if (act.do === 'wire') await this.#atWork(act.connector);
    const end = this.chronicle.begin(targetOf(act), nameOfAct(act));
    await this.#do(act);
    end();
  }

  async #atWork(connector: number): Promise<void> {
    const { fleet, signal } = this.#parts;
    const latestMs = performance.now() + WORK_LIMIT_MS;
    while (!fleet.isAtWork(connector) && performance.now() < latestMs && !signal.aborted) await sleep(100);
  }

  async #do(act: Act): Promise<void> {
    switch (act.do) {
      case 'start':
        return await this.#start(act.connector);
      case 'stop':
        return await this.#stop(act.connector);
      case 'restart':
        return await this.#restart(act.connector, act.downMs);
      case 'kill':
        await this.#kill(act.connector);
        await sleep(act.downMs);
        return await this.#start(act.connector);
      case 'freeze':
        return await this.#freeze(act.connector, act.forMs);
      case 'kill_node':
        return await this.#killNode(await this.#parts.view.leader(act.node), act);
      case 'kill_coordinator':
        return await this.#killNode(await this.#parts.view.coordinator(), act);
      case 'roll':
        return await this.#roll();
      case 'cramp':
        return await this.#cramp(act);
      case 'jump':
        await this.#parts.fleet.jump(act.connector, act.byMs, act.forMs);
        return this.#happened(act, nameOfAct(act));
      default:
        return await this.#trouble(act);
    }
  }

  async #trouble(act: Act): Promise<void> {
    const beganMs = performance.now();
    switch (act.do) {
      case 'wire':
        return this.#say(
          `connector ${String(act.connector)}, ${nameOfAct(act)}: ${await this.#troubles.wire(act)}`,
          beganMs,
        );
      case 'registry_away':
        await this.#inTurn(`connector ${String(act.connector)}`, async () => {
          await this.#stop(act.connector);
          await this.#troubles.registryAway(act, async () => {
            await this.#start(act.connector);
          });
        });
        return this.#say('the registry was away', beganMs);
      case 'ill':
        return this.#say(`the service, ${act.ill}: ${String(await this.#troubles.ill(act))} requests`, beganMs);
      case 'flood':
        await this.#troubles.flood(act);
        return this.#say('a flood of webhooks', beganMs);
      case 'stick':
        return await this.#stick(act);
      case 'replay':
        return await this.#replay();
      case 'grow':
        this.grownBy += act.by;
        return this.#happened(act, `topics of ${String(await this.#parts.view.grow(act.by))} partitions`);
      case 'erase':
        return await this.#whileNobodyReads(async () => {
          const erased = await this.#parts.eraser.erase(act.partition);
          this.#tally.add('erasedRecords', erased);
          this.#happened(act, `${String(erased)} records deleted before they were read`, ['erasures']);
        });
      case 'mirror':
        return await this.#whileNobodyReads(async () => {
          const claimed = await mirrorMaps(this.#parts.view.parts);
          this.#tally.add('mirroredMaps', claimed > 0 ? 1 : 0);
          this.#say(`maps of another cluster that claim ${String(claimed)} records`);
        });
      default:
        return undefined;
    }
  }

  async #start(connector: number): Promise<void> {
    const { fleet } = this.#parts;
    if (fleet.ownerOf(connector) !== null) return;
    const beganMs = performance.now();
    await fleet.start(connector);
    this.#tally.add('starts');
    this.#say(`start ${String(fleet.ownerOf(connector))}, has joined`, beganMs);
  }

  async #stop(connector: number): Promise<void> {
    const { fleet } = this.#parts;
    const owner = fleet.ownerOf(connector);
    if (owner === null) return;
    const beganMs = performance.now();
    const code = await fleet.stop(connector);
    this.#tally.add(code === 0 ? 'cleanStops' : 'uncleanStops');
    this.#say(`SIGTERM ${owner}, exit ${String(code)}`, beganMs);
  }

  async #restart(connector: number, downMs: number): Promise<void> {
    await this.#stop(connector);
    await sleep(downMs);
    await this.#start(connector);
  }

  async #roll(): Promise<void> {
    for (const connector of this.#parts.fleet.running) {
      await this.#inTurn(`connector ${String(connector)}`, async () => {
        await this.#restart(connector, 0);
      });
    }
  }

  async #kill(connector: number): Promise<void> {
    const { fleet, witness } = this.#parts;
    const owner = fleet.ownerOf(connector);
    if (owner === null) return;
    const open = witness.openOf(owner);
    await fleet.kill(connector);
    this.#tally.add('kills');
    if (open > 0) this.#tally.add('killsInFlight');
    this.#say(`kill -9 ${owner}, ${String(open)} in flight`);
  }

  async #stick(act: Extract<Act, { readonly do: 'stick' }>): Promise<void> {
    const sticking = await stick(
      {
        ...this.#parts,
        tally: this.#tally,
        say: (what) => {
          this.#say(what);
        },
        kill: async (connector) => {
          await this.#kill(connector);
        },
        start: async (connector) => {
          await this.#start(connector);
        },
      },
      act,
    );
    if (sticking !== null) this.stickings.push(sticking);
  }

  async #freeze(connector: number, forMs: number): Promise<void> {
    const { fleet } = this.#parts;
    const owner = fleet.ownerOf(connector);
    if (owner === null) return;
    this.#say(`SIGSTOP ${owner}`);
    await fleet.freeze(connector, forMs);
    this.#tally.add('freezes');
    this.#say(`SIGCONT ${owner} after ${(forMs / 1000).toFixed(1)} s`);
  }

  async #cramp(act: Extract<Act, { readonly do: 'cramp' }>): Promise<void> {
    const { fleet } = this.#parts;
    await this.#stop(act.connector);
    await fleet.start(act.connector, act.with);
    this.#tally.add('starts');
    this.#happened(act, `start ${String(fleet.ownerOf(act.connector))} with ${act.with}`);
    await sleep(act.forMs);
    await this.#restart(act.connector, 0);
  }

  async #killNode(id: number, act: Extract<Act, { readonly downMs: number }>): Promise<void> {
    const { nodes, view } = this.#parts;
    const before = await view.leaders();
    const node = nodes.find((each) => each.id === id);
    if (node === undefined) return;
    await node.kill('SIGKILL');
    this.#tally.add(act.do === 'kill_coordinator' ? 'coordinatorKills' : 'nodeKills');
    this.#say(`kill -9 node ${String(id)}`);
    await sleep(act.downMs);
    const moved = await this.#moved(before);
    this.#tally.add('leaderMoves', moved);
    this.#say(`${String(moved)} partitions have another leader`);
    const beganMs = performance.now();
    await node.start();
    this.#say(`node ${String(id)} is back`, beganMs);
  }

  /** How many partitions are led by another node; waits for the first, on a slow machine. */
  async #moved(before: ReadonlyMap<string, number>): Promise<number> {
    const latestMs = performance.now() + MOVE_LIMIT_MS;
    for (;;) {
      const moved = movedBetween(before, await this.#parts.view.leaders());
      if (moved > 0 || before.size === 0 || performance.now() > latestMs) return moved;
      await sleep(250);
    }
  }

  async #replay(): Promise<void> {
    const { fleet, witness } = this.#parts;
    const beganMs = performance.now();
    const { owner, code } = await fleet.replay();
    const updates = witness.sightings.filter((each) => each.owner === owner).length;
    this.#tally.add(code === 0 ? 'replays' : 'failedReplays');
    this.#tally.add('replayedUpdates', updates);
    this.#say(`replay ${owner}: ${String(updates)} updates, exit ${String(code)}`, beganMs);
  }

  /** Everybody stops, what is written meanwhile is not read, everybody starts. */
  async #whileNobodyReads(work: () => Promise<void>): Promise<void> {
    const { fleet } = this.#parts;
    const { running } = fleet;
    await Promise.all(
      running.map(async (connector) => {
        await this.#stop(connector);
      }),
    );
    await work();
    for (const connector of running) await this.#start(connector);
  }

  #happened(act: Act, what: string, deeds: readonly string[] = deedsOf(act)): void {
    for (const deed of deeds) this.#tally.add(deed);
    this.#say(what);
  }

  #say(what: string, sinceMs?: number): void {
    const { say, startedMs } = this.#parts;
    const nowMs = performance.now();
    const took = sinceMs === undefined ? '' : ` (${String(Math.round(nowMs - sinceMs))} ms)`;
    say(`${((nowMs - startedMs) / 1000).toFixed(1).padStart(7)} s  ${what}${took}`);
  }
}
