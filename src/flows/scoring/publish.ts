import { type RecordWriter, type SourceRecord, type ValueEncoder } from '../../engine/ports.ts';
import { type Emit } from '../../kernel/emit.ts';
import { isFault, nameOf } from '../../kernel/fault.ts';
import { type RecordSpan } from '../../kernel/tracing.ts';
import { type FraudScore } from '../../screening/avro.generated.ts';
import { toScoreRecord } from './record.ts';

/** Where scores go. */
export interface ScoreOutput {
  readonly topic: string;
  readonly encoder: ValueEncoder<FraudScore>;
  readonly writer: RecordWriter;
  /** For one write. */
  readonly deadlineMs: number;
}

/** The parts that a score that is too large goes without, in this order: what is furthest from the decision first. */
const TRIMS: readonly { readonly dropped: 'extra' | 'signals'; readonly without: Partial<FraudScore> }[] = [
  { dropped: 'extra', without: { extra: '{}' } },
  { dropped: 'signals', without: { extra: '{}', signals: null } },
];

/** What became of a publication; `waits`: to be tried again when that neighbour is back. */
export type Published =
  | { readonly do: 'written' }
  | { readonly do: 'refused'; readonly why: 'too_large' | 'invalid' }
  | { readonly do: 'waits'; readonly why: 'kafka' | 'registry'; readonly error: string };

/** Writes the score of a payment, in full if Kafka takes it. Never rejects: whoever has a score must not ask for it again. */
export async function publishScore(
  output: ScoreOutput,
  source: SourceRecord,
  score: FraudScore,
  { emit, span }: { readonly emit: Emit; readonly span: RecordSpan },
): Promise<Published> {
  let published = await publishOnce(output, source, score, span);
  for (const { dropped, without } of TRIMS) {
    if (published.do !== 'refused' || published.why !== 'too_large') return published;
    emit('score_trimmed', { dropped });
    published = await publishOnce(output, source, { ...score, ...without }, span);
  }
  return published;
}

async function publishOnce(
  output: ScoreOutput,
  source: SourceRecord,
  score: FraudScore,
  span: RecordSpan,
): Promise<Published> {
  let value: Buffer;
  try {
    value = output.encoder.encode(score);
  } catch (error) {
    // An encoder that has not learnt its schema id yet says so by this fault; any other means that it never will.
    return isFault(error, 'REGISTRY_FAILED')
      ? { do: 'waits', why: 'registry', error: nameOf(error) }
      : { do: 'refused', why: 'invalid' };
  }
  const send = span.send(output.topic);
  const record = toScoreRecord(output.topic, source, { score, value, trace: send.context });
  const outcome = await output.writer.write(record, output.deadlineMs);
  send.end(outcome);
  return outcome.do === 'unavailable' ? { do: 'waits', why: 'kafka', error: outcome.error } : outcome;
}
