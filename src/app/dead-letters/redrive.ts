import { fetchRecords, placeOf } from '../../dead-letters/fetch-records.ts';
import { byPlace, type Candidate, LetterIndex } from '../../dead-letters/letter-index.ts';
import { type Left, type PassedOver, type RedriveReport } from '../../dead-letters/report.ts';
import { toSourceRecord } from '../../dead-letters/source-record.ts';
import { type SourceRecord } from '../../engine/ports.ts';
import { pause } from '../../kernel/clock.ts';
import { nameOf } from '../../kernel/fault.ts';
import { type LetterCode } from '../../kernel/outcome.ts';
import { type Spans } from '../../replay/bounded-source.ts';
import { encodePlan, type PartitionPlan } from '../../replay/plan.ts';
import { type Progress } from '../../replay/progress.ts';
import { ReadingFlow } from '../../replay/reading-flow.ts';
import { ReplayedFlow } from '../../replay/replayed-flow.ts';
import { outcomesOf } from '../../replay/report.ts';
import { formatRfc3339 } from '../../screening/rfc3339.ts';
import { type Prepared } from '../replay/prepare.ts';
import { type PassEnd, type PassProgress, runPass } from '../replay/run-pass.ts';
import { isAsked, NO_LETTERS, readLetters } from './read-letters.ts';
import { type LetterPath, type RedriveParts, type RedriveRequest } from './redrive-ports.ts';

/**
 * Sends dead letters through the flow of their source once more. In this order:
 * 1. The letters that were asked for are chosen: of those about one record the newest, the oldest first up to the limit.
 * 2. What pointers point to is fetched from its source.
 * 3. Of status updates, those that a newer one in the topic has replaced are left out.
 * 4. The chosen ones are sent, in a group that holds the plan before the first leaves: a second start goes on there.
 * 5. Of status updates, what became newer meanwhile is sent after them.
 *
 * Nothing is ever written to a source topic, and no letter is taken out of its own: one that fails again has a new letter
 * behind it.
 */
export class Redrive {
  readonly #parts: RedriveParts;
  readonly #request: RedriveRequest;
  readonly #prepared: Prepared;
  readonly #startedMs: number;
  readonly #index = new LetterIndex();
  /** By the place of the letter. */
  #chosen: ReadonlyMap<string, Candidate> = new Map();
  /** By the place of the record that a pointer points to. */
  #fetched: ReadonlyMap<string, SourceRecord> = new Map();
  readonly #skipped = new Map<PassedOver, number>();
  /** By the place of the letter. */
  readonly #left = new Map<string, Left>();
  readonly #superseded = new Set<string>();
  readonly #sent = new Set<string>();
  #outcomes: Readonly<Record<string, number>> = {};
  readonly #rows = new Map<string, number>();
  #read = 0;
  #gone = 0;
  #repaired = 0;
  #unsettled = 0;
  #isStopped = false;

  constructor(parts: RedriveParts, request: RedriveRequest, prepared: Prepared) {
    this.#parts = parts;
    this.#request = request;
    this.#prepared = prepared;
    this.#startedMs = parts.clock.monotonicMs();
  }

  /** Carries it out, or as much as there is time for before a stop. Throws a `Fault` before anything was sent. */
  async run(): Promise<RedriveReport> {
    const { dryRun } = this.#request;
    if ([...this.#spans().values()].every(({ from, end }) => end <= from)) return this.#report('empty');
    for (const step of [
      async (): Promise<void> => {
        await this.#choose();
      },
      async (): Promise<void> => {
        await this.#fetch();
      },
      async (): Promise<void> => {
        await this.#leaveOutSuperseded();
      },
      async (): Promise<void> => {
        await (dryRun ? this.#count() : this.#send());
      },
      async (): Promise<void> => {
        if (!dryRun) await this.#repair();
      },
    ])
      if (!this.#isStopped) await step();
    if (this.#isStopped) return this.#report('stopped');
    if (dryRun) return this.#report('dry_run');
    if (this.#unsettled === 0) await this.#finish();
    return this.#report('done');
  }

  async #choose(): Promise<void> {
    const { topic, readTransId, aboutOf, isSendable } = this.#parts;
    const { reason, transIds, limit } = this.#request;
    const isFiltered = reason !== null || transIds.size > 0;
    const end = await readLetters(this.#parts, {
      groupId: `${this.#parts.groupId}-index`,
      topic,
      spans: this.#spans(),
      read: readTransId,
      visit: (letter, facts, transId) => {
        const { partition, offset, timestampMs } = letter;
        if (facts === null && !isFiltered) this.#left.set(placeOf(letter), 'not_a_letter');
        else if (facts === null || !isAsked(this.#request, facts, transId)) this.#skip('not_asked_for', 1);
        // To send a payment twice is for a person to decide, who has looked it up.
        else if (MAYBE_SCORED.has(facts.reason) && reason === null) this.#skip('maybe_scored', 1);
        else {
          const { source, isWithheld } = facts;
          const about = aboutOf(letter, facts);
          const isReadable = source.do === 'webhook' || (!isWithheld && isSendable(toSourceRecord(letter, source)));
          this.#index.add({
            partition,
            offset,
            timestampMs,
            reason: facts.reason,
            source,
            about,
            transId,
            isWithheld,
            isSendable: isReadable,
          });
        }
      },
      onLook: this.#onLook('index'),
    });
    this.#note(end);
    this.#read += end.read;
    this.#gone += end.gone;
    const chosen = this.#index.oldest(limit);
    this.#skip('newer_letter', this.#index.repeated);
    this.#skip('not_asked_for', this.#index.size - chosen.length);
    this.#chosen = byPlace(chosen);
  }

  async #leaveOutSuperseded(): Promise<void> {
    const { newer } = this.#parts;
    if (newer === null || this.#chosen.size === 0) return;
    const candidates = [...this.#chosen.values()];
    if (!(await newer.look(candidates, this.#onLook('index')))) this.#isStopped = true;
    const superseded = candidates.filter((candidate) => newer.isSuperseded(candidate));
    for (const { transId } of superseded) if (transId !== null) this.#superseded.add(transId);
    this.#drop(superseded);
    this.#skip('newer_exists', superseded.length);
  }

  async #fetch(): Promise<void> {
    const { topic, clock, sourceOf, groupId, stop, mostFetchedBytes } = this.#parts;
    const pointers = [...this.#chosen.values()].filter(({ isWithheld }) => isWithheld);
    const sources = pointers.map(({ source }) => source).filter((source) => source.do === 'record');
    if (pointers.length === 0) return;
    const wanted = new Map<number, bigint[]>();
    for (const { partition, offset } of sources) wanted.set(partition, [...(wanted.get(partition) ?? []), offset]);
    const fetched = await fetchRecords(
      {
        source: sourceOf(`${groupId}-source`, topic.source),
        clock,
        isStopped: () => stop.reason !== null,
        mostBytes: mostFetchedBytes,
      },
      wanted,
    );
    if (fetched === null) {
      this.#isStopped = true;
      return;
    }
    this.#fetched = fetched;
    const gone = pointers.filter(({ source }) => source.do !== 'record' || !isOf(source, fetched.get(placeOf(source))));
    for (const candidate of gone) this.#left.set(placeOf(candidate), 'source_gone');
    this.#drop(gone);
    await this.#readPointers();
  }

  /** What a letter does not hold is known of its record only now: which transaction it is about, and whether it can be sent. */
  async #readPointers(): Promise<void> {
    const { isSendable } = this.#parts;
    const chosen = new Map(this.#chosen);
    for (const [place, candidate] of chosen) {
      const { source } = candidate;
      const record = candidate.isWithheld && source.do === 'record' ? this.#fetched.get(placeOf(source)) : undefined;
      if (record === undefined) continue;
      const transId = await this.#transIdOf(record);
      if (this.#isStopped) return;
      chosen.set(place, { ...candidate, transId, isSendable: isSendable(record) });
    }
    this.#chosen = chosen;
  }

  /** Waits for the registry where it has to be asked. */
  async #transIdOf(record: SourceRecord): Promise<string | null> {
    const { readTransId, schemas, clock, stop } = this.#parts;
    for (;;) {
      const read = readTransId(record);
      if (read.do === 'item') return read.item;
      const answer = await schemas.fetch(read.schema);
      if (answer.do === 'wait') await pause(clock, answer.forMs);
      if (stop.reason === null) continue;
      this.#isStopped = true;
      return null;
    }
  }

  async #count(): Promise<void> {
    const dead = new Map<string, number>();
    const { flow } = this.#newPath();
    const reading = new ReadingFlow<unknown>({
      flow,
      onUpdate: (_lane, letter) => {
        const reason = this.#chosen.get(placeOf(letter))?.reason ?? '';
        add(this.#rows, `${formatRfc3339(letter.timestampMs).slice(0, 'yyyy-mm-dd'.length)} ${reason}`);
        return null;
      },
      onLetter: ({ reason }) => {
        add(dead, `dead_letter:${reason}`);
      },
    });
    const end = await this.#pass('count', { flow: reading, deadLetters: NO_LETTERS }, null);
    this.#outcomes = { ...end.outcomes, ...Object.fromEntries(dead) };
  }

  async #send(): Promise<void> {
    if (this.#chosen.size === 0) return;
    const { bucket, clock } = this.#parts;
    const { hash, partitions } = this.#prepared;
    const { flow, deadLetters } = this.#newPath();
    const replayed = new ReplayedFlow({
      flow,
      refuses: () => null,
      unread: 'letter',
      onSend: (lane) => {
        this.#sent.add(lane);
      },
      bucket,
      clock,
    });
    const end = await this.#pass(
      'send',
      { flow: replayed, deadLetters },
      {
        planOf: (partition) => encodePlan(hash, partitions.get(partition) ?? NOTHING),
        onPlanned: () => {
          replayed.open();
        },
      },
    );
    this.#outcomes = end.outcomes;
  }

  async #repair(): Promise<void> {
    const { newer, tell } = this.#parts;
    if (newer === null) return;
    const wasBegun = this.#prepared.committed.size > 0;
    const chosen = [...this.#chosen.values()].map(({ transId }) => transId).filter((transId) => transId !== null);
    const reports = await newer.repair(
      // What an earlier start has sent is not known one by one.
      wasBegun ? new Set(chosen) : this.#sent,
      wasBegun ? this.#superseded : new Set(),
      tell,
    );
    for (const { sent, repaired, unsettled, result } of reports) {
      this.#repaired += sent + repaired;
      this.#unsettled += unsettled;
      if (result === 'stopped') this.#isStopped = true;
    }
  }

  /** Forgets the plan, and so remembers that the redrive has come to its end: what is committed without one says so. */
  async #finish(): Promise<void> {
    const { admin, groupId, note, topic } = this.#parts;
    const ends = new Map([...this.#spans()].map(([partition, { end }]) => [partition, end]));
    try {
      await admin.commitFor(groupId, topic.letters, ends);
    } catch (error) {
      note(`The end of the redrive could not be noted in its group (${nameOf(error)}); all was sent.`);
    }
  }

  #newPath(): LetterPath {
    return this.#parts.newPath(
      (letter) => this.#recordOf(letter),
      (letter, why) => {
        this.#left.set(placeOf(letter), why);
      },
    );
  }

  #recordOf(letter: SourceRecord): SourceRecord | null {
    const candidate = this.#chosen.get(placeOf(letter));
    if (candidate === undefined) return null;
    const { source } = candidate;
    return source.do === 'webhook'
      ? letter
      : toSourceRecord(letter, source, this.#fetched.get(placeOf(source)) ?? null);
  }

  async #pass(
    phase: Progress['phase'],
    path: LetterPath,
    kept: { readonly planOf: (partition: number) => string; readonly onPlanned: () => void } | null,
  ): Promise<PassEnd> {
    const { groupId, topic } = this.#parts;
    const end = await runPass(this.#parts, {
      groupId: kept === null ? `${groupId}-index` : groupId,
      topic: topic.letters,
      spans: this.#spans(),
      ...path,
      planOf: kept?.planOf ?? null,
      ...(kept === null ? {} : { onPlanned: kept.onPlanned }),
      onLook: this.#onLook(phase),
    });
    this.#note(end);
    return end;
  }

  #onLook(phase: Progress['phase']): (progress: PassProgress) => void {
    const { clock, tell } = this.#parts;
    const startedMs = clock.monotonicMs();
    return ({ done, total, flow }) => {
      const waitsFor = flow?.waits.find(({ cause }) => cause !== 'batch_open')?.cause ?? null;
      tell({ phase, done, total, before: 0, elapsedMs: clock.monotonicMs() - startedMs, waitsFor });
    };
  }

  #note(end: PassEnd): void {
    if (end.do === 'stopped') this.#isStopped = true;
  }

  #skip(rule: PassedOver, letters: number): void {
    this.#skipped.set(rule, (this.#skipped.get(rule) ?? 0) + letters);
  }

  #drop(candidates: readonly Candidate[]): void {
    const dropped = new Set(candidates.map(placeOf));
    this.#chosen = new Map([...this.#chosen].filter(([place]) => !dropped.has(place)));
  }

  #spans(): Spans {
    return new Map([...this.#prepared.partitions].map(([partition, { from, end }]) => [partition, { from, end }]));
  }

  #report(result: RedriveReport['result']): RedriveReport {
    const { id, from, to, dryRun } = this.#request;
    const skips = outcomesOf(this.#outcomes, 'skip');
    for (const rule of ['tombstone', 'skip_when'] as const) this.#skip(rule, skips[rule] ?? 0);
    const left = new Map<Left, number>();
    for (const why of this.#left.values()) add(left, why);
    const rows = [...this.#rows].sort(([one], [other]) => (one < other ? -1 : 1));
    return {
      id,
      topic: this.#parts.topic.letters,
      from,
      to,
      result,
      resumed: this.#prepared.committed.size > 0,
      read: this.#read,
      sent: this.#outcomes['delivered'] ?? 0,
      skipped: Object.fromEntries([...this.#skipped].filter(([, letters]) => letters > 0)),
      left: Object.fromEntries(left),
      deadLettered: outcomesOf(this.#outcomes, 'dead_letter'),
      repaired: this.#repaired,
      unsettled: this.#unsettled,
      expired: this.#gone,
      durationMs: Math.round(this.#parts.clock.monotonicMs() - this.#startedMs),
      ...(dryRun
        ? {
            wouldSend: rows.map(([row, letters]) => {
              const [day = '', reason = ''] = row.split(' ');
              return { day, reason, letters };
            }),
          }
        : {}),
    };
  }
}

/** Whether a record is the one that a letter was written of: a topic that was made anew has others at the same places. */
function isOf({ timestampMs }: { readonly timestampMs: number | null }, found: SourceRecord | undefined): boolean {
  return found !== undefined && (timestampMs === null || found.timestampMs === timestampMs);
}

/** The service may have scored them: they are sent again only by `--reason`. */
const MAYBE_SCORED: ReadonlySet<string> = new Set<LetterCode>([
  'ambiguous_then_refused',
  'unusable_answer',
  'timed_out',
  'connection_failed',
]);
const NOTHING: PartitionPlan = { from: 0n, end: 0n, seen: 0n };

function add<K>(counts: Map<K, number>, name: K): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
