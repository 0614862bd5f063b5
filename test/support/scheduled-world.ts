import fc from 'fast-check';
import { Engine } from '../../src/engine/engine.ts';
import { type Flow, type Job, type Schemas, type SourceRecord, type Step } from '../../src/engine/ports.ts';
import { duplicateBounds } from '../../src/telemetry/duplicate-bound.ts';
import { type EventFields } from '../../src/kernel/emit.ts';
import { DELIVERED, type HoldCause } from '../../src/kernel/outcome.ts';
import { InMemoryBroker } from './in-memory-broker.ts';
import { type InMemorySource } from './in-memory-source.ts';
import { ManualClock, settled } from './manual-clock.ts';
import { clockOf, isUnreadable, type Life, type Member, never, plannedOf, UNREADABLE } from './scheduled-member.ts';
import { ScriptedFlow, type Started } from './scripted-flow.ts';
import { type Item, Oracle, type Witnessed } from './world-oracle.ts';
import { expire, isExpiry, leaveBehind } from './world-log.ts';
import { type Ending, type Expiry, type Kill, type Plan } from './world-plan.ts';

const TOPIC = 'payments';
const GROUP = 'group';
const CLUSTER = 'AAAAAA';
const MEMBERS = 3;
const STEPS_WITH_TROUBLE = 3;
/** So that what waits for ever is outlived by what runs. */
const TIME_AT_ONCE_MS = 1000;
const TASKS_AT_MOST = 5000;

/**
 * A group of engines in which everything that is awaited goes on in the order that a scheduler of fast-check picks:
 * requests and answers of the service, of letters, schemas, commits and read-backs, fetches, appends, incidents, time.
 * The same order number gives the same schedule, so a world can be run again and ended at any task of it.
 */
export class ScheduledWorld {
  readonly oracle: Oracle = new Oracle(CLUSTER);
  /** What happened, in order: the names of the tasks. */
  readonly trace: string[] = [];
  /** A barrier or a stop could not wait for all that ran. */
  isUnclean = false;
  readonly #plan: Plan;
  readonly #kill: Kill | null;
  readonly #scheduler: fc.Scheduler;
  readonly #clock = new ManualClock();
  readonly #broker = new InMemoryBroker();
  readonly #members: Member[] = [];
  readonly #steps = new Map<Item, number>();
  readonly #woken = new Set<Item>();
  readonly #carries = new Map<Job<unknown, unknown>, unknown>();
  #actors = 0;
  #isTimeOffered = false;
  #isJoining = false;
  #wantsJoin = false;

  constructor(plan: Plan, order: number, kill: Kill | null = null) {
    this.#plan = plan;
    this.#kill = kill;
    [this.#scheduler] = fc.sample(fc.scheduler(), { seed: order, numRuns: 1 }) as [fc.Scheduler];
    this.#broker.createTopic(TOPIC, plan.partitions);
    if (plan.inherited !== 'nothing')
      leaveBehind(this.#broker, plan.inherited, { group: GROUP, topic: TOPIC, cluster: CLUSTER });
    this.#broker.onCommit = (commit) => {
      this.oracle.stored(commit);
    };
  }

  /** Runs until everything is done and committed. */
  async run(): Promise<this> {
    this.#join();
    this.#act(async () => {
      await this.#append();
    });
    this.#act(async () => {
      await this.#befall();
    });
    while (!this.#isDone() && this.oracle.faults.length === 0) {
      if (this.trace.length === this.#kill?.afterTasks) this.#die(this.#kill);
      if (this.trace.length > TASKS_AT_MOST) {
        this.oracle.faults.push('the world does not come to an end');
        break;
      }
      this.#offer();
      await this.#scheduler.waitOne();
      await settled();
    }
    return this;
  }

  /** Puts on offer what may happen next besides what is already under way. */
  #offer(): void {
    if (this.#living().length === 0) this.#join();
    for (const member of this.#living()) {
      if (member.isFetching || !member.source.isBehind) continue;
      member.isFetching = true;
      void this.#task('fetch').then(() => {
        member.isFetching = false;
        if (member.life.alive) member.source.fetch(1 + (this.trace.length % 3));
      });
    }
    if (!this.#isTimeOffered) {
      this.#isTimeOffered = true;
      void this.#task('time').then(() => {
        this.#isTimeOffered = false;
        this.#clock.advance(Math.min(this.#clock.nextInMs ?? 0, TIME_AT_ONCE_MS));
      });
    }
    if (!this.#isJoining && (this.#wantsJoin || this.#broker.isUnsettled(GROUP))) {
      this.#isJoining = true;
      this.#act(async () => {
        await this.#task('rebalance');
        this.#wantsJoin = false;
        await this.#broker.rebalance(GROUP);
        this.#isJoining = false;
      });
    }
  }

  async #append(): Promise<void> {
    for (const { key: number, afterHole } of this.#plan.records) {
      await this.#task('append');
      const key = `k${String(number)}`;
      const partition = number % this.#plan.partitions;
      const text = this.oracle.nextOf(key);
      if (afterHole) this.#broker.skipOffsets(TOPIC, partition);
      const offset = this.#broker.append(TOPIC, partition, { key, value: text, timestampMs: this.#clock.nowMs() });
      this.oracle.appended({ text, key, topic: TOPIC, partition, offset });
    }
  }

  async #befall(): Promise<void> {
    for (const [at, incident] of this.#plan.incidents.entries()) {
      await this.#task(incident);
      const staying = this.#living().filter(({ isLeaving }) => !isLeaving);
      const member = staying[at % Math.max(1, staying.length)];
      if (incident === 'join') this.#join();
      else if (incident === 'rebalance') this.#wantsJoin = true;
      else if (isExpiry(incident)) this.#expire(incident, at % this.#plan.partitions);
      else if (member !== undefined) this.#trouble(member, incident);
    }
  }

  #trouble(member: Member, incident: 'leave' | 'crash' | 'commit fails' | 'commit lost'): void {
    switch (incident) {
      case 'leave':
        this.#act(async () => {
          await this.#leave(member);
        });
        return;
      case 'crash':
        this.oracle.excuse(member.witnessed);
        member.source.crash();
        return;
      case 'commit fails':
      case 'commit lost':
        member.source.failCommit(incident === 'commit fails' ? 'before' : 'after');
    }
  }

  #expire(expiry: Expiry, partition: number): void {
    const owned = this.#living().flatMap(({ engine }) => engine.status().partitions);
    const next = owned.find((of) => of.partition === partition)?.next ?? 0n;
    expire(this.#broker, GROUP, { topic: TOPIC, partition, next }, expiry);
  }

  #join(): void {
    if (this.#living().length >= MEMBERS) return;
    const life: Life = { alive: true, lateIn: null, end: Promise.withResolvers() };
    const witnessed = this.oracle.witness();
    const flow = new ScriptedFlow();
    const source = this.#broker.source(GROUP, [TOPIC], async (at) => {
      if (at === 'commit sent' || at === 'left') await this.#request(life, at);
      else await this.#answer(life, at);
      // Before it owns anything anew: what it has not committed now may be another's already.
      if (at === 'read back') this.oracle.excuse(witnessed);
    });
    const commit = source.commit.bind(source);
    source.commit = async (commits) => {
      const stored = this.oracle.commits(witnessed, commits);
      await commit(commits);
      stored();
    };
    const member: Member = {
      engine: this.#engine(source, flow, witnessed, life),
      source,
      flow,
      witnessed,
      life,
      giveBack: new Set(),
      isFetching: false,
      isLeaving: false,
    };
    this.#script(member);
    this.#members.push(member);
    void member.engine.start();
  }

  #engine(source: InMemorySource, flow: ScriptedFlow, witnessed: Witnessed, life: Life): Engine {
    const { buffer, patienceMs } = this.#plan;
    return new Engine({
      source,
      flows: new Map<string, Flow<unknown, unknown>>([[TOPIC, flow]]),
      deadLetters: { write: async (record) => await this.#writeLetter(record, flow, witnessed, life) },
      schemas: this.#schemas(flow, life),
      clock: clockOf(this.#clock, life),
      draw: () => 0.5,
      emit: (name, fields) => {
        if (name === 'offset_gap') this.oracle.reported(fields as EventFields['offset_gap']);
        if (name !== 'barrier_incomplete') return;
        this.isUnclean = true;
        this.oracle.excuse(witnessed);
      },
      commitIntervalMs: 250,
      clusterHash: CLUSTER,
      nonce: `member-${String(this.#members.length)}`,
      parked: new Set(),
      onGap: 'earliest',
      barrierMs: patienceMs,
      pressure: { partitionRecords: buffer, partitionSpan: buffer + 1, flowRecords: buffer * 2, flowBytes: 1e9 },
    });
  }

  #script(member: Member): void {
    const { flow, life } = member;
    flow.limit = this.#plan.room;
    flow.blocks = (job) => this.#block(flow, life, job);
    flow.onBarrier = (before) => {
      if (before === 'join') for (const giveBack of member.giveBack) giveBack();
    };
    flow.onOpen = (open) => {
      this.oracle.started(member.witnessed, this.oracle.of(open.job.record));
      if (flow.running > flow.limit) this.oracle.faults.push('more steps at once than there is room for');
      if (open.job.carry !== this.#carries.get(open.job)) this.oracle.faults.push('a wait lost what it carried');
      void this.#serve(member, open);
    };
  }

  /** One step of a record at the service. */
  async #serve(member: Member, open: Started): Promise<void> {
    const { life, witnessed } = member;
    const item = this.oracle.of(open.job.record);
    const ending = this.#endingOf(item);
    if (ending === 'batched') {
      const given = Promise.withResolvers<'back'>();
      const giveBack = (): void => {
        given.resolve('back');
      };
      member.giveBack.add(giveBack);
      const end = await Promise.race([this.#answer(life, 'batch'), given.promise]);
      member.giveBack.delete(giveBack);
      if (end === 'back') {
        this.oracle.ended(witnessed, item, null);
        open.end({ do: 'release' });
        return;
      }
    }
    await this.#request(life, 'request');
    const isDelivered = ending === 'deliver' || ending === 'batched';
    if (isDelivered) this.oracle.did(item);
    await this.#answer(life, 'answer');
    this.oracle.ended(witnessed, item, isDelivered ? open.job.tenure : null);
    if (ending === 'throw') open.fail(new Error('thrown'));
    else open.end(this.#stepOf(ending, open.job));
  }

  #stepOf(ending: Exclude<Ending, 'throw'>, job: Job<unknown, unknown>): Step<unknown> {
    switch (ending) {
      case 'deliver':
      case 'batched':
        return DELIVERED;
      case 'release':
        return { do: 'release' };
      case 'wait': {
        const carry = { attempt: job.attempt };
        this.#carries.set(job, carry);
        return { do: 'wait', forMs: job.attempt * 150, why: 'service_down', carry };
      }
      case 'letter':
      case 'letter refused':
        return { do: 'dead_letter', letter: { reason: 'status_400', stage: 'score' } };
    }
  }

  async #writeLetter(
    record: SourceRecord,
    flow: ScriptedFlow,
    witnessed: Witnessed,
    life: Life,
  ): Promise<'written' | HoldCause> {
    const tenure = flow.started.findLast(({ job }) => job.record === record)?.job.tenure ?? null;
    const item = this.oracle.of(record);
    const isRefused = this.#endingOf(item) === 'letter refused';
    this.oracle.started(witnessed, item);
    await this.#request(life, 'letter');
    if (!isRefused) this.oracle.did(item, tenure === null);
    await this.#answer(life, 'letter acknowledged');
    this.oracle.ended(witnessed, item, isRefused ? null : tenure);
    return isRefused ? 'dead_letter_topic' : 'written';
  }

  /** How the next step of a record goes; each call is one step. */
  #endingOf(item: Item): Ending {
    const step = this.#steps.get(item) ?? 0;
    this.#steps.set(item, step + 1);
    const { endings } = this.#plan;
    if (step >= STEPS_WITH_TROUBLE) return 'deliver';
    return endings[(Number(item.offset) + item.partition + step) % endings.length] ?? 'deliver';
  }

  #block(flow: ScriptedFlow, life: Life, { record }: Job<unknown, unknown>): HoldCause | null {
    const item = this.oracle.of(record);
    if (this.#woken.has(item) || !plannedOf(this.#plan, record)?.blocked) return null;
    void this.#answer(life, 'wake').then(() => {
      this.#woken.add(item);
      flow.signals?.wake(item.key);
    });
    return 'not_scored_yet';
  }

  /** Every record that needs a schema needs one of its own; the first time it is not there yet. */
  #schemas(flow: ScriptedFlow, life: Life): Schemas {
    const asked = new Map<number, number>();
    flow.readings = (record) => {
      if (isUnreadable(this.#plan, record)) return UNREADABLE;
      const schema = record.partition * 1000 + Number(record.offset);
      if (plannedOf(this.#plan, record)?.needsSchema && (asked.get(schema) ?? 0) <= 1) return { do: 'needs', schema };
      this.oracle.read(record);
      return null;
    };
    return {
      fetch: async (id) => {
        await this.#answer(life, 'schema');
        asked.set(id, (asked.get(id) ?? 0) + 1);
        return asked.get(id) === 1 ? { do: 'wait', forMs: 300, why: 'registry' } : { do: 'ready' };
      },
    };
  }

  async #leave(member: Member): Promise<void> {
    member.isLeaving = true;
    const unfinished = await Promise.race([member.engine.stop(this.#plan.patienceMs), member.life.end.promise]);
    if (!member.life.alive) return;
    if (unfinished !== 0) this.isUnclean = true;
    this.oracle.excuse(member.witnessed);
    this.oracle.forget(member.witnessed);
    member.life.alive = false;
    member.source.vanish();
  }

  #die({ pick, late }: Kill): void {
    const living = this.#living();
    const member = living[pick % Math.max(1, living.length)];
    if (member === undefined) return;
    const [bound] = duplicateBounds(member.engine.status(), this.#clock.monotonicMs());
    this.oracle.bounded(member.witnessed, bound?.records ?? 0);
    member.life.alive = false;
    member.life.lateIn = late ? this.#broker.generation(GROUP) : null;
    this.oracle.excuse(member.witnessed);
    this.oracle.forget(member.witnessed);
    member.life.end.resolve();
    member.source.vanish();
    this.#act(async () => {
      await this.#task('restart');
      this.#join();
    });
  }

  /** Something that is asked of the world: it takes effect when this resolves, if its process lives, or it was sent in time. */
  async #request(life: Life, name: string): Promise<void> {
    await this.#task(name);
    if (life.alive || life.lateIn === this.#broker.generation(GROUP)) return;
    await never();
  }

  /** Something that a process hears of, if it lives. */
  async #answer(life: Life, name: string): Promise<void> {
    await this.#task(name);
    if (!life.alive) await never();
  }

  async #task(name: string): Promise<void> {
    await this.#scheduler.schedule(Promise.resolve(), name);
    this.trace.push(name);
  }

  /** Something with several tasks, before whose end the world does not end. */
  #act(work: () => Promise<void>): void {
    this.#actors += 1;
    void work().then(() => {
      this.#actors -= 1;
    });
  }

  #isDone(): boolean {
    if (this.#actors > 0 || this.oracle.missing.length > 0) return false;
    for (let partition = 0; partition < this.#plan.partitions; partition += 1) {
      const { high } = this.#broker.watermarks(TOPIC, partition);
      if (high > 0n && this.#broker.committed(GROUP, TOPIC, partition)?.offset !== high) return false;
    }
    return true;
  }

  #living(): Member[] {
    return this.#members.filter(({ life }) => life.alive);
  }
}
