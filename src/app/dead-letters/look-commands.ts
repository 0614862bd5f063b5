import { type Config } from '../../config/config.ts';
import { placeOf } from '../../dead-letters/fetch-records.ts';
import { type LetterList, LetterTally, listLines } from '../../dead-letters/list.ts';
import { showLetter, type ShownLetter, type ShownValue, showLines } from '../../dead-letters/show.ts';
import { type Terminal } from '../../edges/system/terminal.ts';
import { type Clock, type Draw } from '../../kernel/clock.ts';
import { Fault } from '../../kernel/fault.ts';
import { StopRequest } from '../../lifecycle/stop-request.ts';
import { type Mapping } from '../../mapping/mapper.ts';
import { type Spans } from '../../replay/bounded-source.ts';
import { prepare } from '../replay/prepare.ts';
import { type PassParts } from '../replay/run-pass.ts';
import { createVoice } from '../replay/voice.ts';
import { type LetterTopic, letterTopicOf } from './letter-topic.ts';
import { type Look, openLook, requireTopic } from './look.ts';
import { type Asked, isAsked, readLetters } from './read-letters.ts';
import { type Read, readShown, type ReadTransId, transIdReader } from './read-value.ts';

export interface LookCommandOptions {
  readonly config: Config;
  /** Compiled from `config.mapping`. */
  readonly mapping: Mapping;
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly json: boolean;
}

/** `dlq list` as it was typed. */
export interface ListArguments extends Asked {
  readonly topic: string;
  readonly from: string;
  readonly to: string;
  /** Of letters that are counted; null: all. */
  readonly limit: number | null;
}

/** `dlq show` as it was typed. */
export interface ShowArguments {
  readonly topic: string;
  /** `partition:offset` */
  readonly offset: string;
}

const PLACE = /^\d{1,9}:\d{1,15}$/;
const NO_ID: ReadTransId = () => ({ do: 'item', item: null });

/** Counts the letters of a topic by reason. Answers the exit code; throws a `Fault`. */
export async function listLetters(options: LookCommandOptions, args: ListArguments): Promise<number> {
  return await new LookCommand(options, args.topic).list(args);
}

/** Shows one letter, without anything that may not be on a screen. Answers the exit code; throws a `Fault`. */
export async function showOne(options: LookCommandOptions, args: ShowArguments): Promise<number> {
  return await new LookCommand(options, args.topic).show(args);
}

/** The range that holds one offset. Throws `USAGE` where it is written otherwise. */
export function rangeOfPlace(place: string): { readonly from: string; readonly to: string } {
  if (!PLACE.test(place))
    throw new Fault('USAGE', `--offset: ${JSON.stringify(place)} is not partition:offset, for example 0:12.`);
  const [partition = '', offset = ''] = place.split(':');
  return { from: place, to: `${partition}:${String(BigInt(offset) + 1n)}` };
}

class LookCommand {
  readonly #options: LookCommandOptions;
  readonly #topic: LetterTopic;
  readonly #stop = new StopRequest();
  /** Keeps nothing; of chance, so that two who look do not share a topic. */
  readonly #groupId: string;

  constructor(options: LookCommandOptions, topic: string) {
    this.#options = options;
    this.#topic = letterTopicOf(options.config, topic);
    this.#groupId = `${options.config.kafka.groupId}-dlq-${Math.floor(options.draw() * 36 ** 6).toString(36)}`;
  }

  async list(args: ListArguments): Promise<number> {
    const tally = new LetterTally();
    let isCut = false;
    const isWhole = await this.#read(args, async (parts, spans, look) => {
      const { mapping } = this.#options;
      // What nobody asks for is not decoded: a registry that is away is no reason not to look.
      const read = args.transIds.size > 0 ? transIdReader(this.#topic, { decoder: look.decoder, mapping }) : NO_ID;
      await readLetters(parts, {
        groupId: this.#groupId,
        topic: this.#topic,
        spans,
        read,
        visit: (letter, facts, transId) => {
          if (facts === null) tally.addOther();
          else if (!isAsked(args, facts, transId)) return;
          else if (args.limit !== null && tally.letters >= args.limit) isCut = true;
          else tally.add({ ...facts, timestampMs: letter.timestampMs, place: placeOf(letter) });
        },
      });
    });
    const list: LetterList = tally.list(this.#topic.letters, isCut || !isWhole);
    this.#say(list, listLines(list));
    return isWhole ? 0 : 1;
  }

  async show({ offset }: ShowArguments): Promise<number> {
    const found: ShownLetter[] = [];
    await this.#read(rangeOfPlace(offset), async (parts, spans, { decoder }) => {
      const readId = transIdReader(this.#topic, { decoder, mapping: this.#options.mapping });
      const read = (letter: Parameters<ReadTransId>[0]): Read<{ value: ShownValue; transId: string | null }> => {
        const value = readShown(letter, decoder);
        const transId = readId(letter);
        if (value.do === 'needs') return value;
        if (transId.do === 'needs') return transId;
        return { do: 'item', item: { value: value.item, transId: transId.item } };
      };
      await readLetters(parts, {
        groupId: this.#groupId,
        topic: this.#topic,
        spans,
        read,
        visit: (letter, _facts, { value, transId }) => {
          found.push(showLetter(letter, value, transId));
        },
      });
    });
    const [shown] = found;
    if (shown === undefined) {
      this.#options.terminal.complain(
        `There is no record at ${offset} of ${this.#topic.letters}: it has expired, or none was ever there.`,
      );
      return 1;
    }
    this.#say(shown, showLines(shown));
    return 0;
  }

  /** False: stopped before the end. */
  async #read(
    range: { readonly from: string; readonly to: string },
    work: (parts: PassParts, spans: Spans, look: Look) => Promise<void>,
  ): Promise<boolean> {
    const { terminal, config, clock } = this.#options;
    const deaf = terminal.onStop((signal) => {
      if (!this.#stop.ask(signal)) terminal.exit(1);
    });
    // Only what stands in the way is worth a line.
    const quiet = { account: config.account, logLevel: 'warn' } as const;
    const { emit, note } = createVoice({ terminal, clock, config: quiet, statusLine: null });
    const look = openLook({ ...this.#options, emit, stop: this.#stop });
    try {
      const { letters } = this.#topic;
      await requireTopic(look.admin, letters);
      const pass = await look.passParts();
      const prepared = await prepare(
        { ...pass, admin: look.admin, groupId: this.#groupId, sessionTimeoutMs: config.kafka.sessionTimeoutMs, note },
        {
          id: '',
          parameters: { topic: letters, from: range.from, to: range.to, everyUpdate: false, transIds: [] },
          force: false,
          dryRun: true,
        },
      );
      if (prepared === null) return false;
      const spans = new Map([...prepared.partitions].map(([partition, { from, end }]) => [partition, { from, end }]));
      const isEmpty = [...spans.values()].every(({ from, end }) => end <= from);
      if (!isEmpty) await work(pass, spans, look);
      return this.#stop.reason === null;
    } finally {
      await look.release();
      deaf();
    }
  }

  #say(result: object, lines: readonly string[]): void {
    const { terminal, json } = this.#options;
    for (const line of json ? [JSON.stringify(result, null, 2)] : lines) terminal.say(line);
  }
}
