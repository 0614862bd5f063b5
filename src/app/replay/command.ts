import { type Config } from '../../config/config.ts';
import { createKafkaAdmin } from '../../edges/kafka/admin.ts';
import { type LineFile, openLineFile } from '../../edges/system/files.ts';
import { Fault, isFault, nameOf } from '../../kernel/fault.ts';
import { StopRequest } from '../../lifecycle/stop-request.ts';
import { checkTopic, groupOfReplay, someId } from '../../replay/names.ts';
import { type PlanParameters } from '../../replay/plan.ts';
import { replayCounts, exitOf, reportLines, type ReplayReport } from '../../replay/report.ts';
import { TokenBucket } from '../../resilience/token-bucket.ts';
import { formatRfc3339 } from '../../screening/rfc3339.ts';
import { kafkaOf } from '../parts.ts';
import { prepare, type Prepared, type PrepareParts, type ReplayRequest } from './prepare.ts';
import { Replay } from './replay.ts';
import { openRig, type Rig } from './rig.ts';
import { heedSignals, type SendingAgain } from './sending-again.ts';
import { configOfSync, syncParts } from './status-updates.ts';
import { drawProgress, sayProgress } from './teller.ts';
import { createVoice, type Voice } from './voice.ts';

/** `replay` as it was typed. */
export interface ReplayArguments {
  readonly parameters: PlanParameters;
  /** Null: one is made up. */
  readonly id: string | null;
  readonly force: boolean;
  readonly dryRun: boolean;
  /** Updates per second; null: no limit. */
  readonly rate: number | null;
  /** Where the report goes as JSON; null: nowhere. */
  readonly reportFile: string | null;
  /** Where the trans_ids of a dry run go, one a line; null: nowhere. */
  readonly idsFile: string | null;
  readonly operator: string;
}

export interface ReplayOptions extends SendingAgain {
  readonly arguments: ReplayArguments;
}

/** Carries a replay out, from its arguments to its report. Answers the exit code; throws a `Fault` where it cannot go on. */
export async function runReplay(options: ReplayOptions): Promise<number> {
  return await new ReplayCommand(options).run();
}

/** Forgets a replay, so that its id may be used again. Throws `USAGE` where there is none, or one is at work. */
export async function removeReplay(
  options: Pick<ReplayOptions, 'config' | 'terminal' | 'clock'> & { readonly id: string; readonly operator: string },
): Promise<number> {
  const { config, terminal, clock, id, operator } = options;
  const groupId = groupOfReplay(config.kafka.groupId, id);
  const admin = createKafkaAdmin(kafkaOf(config, () => undefined));
  try {
    const end = await admin.deleteGroup(groupId);
    if (end === 'unknown') throw new Fault('USAGE', `There is no replay ${id}: the group ${groupId} is not known.`);
    if (end === 'has_members')
      throw new Fault(
        'USAGE',
        `The replay ${id} is being carried out, or was killed less than ${String(config.kafka.sessionTimeoutMs / 1000)} s ago.`,
      );
  } finally {
    await admin.close();
  }
  const voice = createVoice({ terminal, clock, config, statusLine: null });
  voice.audit({ who: operator, command: 'replay --remove', range: id, counts: '', result: 'removed' });
  terminal.say(`The replay ${id} is forgotten.`);
  return 0;
}

class ReplayCommand {
  readonly #options: ReplayOptions;
  readonly #arguments: ReplayArguments;
  readonly #config: Config;
  readonly #id: string;
  readonly #groupId: string;
  readonly #voice: Voice;
  readonly #stop = new StopRequest();

  constructor(options: ReplayOptions) {
    const { config, terminal, clock, draw, bar } = options;
    this.#options = options;
    this.#arguments = options.arguments;
    const { id, parameters } = options.arguments;
    this.#id = id ?? someId(formatRfc3339(clock.nowMs()), draw());
    checkTopic(parameters.topic, config.topics);
    this.#groupId = groupOfReplay(config.kafka.groupId, this.#id);
    this.#config = configOfSync(config, parameters.topic);
    this.#voice = createVoice({ terminal, clock, config, statusLine: bar?.line ?? null });
  }

  async run(): Promise<number> {
    const { terminal, clock, draw, mapping } = this.#options;
    const { reportFile, idsFile } = this.#arguments;
    // Before anything is sent: a report that cannot be written is no news for the end.
    const report = openFile('--report', reportFile);
    const ids = openFile('--ids', idsFile);
    const deaf = heedSignals(terminal, this.#stop, this.#voice);
    const { emit } = this.#voice;
    const config = this.#config;
    const rig = openRig({ config, mapping, clock, draw, emit, stop: this.#stop, scope: 'replay' });
    try {
      const end = await this.#carryOut(rig, ids);
      if (end === null) return 1;
      report?.line(JSON.stringify(end, null, 2));
      for (const line of reportLines(end)) this.#voice.say(line);
      return exitOf(end);
    } finally {
      await rig.release();
      report?.close();
      ids?.close();
      deaf();
      this.#options.bar?.line.hide();
    }
  }

  /** Null: stopped before it began. */
  async #carryOut(rig: Rig, ids: LineFile | null): Promise<ReplayReport | null> {
    const request = this.#request();
    const { clock } = this.#options;
    const pass = await rig.passParts();
    if (pass === null) return null;
    await this.#checkTopics(rig);
    const parts: PrepareParts = {
      admin: rig.patient,
      clusterHash: pass.clusterHash,
      groupId: this.#groupId,
      sessionTimeoutMs: this.#config.kafka.sessionTimeoutMs,
      clock,
      stop: this.#stop,
      note: this.#voice.note,
    };
    const prepared = await prepare(parts, request);
    if (prepared === null) return null;
    this.#announce(prepared);
    const { rate } = this.#arguments;
    const replay = new Replay(
      {
        ...pass,
        ...parts,
        ...syncParts(rig),
        liveGroupId: this.#config.kafka.groupId,
        bucket: rate === null ? null : new TokenBucket(rate, clock.monotonicMs()),
        tell: this.#teller(),
        onId:
          ids === null
            ? null
            : (transId): void => {
                ids.line(transId);
              },
      },
      request,
      prepared,
    );
    if (request.dryRun) return await replay.run();
    // The first login is not waited for: records that find no session wait, and say so.
    void rig.api.login();
    return await this.#audited(async () => await replay.run());
  }

  /** One line of audit before, and one after, whatever comes of it. */
  async #audited(work: () => Promise<ReplayReport>): Promise<ReplayReport> {
    this.#audit('', 'started');
    try {
      const end = await work();
      this.#audit(replayCounts(end), end.result);
      if (end.result === 'stopped') this.#voice.note(this.#resumption());
      return end;
    } catch (error) {
      this.#audit('', 'failed');
      const isUsage = isFault(error) && error.exit === 2;
      if (!isUsage) this.#voice.note(this.#resumption());
      throw error;
    }
  }

  #audit(counts: string, result: string): void {
    const { parameters, force, operator } = this.#arguments;
    const { topic, from, to, everyUpdate, transIds } = parameters;
    const only = transIds.length === 0 ? '' : `, ${String(transIds.length)} trans_ids`;
    this.#voice.audit({
      who: operator,
      command: ['replay', ...(everyUpdate ? ['--every-update'] : []), ...(force ? ['--force'] : [])].join(' '),
      range: `${this.#id}: ${topic} from ${from} to ${to}${only}`,
      counts,
      result,
    });
  }

  #announce({ partitions, committed }: Prepared): void {
    const { dryRun, parameters } = this.#arguments;
    const offsets = [...partitions.values()].reduce((sum, { from, end }) => sum + Number(end - from), 0);
    const places = `${String(partitions.size)} partition${partitions.size === 1 ? '' : 's'}`;
    const what = `${offsets.toLocaleString('en')} offsets of ${parameters.topic} in ${places}`;
    if (dryRun) this.#voice.note(`Dry run of ${what}; nothing is sent.`);
    else if (committed.size > 0) this.#voice.note(`Replay ${this.#id} is resumed: ${what}.`);
    else this.#voice.note(`Replay ${this.#id}: ${what}. To resume it after a crash, give --id ${this.#id}.`);
  }

  #teller(): ConstructorParameters<typeof Replay>[0]['tell'] {
    const { bar, clock } = this.#options;
    return bar === null ? sayProgress(this.#id, clock, this.#voice.emit) : drawProgress(bar.line, bar.colour);
  }

  /** What to type to go on. */
  #resumption(): string {
    const { parameters, force } = this.#arguments;
    const { topic, from, to, everyUpdate, transIds } = parameters;
    const words = ['fraud-connector replay --id', this.#id, '--topic', topic, '--from', from, '--to', to];
    if (everyUpdate) words.push('--every-update');
    if (force) words.push('--force');
    const ids = transIds.length === 0 ? '' : ' and every --trans-id again';
    return `Not at its end. Resume it with: ${words.join(' ')}${ids}`;
  }

  #request(): ReplayRequest {
    const { parameters, force, dryRun } = this.#arguments;
    return { id: this.#id, parameters, force, dryRun };
  }

  async #checkTopics({ patient }: Rig): Promise<void> {
    const { dryRun, parameters } = this.#arguments;
    const { topic } = parameters;
    const letters = `${topic}${this.#config.topics.deadLetterSuffix}`;
    const found = await patient.topics(dryRun ? [topic] : [topic, letters]);
    const missing = found.filter(({ exists }) => !exists).map(({ name }) => name);
    if (missing.includes(topic)) throw new Fault('TOPIC_MISSING', `The topic ${topic} does not exist.`);
    if (missing.length > 0)
      throw new Fault('TOPIC_MISSING', `The topic ${letters}, for updates that cannot be sent, does not exist.`);
  }
}

function openFile(option: string, path: string | null): LineFile | null {
  if (path === null) return null;
  try {
    return openLineFile(path);
  } catch (error) {
    throw new Fault('USAGE', `${option}: the file ${JSON.stringify(path)} cannot be written (${nameOf(error)}).`);
  }
}
