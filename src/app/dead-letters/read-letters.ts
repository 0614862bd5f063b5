import { type LetterFacts, readLetter } from '../../dead-letters/read-letter.ts';
import { type DeadLetters, type SourceRecord } from '../../engine/ports.ts';
import { Fault, isFault, nameOf } from '../../kernel/fault.ts';
import { type Spans } from '../../replay/bounded-source.ts';
import { ReadingFlow } from '../../replay/reading-flow.ts';
import { type PassEnd, type PassParts, type PassProgress, runPass } from '../replay/run-pass.ts';
import { isFrom, type LetterTopic } from './letter-topic.ts';
import { type Read } from './read-value.ts';

/** Which letters are meant. */
export interface Asked {
  /** Null: of any reason. */
  readonly reason: string | null;
  /** Empty: of any transaction. */
  readonly transIds: ReadonlySet<string>;
}

export interface LetterReading<T> {
  /** Keeps nothing. */
  readonly groupId: string;
  readonly topic: LetterTopic;
  readonly spans: Spans;
  readonly read: (letter: SourceRecord) => Read<T>;
  /** `facts` null: it is no letter of this topic. What it throws ends the reading. */
  readonly visit: (letter: SourceRecord, facts: LetterFacts | null, item: T) => void;
  readonly onLook?: (progress: PassProgress) => void;
}

export const NO_LETTERS: DeadLetters = { write: async () => await Promise.resolve('written') };

/** Shows every record of a part of a dead-letter topic to a visitor, and sends and writes nothing. */
export async function readLetters<T>(parts: PassParts, reading: LetterReading<T>): Promise<PassEnd> {
  const { groupId, topic, spans, read, visit, onLook } = reading;
  let failure: Fault | null = null;
  const throwFailure = (): void => {
    if (failure !== null) throw failure;
  };
  const flow = new ReadingFlow<T>({
    flow: { name: topic.flow, read, lane: () => '' },
    onUpdate: (_lane, letter, item) => {
      try {
        const facts = readLetter(letter);
        if (failure === null) visit(letter, facts !== null && isFrom(facts.source, topic) ? facts : null, item);
      } catch (error) {
        failure = isFault(error) ? error : new Fault('INTERNAL', `Unexpected: ${nameOf(error)}.`, { cause: error });
      }
      return 'out_of_range';
    },
  });
  const end = await runPass(parts, {
    groupId,
    topic: topic.letters,
    spans,
    flow,
    deadLetters: NO_LETTERS,
    planOf: null,
    onLook: (progress) => {
      throwFailure();
      onLook?.(progress);
    },
  });
  throwFailure();
  return end;
}

/** Whether a letter is among those that are meant. */
export function isAsked({ reason, transIds }: Asked, facts: LetterFacts, transId: string | null): boolean {
  if (reason !== null && facts.reason !== reason) return false;
  return transIds.size === 0 || (transId !== null && transIds.has(transId));
}
