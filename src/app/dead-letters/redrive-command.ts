import { redriveCounts, redriveExitOf, redriveLines, type RedriveReport } from '../../dead-letters/report.ts';
import { isFault } from '../../kernel/fault.ts';
import { StopRequest } from '../../lifecycle/stop-request.ts';
import { groupOfRedrive, someId } from '../../replay/names.ts';
import { type PlanParameters } from '../../replay/plan.ts';
import { type Progress } from '../../replay/progress.ts';
import { TokenBucket } from '../../resilience/token-bucket.ts';
import { formatRfc3339 } from '../../screening/rfc3339.ts';
import { untilThere } from '../preflight.ts';
import { findPlan, prepare, type Prepared, type PrepareParts } from '../replay/prepare.ts';
import { openRig, type Rig } from '../replay/rig.ts';
import { type PassParts } from '../replay/run-pass.ts';
import { heedSignals, type SendingAgain } from '../replay/sending-again.ts';
import { syncParts } from '../replay/status-updates.ts';
import { drawProgress, sayProgress } from '../replay/teller.ts';
import { createVoice, type Voice } from '../replay/voice.ts';
import { type LetterTopic, letterTopics } from './letter-topic.ts';
import { requireTopic } from './look.ts';
import { NewerUpdates } from './newer-updates.ts';
import { configOfRedrive, pathParts } from './paths.ts';
import { transIdReader } from './read-value.ts';
import { Redrive } from './redrive.ts';
import { type RedriveRequest } from './redrive-ports.ts';

/** `dlq redrive` as it was typed. */
export interface RedriveArguments extends Omit<RedriveRequest, 'id'> {
  readonly topics: readonly LetterTopic[];
  /** Null: one is made up. */
  readonly id: string | null;
  /** Letters per second; null: no limit. */
  readonly rate: number | null;
  readonly operator: string;
}

export interface RedriveOptions extends SendingAgain {
  readonly json: boolean;
  readonly arguments: RedriveArguments;
}

/** Carries a redrive out, topic by topic, transactions before their updates. Answers the exit code; throws a `Fault`. */
export async function runRedrive(options: RedriveOptions): Promise<number> {
  return await new RedriveCommand(options).run();
}

class RedriveCommand {
  readonly #options: RedriveOptions;
  readonly #arguments: RedriveArguments;
  readonly #topics: readonly LetterTopic[];
  readonly #id: string;
  readonly #groupId: string;
  readonly #voice: Voice;
  readonly #stop = new StopRequest();
  readonly #tell: (progress: Progress) => void;

  constructor(options: RedriveOptions) {
    const { config, terminal, clock, draw, bar } = options;
    const { id, topics } = options.arguments;
    this.#options = options;
    this.#arguments = options.arguments;
    const given = new Set(topics.map(({ letters }) => letters));
    this.#topics = letterTopics(config).filter(({ letters }) => given.has(letters));
    this.#id = id ?? someId(formatRfc3339(clock.nowMs()), draw());
    this.#groupId = groupOfRedrive(config.kafka.groupId, this.#id);
    this.#voice = createVoice({ terminal, clock, config, statusLine: bar?.line ?? null });
    this.#tell = bar === null ? sayProgress(this.#id, clock, this.#voice.emit) : drawProgress(bar.line, bar.colour);
  }

  async run(): Promise<number> {
    const { terminal, json, bar } = this.#options;
    const deaf = heedSignals(terminal, this.#stop, this.#voice);
    const reports: RedriveReport[] = [];
    try {
      for (const topic of this.#topics) {
        const report = await this.#redrive(topic);
        if (report !== null) reports.push(report);
        if (this.#stop.reason !== null) break;
      }
      if (json) this.#voice.say(JSON.stringify(reports, null, 2));
      else for (const line of reports.flatMap(redriveLines)) this.#voice.say(line);
      const isStopped = this.#stop.reason !== null;
      return isStopped || reports.some((report) => redriveExitOf(report) === 1) ? 1 : 0;
    } finally {
      deaf();
      bar?.line.hide();
    }
  }

  /** Null: stopped before it began, or an earlier start has come to its end with this topic. */
  async #redrive(topic: LetterTopic): Promise<RedriveReport | null> {
    const { mapping, clock, draw } = this.#options;
    const { emit } = this.#voice;
    const config = configOfRedrive(this.#options.config, topic);
    const rig = openRig({ config, mapping, clock, draw, emit, stop: this.#stop, scope: 'redrive' });
    try {
      const pass = await rig.passParts();
      if (pass === null) return null;
      await requireTopic(rig.patient, topic.letters);
      const parts = this.#prepareParts(rig, pass);
      const { dryRun } = this.#arguments;
      if (!dryRun && this.#topics.length > 1 && (await findPlan(parts, topic.letters)).do === 'finished') {
        this.#voice.note(`Redrive ${this.#id} has come to its end with ${topic.letters} already.`);
        return null;
      }
      const request = {
        id: this.#id,
        parameters: this.#parameters(topic),
        force: false,
        dryRun,
        noun: 'redrive',
      } as const;
      const prepared = await prepare(parts, request);
      return prepared === null ? null : await this.#carryOut(rig, topic, { pass, parts, prepared });
    } finally {
      await rig.release();
    }
  }

  async #carryOut(
    rig: Rig,
    topic: LetterTopic,
    made: { readonly pass: PassParts; readonly parts: PrepareParts; readonly prepared: Prepared },
  ): Promise<RedriveReport | null> {
    const { clock, draw, mapping, config } = this.#options;
    const { dryRun, rate } = this.#arguments;
    const { pass, parts, prepared } = made;
    const { ready, ...path } = pathParts(rig, topic);
    const hold = { cause: 'registry', scope: 'redrive' } as const;
    const preflight = { clock, draw, emit: this.#voice.emit, stop: this.#stop };
    if (!dryRun && (await untilThere(preflight, hold, async () => await readied(ready))) === null) return null;
    const bucket = rate === null ? null : new TokenBucket(rate, clock.monotonicMs());
    const newer =
      topic.flow === 'sync'
        ? new NewerUpdates({
            ...pass,
            ...parts,
            ...syncParts(rig),
            topic: topic.source,
            id: this.#id,
            liveGroupId: config.kafka.groupId,
            bucket,
            deleteGroup: async (groupId) => await rig.admin.deleteGroup(groupId),
            draw,
          })
        : null;
    const redrive = new Redrive(
      {
        ...pass,
        ...parts,
        ...path,
        topic,
        readTransId: transIdReader(topic, { decoder: rig.registry.decoder(null), mapping }),
        newer,
        bucket,
        tell: this.#tell,
        mostFetchedBytes: config.buffer.maxBytes,
      },
      { ...this.#arguments, id: this.#id },
      prepared,
    );
    this.#announce(topic, prepared);
    if (dryRun) return await redrive.run();
    // The first login is not waited for: letters that find no session wait, and say so.
    if (topic.flow !== 'reviews') void rig.api.login();
    return await this.#audited(topic, async () => await redrive.run());
  }

  /** One line of audit before, and one after, whatever comes of it. */
  async #audited(topic: LetterTopic, work: () => Promise<RedriveReport>): Promise<RedriveReport> {
    this.#audit(topic, '', 'started');
    try {
      const end = await work();
      this.#audit(topic, redriveCounts(end), end.result);
      if (end.result === 'stopped') this.#voice.note(this.#resumption());
      return end;
    } catch (error) {
      this.#audit(topic, '', 'failed');
      if (!(isFault(error) && error.exit === 2)) this.#voice.note(this.#resumption());
      throw error;
    }
  }

  #audit({ letters }: LetterTopic, counts: string, result: string): void {
    const { from, to, reason, transIds, limit, operator } = this.#arguments;
    const range = [
      `${this.#id}: ${letters} from ${from} to ${to}`,
      ...(reason === null ? [] : [`reason ${reason}`]),
      ...(transIds.size === 0 ? [] : [`${String(transIds.size)} trans_ids`]),
      ...(limit === null ? [] : [`limit ${String(limit)}`]),
    ].join(', ');
    this.#voice.audit({ who: operator, command: 'redrive', range, counts, result });
  }

  #announce({ letters }: LetterTopic, { partitions, committed }: Prepared): void {
    const offsets = [...partitions.values()].reduce((sum, { from, end }) => sum + Number(end - from), 0);
    const what = `${offsets.toLocaleString('en')} offsets of ${letters}`;
    if (this.#arguments.dryRun) this.#voice.note(`Dry run of ${what}; nothing is sent.`);
    else if (committed.size > 0) this.#voice.note(`Redrive ${this.#id} is resumed: ${what}.`);
    else this.#voice.note(`Redrive ${this.#id}: ${what}. To resume it after a crash, give --id ${this.#id}.`);
  }

  #resumption(): string {
    return `Not at its end. Resume it with --id ${this.#id} and the same options again.`;
  }

  #prepareParts(rig: Rig, pass: PassParts): PrepareParts {
    return {
      admin: rig.patient,
      clusterHash: pass.clusterHash,
      groupId: this.#groupId,
      sessionTimeoutMs: this.#options.config.kafka.sessionTimeoutMs,
      clock: this.#options.clock,
      stop: this.#stop,
      note: this.#voice.note,
    };
  }

  #parameters({ letters }: LetterTopic): PlanParameters {
    const { from, to, reason, transIds, limit } = this.#arguments;
    const more = [reason ?? '', limit === null ? '' : String(limit)];
    return { topic: letters, from, to, everyUpdate: false, transIds: [...transIds], more };
  }
}

async function readied(ready: () => Promise<void>): Promise<true> {
  await ready();
  return true;
}
