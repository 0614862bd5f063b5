import { type RecordWriter, type SourceRecord, type ValueEncoder, type WriteOutcome } from '../../engine/ports.ts';
import { type Emit } from '../../kernel/emit.ts';
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

/** Writes the score of a payment, in full if Kafka takes it. Never rejects, as the writer does not. */
export async function publishScore(
  output: ScoreOutput,
  source: SourceRecord,
  score: FraudScore,
  emit: Emit,
): Promise<WriteOutcome> {
  let outcome = await write(output, source, score);
  for (const { dropped, without } of TRIMS) {
    if (outcome.do !== 'refused' || outcome.why !== 'too_large') return outcome;
    emit('score_trimmed', { dropped });
    outcome = await write(output, source, { ...score, ...without });
  }
  return outcome;
}

async function write(output: ScoreOutput, source: SourceRecord, score: FraudScore): Promise<WriteOutcome> {
  const value = output.encoder.encode(score);
  return await output.writer.write(toScoreRecord(output.topic, source, score, value), output.deadlineMs);
}
