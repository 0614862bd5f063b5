import { Engine } from '../../src/engine/engine.ts';
import { type Flow, type Job, type PartitionStatus, type Step, type Tenure } from '../../src/engine/ports.ts';
import { DELIVERED } from '../../src/kernel/outcome.ts';
import { InMemoryBroker } from './in-memory-broker.ts';
import { type InMemorySource } from './in-memory-source.ts';
import { ManualClock, settled } from './manual-clock.ts';
import { ScriptedFlow, type Started } from './scripted-flow.ts';

/** One move of a schedule; `pick` chooses among what there is to choose from. */
export interface Move {
  readonly do:
    | 'append'
    | 'deliver'
    | 'end'
    | 'wait'
    | 'letter'
    | 'release'
    | 'time'
    | 'rebalance'
    | 'commitFails'
    | 'commitLost'
    | 'crash'
    | 'kill'
    | 'join'
    | 'leave'
    | 'noLetters'
    | 'letters';
  readonly pick: number;
}

const TOPIC = 'payments';
const GROUP = 'group';
const PARTITIONS = 3;
const KEYS = 6;
const MEMBERS = 3;
const SETTLE_ROUNDS = 400;
/** Appended to the text of a record that cannot be read: it is a dead letter. */
const UNREADABLE = '!';
const ROOM = 3;
const LIMITS = { partitionRecords: 4, partitionSpan: 3, flowRecords: 10, flowBytes: 1e9 };

interface Member {
  readonly engine: Engine;
  readonly source: InMemorySource;
  readonly flow: ScriptedFlow;
  readonly ended: Set<Started>;
  alive: boolean;
}

/**
 * A group of engines over one in-memory log and one clock, moved step by step, with an oracle that sees every start and
 * every end. A kill drops a member as it stands; what it had committed is all that is left of it.
 */
export class World {
  readonly clock: ManualClock = new ManualClock();
  readonly broker: InMemoryBroker = new InMemoryBroker();
  readonly #members: Member[] = [];
  readonly #appended = new Map<string, string[]>();
  /** By item: how often its step ended in delivery or a letter. */
  readonly done: Map<string, number> = new Map();
  readonly faults: string[] = [];
  /** Whether anything happened after which a record may be done twice. */
  unclean = false;
  #lettersWritable = true;
  /** Items that a step was begun for, anywhere; and where one was delivered last. */
  readonly #begun = new Set<string>();
  readonly #deliveredIn = new Map<string, { readonly member: Member; readonly tenure: Tenure }>();
  /** Records that came with one fetch at most. */
  #mostFetched = 0;

  constructor() {
    this.broker.createTopic(TOPIC, PARTITIONS);
  }

  async begin(): Promise<void> {
    await this.#join();
  }

  async move(move: Move): Promise<void> {
    const member = this.#pickMember(move.pick);
    if (member === undefined || !(await this.#shake(member, move))) await this.#carryOn(member, move);
    await settled();
    this.#inspect();
  }

  /** What befalls a member; false: the move is none of these. */
  async #shake(member: Member, { do: what }: Move): Promise<boolean> {
    switch (what) {
      case 'commitFails':
      case 'commitLost':
        member.source.failCommit(what === 'commitFails' ? 'before' : 'after');
        return true;
      case 'crash':
        this.unclean = true;
        member.source.crash();
        return true;
      case 'kill':
        this.#kill(member);
        return true;
      case 'leave':
        await this.#leave(member);
        return true;
      default:
        return false;
    }
  }

  async #carryOn(member: Member | undefined, { do: what, pick }: Move): Promise<void> {
    switch (what) {
      case 'append':
        for (let more = 0; more <= pick % 4; more += 1) this.#append(pick + more * 7);
        return;
      case 'deliver':
        this.#deliver(1 + (pick % 3));
        return;
      case 'time':
        this.clock.advance((pick % 8) * 100);
        return;
      case 'rebalance':
        await this.#rebalance(pick % 4 === 0);
        return;
      case 'join':
        await this.#join();
        return;
      case 'noLetters':
      case 'letters':
        this.#lettersWritable = what === 'letters';
        return;
      default:
        this.#end(member, what, pick);
    }
  }

  /** Ends every fault and lets everything run to its end. */
  async settle(): Promise<void> {
    this.#lettersWritable = true;
    if (this.#living().length === 0) await this.#join();
    await this.#rebalance();
    for (let round = 0; round < SETTLE_ROUNDS && !this.isDone(); round += 1) {
      this.#deliver(50);
      this.#finishAll();
      this.clock.advance(1000);
      await settled();
      this.#inspect();
    }
  }

  isDone(): boolean {
    return [...this.#appended.values()].flat().every((item) => (this.done.get(item) ?? 0) > 0);
  }

  get missing(): readonly string[] {
    return [...this.#appended.values()].flat().filter((item) => !this.done.has(item));
  }

  get doubled(): readonly string[] {
    return [...this.done].filter(([, times]) => times > 1).map(([item]) => item);
  }

  #append(pick: number): void {
    const key = `k${String(pick % KEYS)}`;
    const partition = (pick % KEYS) % PARTITIONS;
    const items = this.#appended.get(key) ?? [];
    const item = `${key}#${String(items.length)}${pick % 5 === 0 ? UNREADABLE : ''}`;
    this.#appended.set(key, [...items, item]);
    if (pick % 11 === 0) this.broker.skipOffsets(TOPIC, partition);
    this.broker.append(TOPIC, partition, { key, value: item });
  }

  #deliver(max: number): void {
    this.#mostFetched = Math.max(this.#mostFetched, max);
    this.broker.deliver(max);
  }

  #end(member: Member | undefined, what: Move['do'], pick: number): void {
    if (member === undefined) return;
    const open = openOf(member);
    const chosen = open[pick % Math.max(1, open.length)];
    if (chosen === undefined) return;
    const steps: Partial<Record<Move['do'], Step<unknown>>> = {
      end: DELIVERED,
      wait: { do: 'wait', forMs: 100 + (pick % 5) * 100, why: 'service_down' },
      letter: { do: 'dead_letter', letter: { reason: 'status_400', stage: 'score' } },
      release: { do: 'wait', forMs: 0, why: 'batch_open' },
    };
    const step = steps[what];
    if (step !== undefined) this.#finish(member, chosen, step);
  }

  #finish(member: Member, open: Started, step: Step<unknown>): void {
    member.ended.add(open);
    if (step.do === 'delivered') {
      this.#note(open.job);
      this.#deliveredIn.set(open.job.item, { member, tenure: open.job.tenure });
    }
    open.end(step);
  }

  #note({ item }: Job<string, unknown>): void {
    this.done.set(item, (this.done.get(item) ?? 0) + 1);
  }

  async #join(): Promise<void> {
    if (this.#living().length >= MEMBERS) return;
    const flow = new ScriptedFlow();
    flow.readings = ({ value }) =>
      String(value).endsWith(UNREADABLE)
        ? { do: 'dead_letter', letter: { reason: 'undecodable', stage: 'read' } }
        : null;
    const source = this.broker.source(GROUP, [TOPIC]);
    const member: Member = { engine: this.#engine(source, flow), source, flow, ended: new Set(), alive: true };
    flow.limit = ROOM;
    flow.onStart = (job) => {
      this.#started(member, job);
    };
    this.#members.push(member);
    await member.engine.start();
    await this.#rebalance();
  }

  #engine(source: InMemorySource, flow: ScriptedFlow): Engine {
    return new Engine({
      source,
      flows: new Map<string, Flow<unknown, unknown>>([[TOPIC, flow]]),
      deadLetters: {
        write: async (record) => {
          await Promise.resolve();
          if (!this.#lettersWritable) return 'dead_letter_topic';
          this.#note({ item: String(record.value) } as Job<string, unknown>);
          return 'written';
        },
      },
      schemas: { fetch: async () => await Promise.resolve({ do: 'ready' }) },
      clock: this.clock,
      draw: () => 0.5,
      emit: (name) => {
        if (name === 'barrier_incomplete') this.unclean = true;
      },
      commitIntervalMs: 250,
      clusterHash: 'AAAAAA',
      parked: new Set(),
      onGap: 'earliest',
      nonce: `member-${String(this.#members.length)}`,
      barrierMs: 2000,
      pressure: LIMITS,
    });
  }

  /** A record may start only when those before it of its key have ended at least once, and nobody else works on the key. */
  #started(member: Member, { item, record }: Job<string, unknown>): void {
    this.#begun.add(item);
    const key = String(record.key);
    const before = (this.#appended.get(key) ?? []).slice(0, Number(item.split('#')[1]));
    const early = before.find((earlier) => !this.done.has(earlier));
    if (early !== undefined) this.faults.push(`${item} started before ${early} had ended`);
    for (const other of this.#living()) {
      const busy = openOf(other).find((open) => String(open.job.record.key) === key);
      if (busy !== undefined && (other === member || !this.unclean))
        this.faults.push(`${item} started beside ${busy.job.item}`);
    }
  }

  #inspect(): void {
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      const committed = this.broker.committed(GROUP, TOPIC, partition)?.offset ?? 0n;
      const passed = this.broker
        .records(TOPIC, partition)
        .find(({ offset, value }) => offset < committed && !this.done.has(String(value)));
      if (passed !== undefined) this.faults.push(`the committed offset passed ${String(passed.value)}`);
    }
    for (const member of this.#living()) {
      this.#boundedIn(member);
      this.#goingOnIn(member);
    }
  }

  /** What is held of a partition, and how far it is read behind what has not ended, ends with the fetch that fills it. */
  #boundedIn({ engine }: Member): void {
    for (const { partition, buffered, next, committable } of engine.status().partitions) {
      if (buffered >= LIMITS.partitionRecords + this.#mostFetched)
        this.faults.push(`${String(buffered)} records of partition ${String(partition)} are held`);
      // Of the offsets that one fetch brings, one in two may hold no record.
      if (next - committable >= LIMITS.partitionSpan + 2 * this.#mostFetched)
        this.faults.push(`partition ${String(partition)} is read from ${String(committable)} to ${String(next)}`);
    }
  }

  /**
   * While there is room, nothing that was read waits for its first step but behind its own key: not for dead letters of
   * others that nobody takes, nor for anything else. Where commits fail, or steps of a lost partition run on, it may.
   */
  #goingOnIn(member: Member): void {
    const { engine, flow } = member;
    const { phase, partitions, flows } = engine.status();
    const isHeld =
      flows.some(({ unsaved }) => unsaved > 0) || openOf(member).some(({ job }) => job.tenure.phase === 'lost');
    if (phase !== 'running' || isHeld || flow.room() <= 0) return;
    for (const each of partitions)
      for (const item of this.#headsIn(member, each))
        if (!item.endsWith(UNREADABLE) && !this.#begun.has(item) && !this.done.has(item))
          this.faults.push(`${item} was read and not started, though there was room`);
  }

  /** The first record of each key that was read of a partition and was not delivered by this owner of it. */
  #headsIn(member: Member, { partition, next, committable }: PartitionStatus): readonly string[] {
    const heads = new Map<string, string>();
    for (const { offset, key, value } of this.broker.records(TOPIC, partition)) {
      const delivered = this.#deliveredIn.get(String(value));
      const isDelivered = delivered?.member === member && delivered.tenure.phase === 'owned';
      if (offset >= committable && offset < next && !isDelivered && !heads.has(String(key)))
        heads.set(String(key), String(value));
    }
    return [...heads.values()];
  }

  /** `hangs`: what runs does not end in time, so the barrier is given up. */
  async #rebalance(hangs = false): Promise<void> {
    const joined = this.broker.rebalance(GROUP);
    await settled();
    if (!hangs) this.#finishAll();
    for (let round = 0; round < 4; round += 1) {
      await settled();
      this.clock.advance(1000);
    }
    await joined;
    await settled();
  }

  #finishAll(): void {
    for (const member of this.#living()) for (const open of openOf(member)) this.#finish(member, open, DELIVERED);
  }

  #kill(member: Member): void {
    this.unclean = true;
    member.alive = false;
    member.source.vanish();
  }

  async #leave(member: Member): Promise<void> {
    const left = member.engine.stop(1000);
    await settled();
    // What runs ends: a clean stop doubles nothing.
    for (const open of openOf(member)) this.#finish(member, open, DELIVERED);
    await settled();
    this.clock.advance(1000);
    if ((await left) > 0) this.unclean = true;
    member.alive = false;
    if (this.#living().length > 0) await this.#rebalance();
  }

  #living(): Member[] {
    return this.#members.filter(({ alive }) => alive);
  }

  #pickMember(pick: number): Member | undefined {
    const living = this.#living();
    return living[pick % Math.max(1, living.length)];
  }
}

function openOf({ flow, ended }: Member): Started[] {
  return flow.started.filter((open) => !ended.has(open));
}
