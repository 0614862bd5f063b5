import { type LetterTopic } from '../../src/app/dead-letters/letter-topic.ts';
import { NewerUpdates } from '../../src/app/dead-letters/newer-updates.ts';
import { Redrive } from '../../src/app/dead-letters/redrive.ts';
import { type RedriveParts, type RedriveRequest } from '../../src/app/dead-letters/redrive-ports.ts';
import { prepare } from '../../src/app/replay/prepare.ts';
import { placeOf } from '../../src/dead-letters/fetch-records.ts';
import { LetterFlow, lettersAgain } from '../../src/dead-letters/letter-flow.ts';
import { toLetterRecord, toPointerRecord } from '../../src/dead-letters/letter.ts';
import { type RedriveReport } from '../../src/dead-letters/report.ts';
import { type DeadLetters, type SourceRecord } from '../../src/engine/ports.ts';
import { type Letter } from '../../src/kernel/outcome.ts';
import { ReplayProcess, ReplayWorld, adminOf, LIVE, StatusFlow, UPDATES } from './replay-world.ts';

export const LETTERS: string = `${UPDATES}.dlq`;
const TOPIC: LetterTopic = { flow: 'sync', letters: LETTERS, source: UPDATES };
const STAMP = { suffix: '.dlq', account: 'test', connector: 'test', failedAtMs: 0 };
const REFUSED: Letter = { reason: 'status_400', stage: 'sync' };

/** One start of a redrive: a process with a time of its own. */
export class RedriveProcess extends ReplayProcess {
  /** Null while it runs. */
  end: RedriveReport | 'stopped early' | { readonly failed: unknown } | null = null;

  get redrive(): RedriveReport {
    const { end } = this;
    if (end === null || end === 'stopped early') throw new Error('no report');
    if ('failed' in end) throw end.failed;
    return end;
  }
}

/** A topic of updates, the letters of some of them, the service, the live group, and redrives. */
export class RedriveWorld extends ReplayWorld {
  constructor(partitions = 1) {
    super(partitions);
    this.broker.createTopic(LETTERS, partitions);
  }

  /** Writes the letter of an update, in the partition of its number. `at`: milliseconds since 1970. */
  letter(record: SourceRecord, { at = 0, letter = REFUSED, isPointer = false, headers = {} } = {}): bigint {
    const whole = toLetterRecord(record, letter, { ...STAMP, attempts: 1 });
    const written = isPointer ? toPointerRecord(whole) : whole;
    return this.broker.append(LETTERS, record.partition, {
      key: written.key,
      value: written.value,
      headers: { ...written.headers, ...headers },
      timestampMs: at,
    });
  }

  redrive(asked: Partial<RedriveRequest> = {}): RedriveProcess {
    const process = new RedriveProcess();
    const request: RedriveRequest = {
      id: 'x',
      from: 'earliest',
      to: 'latest',
      reason: null,
      transIds: new Set(),
      limit: null,
      dryRun: false,
      ...asked,
    };
    const { from, to, transIds, dryRun, id, limit, reason } = request;
    const parts = this.#redriveParts(process);
    const parameters = {
      topic: LETTERS,
      from,
      to,
      everyUpdate: false,
      transIds: [...transIds],
      more: [String(limit), String(reason)],
    };
    const run = async (): Promise<RedriveReport | 'stopped early'> => {
      const prepared = await prepare(parts, { id, parameters, force: false, dryRun, noun: 'redrive' });
      return prepared === null ? 'stopped early' : await new Redrive(parts, request, prepared).run();
    };
    run().then(
      (end) => {
        process.end = end;
      },
      (error: unknown) => {
        process.end = { failed: error };
      },
    );
    return process;
  }

  /** Steps until this one has ended, the service answering at once. */
  async finishRedrive(process: RedriveProcess): Promise<RedriveReport> {
    for (let steps = 0; process.end === null; steps += 1) {
      if (steps > 2000) throw new Error(`the redrive does not end: ${JSON.stringify(process.progress.at(-1))}`);
      this.service.answerAll();
      await this.step([process]);
    }
    return process.redrive;
  }

  #redriveParts(process: RedriveProcess): RedriveParts {
    const { broker, service } = this;
    const parts = this.parts(process, {});
    const groupId = 'live-redrive-x';
    const own = { ...parts, groupId, admin: adminOf(broker, process) };
    const letters: DeadLetters = {
      write: async (record, letter, attempts) => {
        process.check();
        const written = toLetterRecord(record, letter, { ...STAMP, attempts });
        broker.append(LETTERS, record.partition, { ...written, timestampMs: 1e6 });
        process.letters.push(letter);
        return await Promise.resolve('written');
      },
    };
    const reader = new StatusFlow(service, 'replay');
    return {
      ...own,
      topic: TOPIC,
      readTransId: ({ value }) => ({ do: 'item', item: value?.toString().split(' ')[0] ?? null }),
      aboutOf: (_letter, { source }) => (source.do === 'record' ? placeOf(source) : ''),
      isSendable: (record) => reader.read(record).do === 'item',
      newPath: (recordOf) => ({
        flow: new LetterFlow(
          new StatusFlow(service, 'replay', () => {
            process.check();
          }),
          recordOf,
        ),
        deadLetters: lettersAgain(letters, recordOf),
      }),
      newer: new NewerUpdates({
        ...own,
        topic: UPDATES,
        id: 'x',
        liveGroupId: LIVE,
        deleteGroup: async () => await Promise.resolve('deleted'),
        draw: () => Math.abs(Math.sin(broker.records(UPDATES).length + process.progress.length)),
      }),
      mostFetchedBytes: 1e6,
    };
  }
}
