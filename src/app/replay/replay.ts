import { type DeadLetters, type Flow, type SourceRecord } from '../../engine/ports.ts';
import { Fault, isFault, nameOf } from '../../kernel/fault.ts';
import { type Letter, type SkipRule } from '../../kernel/outcome.ts';
import { type Spans } from '../../replay/bounded-source.ts';
import { Newest } from '../../replay/newest.ts';
import { indexGroupOf } from '../../replay/names.ts';
import { encodePlan, type PartitionPlan } from '../../replay/plan.ts';
import { type Progress } from '../../replay/progress.ts';
import { ReadingFlow } from '../../replay/reading-flow.ts';
import { ReplayedFlow } from '../../replay/replayed-flow.ts';
import { outcomesOf, type ReplayReport } from '../../replay/report.ts';
import { type TokenBucket } from '../../resilience/token-bucket.ts';
import { type Prepared, type PrepareParts, type ReplayRequest } from './prepare.ts';
import { type Pass, type PassEnd, type PassParts, runPass } from './run-pass.ts';

/** Rounds of repair, each shorter than the one before; only updates that come without end need more. */
const MOST_ROUNDS = 20;

export interface ReplayParts extends PassParts, PrepareParts {
  /** Whose traffic goes on meanwhile. Only read. */
  readonly liveGroupId: string;
  /** The sync flow, anew, and where its letters go. */
  readonly newSync: () => { readonly flow: Flow<unknown, unknown>; readonly deadLetters: DeadLetters };
  /** What a dry run tells of an update; a letter where it could not be sent. */
  readonly describe: (item: unknown) => { readonly day: string; readonly status: string } | Letter;
  /** Updates per second; null: no limit. */
  readonly bucket: TokenBucket | null;
  readonly tell: (progress: Progress) => void;
  /** Told every trans_id that a dry run would send; null: nobody asked. */
  readonly onId: ((transId: string) => void) | null;
  readonly mostIds?: number;
}

const NO_LETTERS: DeadLetters = { write: async () => await Promise.resolve('written') };

/**
 * Sends the newest update of each transaction in a range once more. In this order:
 * 1. An index is built: the range, and on to the end of the topic as it is. A transaction with a newer update beyond the
 *    range is left to the live group.
 * 2. The range is sent, in the group of the replay, which holds the plan before the first update leaves.
 * 3. What came while it was sent is looked through: whoever was sent to, and has a newer update now, may have had that
 *    one delivered by the live group before ours, so the newest is sent again. The end of the topic is read after the
 *    last answer, so everything the live group can have sent by then is in it. Repeated for those sent to in the repair
 *    itself, until none is newer.
 */
export class Replay {
  readonly #parts: ReplayParts;
  readonly #request: ReplayRequest;
  readonly #prepared: Prepared;
  readonly #newest: Newest;
  readonly #startedMs: number;
  readonly #outcomes = new Map<string, number>();
  readonly #wouldSend = new Map<string, number>();
  #read = 0;
  #gone = 0;
  #repaired = 0;
  #unsettled = 0;
  #isStopped = false;

  constructor(parts: ReplayParts, request: ReplayRequest, prepared: Prepared) {
    this.#parts = parts;
    this.#request = request;
    this.#prepared = prepared;
    this.#newest = new Newest(parts.mostIds);
    this.#startedMs = parts.clock.monotonicMs();
  }

  /** Carries it out, or as much as there is time for before a stop. Throws `USAGE` before anything was sent. */
  async run(): Promise<ReplayReport> {
    const { dryRun } = this.#request;
    if (sizeOf(this.#spans()) === 0) return await this.#report('empty');
    const seen = await this.#index();
    if (!this.#isStopped) {
      this.#checkMoved();
      if (dryRun) await this.#count();
      else await this.#sendAndRepair(seen);
    }
    if (this.#isStopped) return await this.#report('stopped');
    return await this.#report(dryRun ? 'dry_run' : 'done');
  }

  /** The range and what came after it, up to now; answers up to where. What an earlier start may have sent is touched. */
  async #index(): Promise<ReadonlyMap<number, bigint>> {
    const toSeen = this.#spansOf(({ from, seen }) => ({ from, end: seen }));
    await this.#scan(toSeen);
    if (this.#prepared.committed.size === 0) return endsOf(toSeen);
    this.#newest.touchAll();
    const ends = await this.#ends();
    await this.#scan(spansBetween(endsOf(toSeen), ends));
    return ends;
  }

  #checkMoved(): void {
    const { force, parameters } = this.#request;
    const { moved } = this.#newest;
    if (moved === 0 || force) return;
    throw new Fault(
      'USAGE',
      `${String(moved)} transactions have updates in more than one partition of ${parameters.topic}: its number of partitions was changed within the range, or its records are not keyed. Nothing was sent. --force goes on; the later timestamp counts as newer then.`,
    );
  }

  async #count(): Promise<void> {
    const { describe, newSync, onId } = this.#parts;
    const count = (letter: Letter): void => {
      this.#add(`dead_letter:${letter.reason}`, 1);
    };
    const flow = new ReadingFlow<unknown>({
      flow: newSync().flow,
      onUpdate: (transId, record, item) => {
        const rule = this.#refuses(transId, record);
        if (rule !== null) return rule;
        const told = describe(item);
        if ('reason' in told) {
          count(told);
          return 'out_of_range';
        }
        onId?.(transId);
        const row = `${told.day} ${told.status}`;
        this.#wouldSend.set(row, (this.#wouldSend.get(row) ?? 0) + 1);
        return null;
      },
      ...(this.#request.parameters.transIds.length > 0 ? {} : { onLetter: count }),
    });
    const letters = { ...this.#throwaway(this.#spans()), flow, deadLetters: NO_LETTERS };
    const end = await this.#pass('count', letters);
    this.#read += end.read;
    this.#gone += end.gone;
    for (const [name, records] of Object.entries(end.outcomes)) this.#add(name, records);
    // What would be a letter ended as a skip here.
    const passedOver = outcomesOf(Object.fromEntries(this.#outcomes), 'dead_letter');
    this.#add('skip:out_of_range', -Object.values(passedOver).reduce((sum, each) => sum + each, 0));
  }

  async #sendAndRepair(seen: ReadonlyMap<number, bigint>): Promise<void> {
    const { parameters } = this.#request;
    const { partitions, committed } = this.#prepared;
    const isOver = [...partitions].every(([partition, { end }]) => (committed.get(partition) ?? -1n) >= end);
    if (!isOver) await this.#send();
    // Histories reach back behind what is newer beyond the range; the newest alone does not.
    const from = this.#spansOf((plan) => ({ from: parameters.everyUpdate ? plan.end : plan.seen, end: plan.seen }));
    if (!this.#isStopped) await this.#repair(startsOf(from), seen);
    if (!this.#isStopped && this.#unsettled === 0) await this.#finish();
  }

  async #send(): Promise<void> {
    const { newSync, groupId } = this.#parts;
    const { flow, deadLetters } = newSync();
    const { hash, partitions, committed } = this.#prepared;
    const replayed = new ReplayedFlow({
      ...this.#flowOptions(flow),
      refuses: (transId, record) => this.#refuses(transId, record),
    });
    const end = await this.#pass(
      'send',
      {
        groupId,
        topic: this.#request.parameters.topic,
        spans: this.#spans(),
        flow: replayed,
        deadLetters,
        planOf: (partition) => encodePlan(hash, partitions.get(partition) ?? NOTHING),
        onPlanned: () => {
          replayed.open();
        },
      },
      [...partitions].reduce((sum, [of, { from }]) => sum + Number((committed.get(of) ?? from) - from), 0),
    );
    this.#read += end.read;
    this.#gone += end.gone;
    for (const [name, records] of Object.entries(end.outcomes)) this.#add(name, records);
  }

  async #repair(start: ReadonlyMap<number, bigint>, seen: ReadonlyMap<number, bigint>): Promise<void> {
    let from = start;
    let scanned = seen;
    for (let round = 1; ; round += 1) {
      const ends = await this.#ends();
      await this.#scan(spansBetween(scanned, ends));
      if (this.#isStopped) return;
      scanned = ends;
      const isNewer = isAtOrAfter(from);
      const left = this.#newest.settle(isNewer);
      if (left === 0) return;
      if (round > MOST_ROUNDS) {
        this.#unsettled = left;
        return;
      }
      await this.#sendTouched(spansBetween(from, ends));
      if (this.#isStopped) return;
      from = ends;
    }
  }

  async #sendTouched(spans: Spans): Promise<void> {
    const { flow, deadLetters } = this.#parts.newSync();
    const newest = this.#newest;
    const replayed = new ReplayedFlow({
      ...this.#flowOptions(flow),
      // What cannot be read is the live group's to put away.
      unread: 'out_of_range',
      refuses: (transId, record) =>
        newest.isTouched(transId) && newest.isNewest(transId, record) ? null : 'newer_exists',
    });
    replayed.open();
    const end = await this.#pass('repair', { ...this.#throwaway(spans), flow: replayed, deadLetters });
    this.#repaired += end.outcomes['delivered'] ?? 0;
    for (const [reason, records] of Object.entries(outcomesOf(end.outcomes, 'dead_letter')))
      this.#add(`dead_letter:${reason}`, records);
  }

  /** Forgets the plan, and so remembers that the replay has come to its end: what is committed without one says so. */
  async #finish(): Promise<void> {
    const { admin, groupId, note } = this.#parts;
    const ends = endsOf(this.#spans());
    try {
      await admin.commitFor(groupId, this.#request.parameters.topic, ends);
    } catch (error) {
      note(`The end of the replay could not be noted in its group (${nameOf(error)}); all was sent.`);
    }
  }

  async #scan(spans: Spans): Promise<void> {
    if (this.#isStopped || sizeOf(spans) === 0) return;
    let failure: Fault | null = null;
    const throwFailure = (): void => {
      if (failure !== null) throw failure;
    };
    const flow = new ReadingFlow<unknown>({
      flow: this.#parts.newSync().flow,
      onUpdate: (transId, record) => {
        try {
          if (failure === null && this.#isWanted(transId)) this.#newest.add(transId, record);
        } catch (error) {
          failure = isFault(error) ? error : new Fault('INTERNAL', `Unexpected: ${nameOf(error)}.`, { cause: error });
        }
        return 'out_of_range';
      },
    });
    await this.#pass('index', { ...this.#throwaway(spans), flow, deadLetters: NO_LETTERS }, 0, throwFailure);
    throwFailure();
  }

  /** A pass of a group that keeps nothing, and so is gone when its member has left. */
  #throwaway(spans: Spans): Pick<Pass, 'groupId' | 'topic' | 'spans' | 'planOf'> {
    const groupId = indexGroupOf(this.#parts.groupId);
    return { groupId, topic: this.#request.parameters.topic, spans, planOf: null };
  }

  async #pass(phase: Progress['phase'], pass: Pass, before = 0, check: () => void = () => undefined): Promise<PassEnd> {
    const { clock, tell } = this.#parts;
    const startedMs = clock.monotonicMs();
    const end = await runPass(this.#parts, {
      ...pass,
      onLook: ({ done, total, flow }) => {
        check();
        const waitsFor = flow?.waits.find(({ cause }) => cause !== 'batch_open')?.cause ?? null;
        tell({ phase, done, total, before, elapsedMs: clock.monotonicMs() - startedMs, waitsFor });
      },
    });
    if (end.do === 'stopped') this.#isStopped = true;
    return end;
  }

  #flowOptions(flow: Flow<unknown, unknown>): Omit<ConstructorParameters<typeof ReplayedFlow>[0], 'refuses'> {
    const { bucket, clock } = this.#parts;
    return {
      flow,
      // Whoever names ids does not ask for records that have none.
      unread: this.#request.parameters.transIds.length > 0 ? 'out_of_range' : 'letter',
      onSend: (transId) => {
        this.#newest.touch(transId);
      },
      bucket,
      clock,
    };
  }

  #refuses(transId: string, record: SourceRecord): SkipRule | null {
    if (!this.#isWanted(transId)) return 'out_of_range';
    return this.#request.parameters.everyUpdate || this.#newest.isNewest(transId, record) ? null : 'newer_exists';
  }

  #isWanted(transId: string): boolean {
    const { transIds } = this.#request.parameters;
    return transIds.length === 0 || transIds.includes(transId);
  }

  #add(name: string, records: number): void {
    this.#outcomes.set(name, (this.#outcomes.get(name) ?? 0) + records);
  }

  #spans(): Spans {
    return this.#spansOf(({ from, end }) => ({ from, end }));
  }

  #spansOf(spanOf: (plan: PartitionPlan) => { from: bigint; end: bigint }): Spans {
    return new Map([...this.#prepared.partitions].map(([partition, plan]) => [partition, spanOf(plan)]));
  }

  async #ends(): Promise<ReadonlyMap<number, bigint>> {
    const marks = await this.#parts.admin.watermarks(this.#request.parameters.topic);
    return new Map(marks.map(({ partition, high }) => [partition, high]));
  }

  async #report(result: ReplayReport['result']): Promise<ReplayReport> {
    const { id, parameters } = this.#request;
    const { committed, partitions, mayBeGone } = this.#prepared;
    const outcomes = Object.fromEntries([...this.#outcomes].filter(([, records]) => records > 0));
    const wouldSend = [...this.#wouldSend].sort(([one], [other]) => (one < other ? -1 : 1));
    return {
      id,
      topic: parameters.topic,
      from: parameters.from,
      to: parameters.to,
      result,
      resumed: committed.size > 0,
      partitions: [...partitions]
        .sort(([one], [other]) => one - other)
        .map(([partition, { from, end }]) => ({ partition, from: String(from), end: String(end) })),
      read: this.#read,
      sent: outcomes['delivered'] ?? 0,
      skipped: outcomesOf(outcomes, 'skip'),
      deadLettered: outcomesOf(outcomes, 'dead_letter'),
      repaired: this.#repaired,
      unsettled: this.#unsettled,
      expired: this.#gone,
      mayHaveExpired: Number(mayBeGone),
      inSeveralPartitions: this.#newest.moved,
      liveBehind: await this.#liveBehind(),
      durationMs: Math.round(this.#parts.clock.monotonicMs() - this.#startedMs),
      ...(result === 'dry_run'
        ? {
            wouldSend: wouldSend.map(([row, updates]) => {
              const [day = '', status = ''] = row.split(' ');
              return { day, status, updates };
            }),
          }
        : {}),
    };
  }

  /** Null: Kafka does not say. */
  async #liveBehind(): Promise<number | null> {
    const { admin, liveGroupId } = this.#parts;
    let behind = 0;
    try {
      const live = await admin.committed(liveGroupId, this.#request.parameters.topic);
      for (const [partition, { from, end }] of this.#spans()) {
        const at = live.get(partition)?.offset ?? from;
        behind += Math.max(0, Number(end - (at > from ? at : from)));
      }
      return behind;
    } catch {
      // What was sent is sent: the report must not be lost for this.
      return null;
    }
  }
}

const NOTHING: PartitionPlan = { from: 0n, end: 0n, seen: 0n };

function sizeOf(spans: Spans): number {
  return [...spans.values()].reduce((sum, { from, end }) => sum + Math.max(0, Number(end - from)), 0);
}

function endsOf(spans: Spans): ReadonlyMap<number, bigint> {
  return new Map([...spans].map(([partition, { end }]) => [partition, end]));
}

function startsOf(spans: Spans): ReadonlyMap<number, bigint> {
  return new Map([...spans].map(([partition, { from }]) => [partition, from]));
}

/** An end that a new leader has not heard of yet lies before the start: there is nothing between them. */
function spansBetween(starts: ReadonlyMap<number, bigint>, ends: ReadonlyMap<number, bigint>): Spans {
  return new Map(
    [...ends].map(([partition, end]) => {
      const from = starts.get(partition) ?? 0n;
      return [partition, { from, end: end > from ? end : from }];
    }),
  );
}

function isAtOrAfter(from: ReadonlyMap<number, bigint>): (at: { partition: number; offset: bigint }) => boolean {
  return ({ partition, offset }) => offset >= (from.get(partition) ?? 0n);
}
