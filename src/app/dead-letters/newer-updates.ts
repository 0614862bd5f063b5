import { type Candidate } from '../../dead-letters/letter-index.ts';
import { type Spans } from '../../replay/bounded-source.ts';
import { Newest } from '../../replay/newest.ts';
import { type PartitionPlan } from '../../replay/plan.ts';
import { type Progress } from '../../replay/progress.ts';
import { ReadingFlow } from '../../replay/reading-flow.ts';
import { type ReplayReport } from '../../replay/report.ts';
import { Replay, type ReplayParts } from '../replay/replay.ts';
import { type PassProgress, runPass } from '../replay/run-pass.ts';
import { NO_LETTERS } from './read-letters.ts';

export interface NewerParts extends Omit<ReplayParts, 'tell' | 'onId'> {
  /** The topic of status updates. */
  readonly topic: string;
  /** Names what is done here, for the groups that it needs. */
  readonly id: string;
  readonly deleteGroup: (groupId: string) => Promise<unknown>;
  readonly draw: () => number;
}

type Offsets = ReadonlyMap<number, bigint>;

/**
 * Keeps letters of status updates from undoing what came after them. An update that has a newer one in the topic is not
 * sent; and where a newer one came while letters were sent, the live group may have delivered it before ours, so the
 * newest is sent once more after them, as a replay does.
 */
export class NewerUpdates {
  readonly #parts: NewerParts;
  readonly #newest = new Newest();
  #from: Offsets = new Map();
  #seen: Offsets = new Map();

  constructor(parts: NewerParts) {
    this.#parts = parts;
  }

  /** Looks through the topic, from the oldest of these letters' records to its end. False: a stop was asked for. */
  async look(candidates: readonly Candidate[], onLook: (progress: PassProgress) => void): Promise<boolean> {
    const ids = new Set(candidates.map(({ transId }) => transId));
    for (const { transId, source, isSendable } of candidates)
      if (transId !== null && source.do === 'record' && isSendable)
        this.#newest.add(transId, { ...source, timestampMs: source.timestampMs ?? -1 });
    const spans = await this.#spans(candidates);
    this.#from = new Map([...spans].map(([partition, { from }]) => [partition, from]));
    this.#seen = new Map([...spans].map(([partition, { end }]) => [partition, end]));
    const { groupId, topic } = this.#parts;
    const flow = new ReadingFlow<unknown>({
      flow: this.#parts.newSync().flow,
      onUpdate: (transId, record) => {
        // As many ids as letters at most: this cannot be too many.
        if (ids.has(transId)) this.#newest.add(transId, record);
        return 'out_of_range';
      },
    });
    const pass = { groupId: `${groupId}-newer`, topic, spans, flow, deadLetters: NO_LETTERS, planOf: null, onLook };
    return (await runPass(this.#parts, pass)).do === 'done';
  }

  /** Whether a newer update than the one of this letter is in the topic. */
  isSuperseded({ transId, source }: Candidate): boolean {
    return transId !== null && source.do === 'record' && !this.#newest.isNewest(transId, source);
  }

  /**
   * Sends the newest update of these transactions where one came after the look. Of `before`, which an earlier start may
   * have sent, also where it came before it.
   */
  async repair(
    sent: ReadonlySet<string>,
    before: ReadonlySet<string>,
    tell: (progress: Progress) => void,
  ): Promise<readonly ReplayReport[]> {
    const reports: ReplayReport[] = [];
    for (const [ids, from] of [
      [before, this.#from],
      [sent, this.#seen],
    ] as const)
      if (ids.size > 0 && this.#parts.stop.reason === null) reports.push(await this.#replay(ids, from, tell));
    return reports;
  }

  async #replay(
    transIds: ReadonlySet<string>,
    from: Offsets,
    tell: (progress: Progress) => void,
  ): Promise<ReplayReport> {
    const { admin, topic, id, draw, deleteGroup } = this.#parts;
    const marks = await admin.watermarks(topic);
    const partitions = marks.map(({ partition, low, high }): [number, PartitionPlan] => {
      const start = from.get(partition) ?? low;
      return [partition, { from: start < high ? start : high, end: high, seen: high }];
    });
    // A name that no earlier start has used: what that has committed would be taken for the end of this one.
    const groupId = `${this.#parts.groupId}-repair-${Math.floor(draw() * 36 ** 6).toString(36)}`;
    const replay = new Replay(
      {
        ...this.#parts,
        groupId,
        onId: null,
        tell: (progress) => {
          tell({ ...progress, phase: 'repair' });
        },
      },
      {
        id,
        parameters: { topic, from: 'here', to: 'latest', everyUpdate: false, transIds: [...transIds] },
        force: true,
        dryRun: false,
      },
      { hash: 'redrive0', partitions: new Map(partitions), committed: new Map(), mayBeGone: 0n },
    );
    try {
      return await replay.run();
    } finally {
      // It expires by itself where this fails.
      await deleteGroup(groupId).catch(() => undefined);
    }
  }

  async #spans(candidates: readonly Candidate[]): Promise<Spans> {
    const { admin, topic } = this.#parts;
    const sources = candidates.map(({ source }) => source).filter((source) => source.do === 'record');
    const marks = await admin.watermarks(topic);
    const times = sources.map(({ timestampMs }) => timestampMs);
    const oldestMs = times.reduce<number | null>(
      (least, ms) => (least === null || ms === null ? null : Math.min(least, ms)),
      Infinity,
    );
    // Partitions that no letter came from may hold newer updates all the same: their number may have changed.
    const since = oldestMs === null || oldestMs === Infinity ? null : await admin.offsetsAt(topic, oldestMs);
    return new Map(
      marks.map(({ partition, low, high }) => {
        const own = sources.filter((source) => source.partition === partition).map(({ offset }) => offset);
        const starts = [since === null ? low : (since.get(partition) ?? high), ...own];
        const from = starts.reduce((least, offset) => (offset < least ? offset : least));
        const bounded = from < low ? low : from;
        return [partition, { from: bounded < high ? bounded : high, end: high }];
      }),
    );
  }
}
