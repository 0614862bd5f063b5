import { type DeadLetters, type OutgoingRecord, type RecordWriter, type SourceRecord } from '../engine/ports.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { type HoldCause, type Letter } from '../kernel/outcome.ts';
import { toLetterRecord, toPointerRecord } from './letter.ts';

/** What the writer says where the topic or the right to write it is missing; anything else is Kafka being away. */
const ABOUT_THE_TOPIC = /topic missing|UNKNOWN_TOPIC|INVALID_TOPIC|TOPIC_AUTHORIZATION|POLICY_VIOLATION/;

export interface DeadLetterParts {
  readonly writer: RecordWriter;
  /** What follows the source topic's name in the name of its dead-letter topic. */
  readonly suffix: string;
  readonly account: string;
  /** `fraud-screening-connector/<version>`. */
  readonly connector: string;
  readonly clock: Clock;
  readonly emit: Emit;
  /** For one write; the engine tries again afterwards. */
  readonly deadlineMs: number;
}

/**
 * Writes letters, each acknowledged by Kafka before it counts. One that Kafka refuses is written without the source's
 * data, so that no record stands in the way for ever; a repeat after an unknown outcome may be there twice.
 */
export function createDeadLetters(parts: DeadLetterParts): DeadLetters {
  const { writer, suffix, account, connector, clock, emit, deadlineMs } = parts;

  async function attempt(record: OutgoingRecord): Promise<'written' | 'refused' | HoldCause> {
    const outcome = await writer.write(record, deadlineMs);
    switch (outcome.do) {
      case 'written':
        return 'written';
      case 'refused':
        return 'refused';
      case 'unavailable':
        return ABOUT_THE_TOPIC.test(outcome.error) ? 'dead_letter_topic' : 'kafka';
    }
  }

  return {
    write: async (record: SourceRecord, letter: Letter, attempts: number): Promise<'written' | HoldCause> => {
      const stamp = { suffix, account, connector, attempts, failedAtMs: clock.nowMs() };
      const whole = toLetterRecord(record, letter, stamp);
      const first = await attempt(whole);
      const end = first === 'refused' ? await attempt(toPointerRecord(whole)) : first;
      if (end === 'written') emit('letter_written', { topic: whole.topic, reason: letter.reason });
      return end === 'refused' ? 'dead_letter_topic' : end;
    },
  };
}
