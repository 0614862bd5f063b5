import { type Config } from '../config/config.ts';
import { toParkedRecord } from '../dead-letters/letter.ts';
import { type RecordWriter, type ValueEncoder } from '../engine/ports.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { createReviewsBridge } from '../reviews/bridge.ts';
import { type Tracing } from '../kernel/tracing.ts';
import { type WebhookReceiver } from '../reviews/ports.ts';
import { SIGNATURE_HEADER, TIMESTAMP_HEADER } from '../reviews/verify.ts';
import { type FraudReview } from '../screening/avro.generated.ts';
import { eventSource } from './parts.ts';
import { type Secrets } from './secrets.ts';

export interface ReviewsParts {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly connector: string;
  readonly writer: RecordWriter;
  readonly encoder: ValueEncoder<FraudReview>;
  /** Null: nothing is traced. */
  readonly tracing: Tracing | null;
  readonly clock: Clock;
  readonly emit: Emit;
}

/** The receiver of webhooks of a configuration. */
export function createReviews(parts: ReviewsParts): WebhookReceiver {
  const { config, secrets, connector, writer, encoder, clock, emit } = parts;
  const { webhook, topics, account } = config;
  const parkingTopic = `${topics.reviews}${topics.deadLetterSuffix}`;
  return createReviewsBridge({
    secrets: () => secrets.webhookSecrets(),
    writer,
    encoder,
    topic: topics.reviews,
    account,
    source: eventSource(config),
    park: async ({ body, signature, timestamp }, field) => {
      const record = toParkedRecord(
        {
          topic: parkingTopic,
          body,
          signature,
          timestamp,
          signatureHeader: SIGNATURE_HEADER,
          timestampHeader: TIMESTAMP_HEADER,
          detail: field,
        },
        { account, connector, failedAtMs: clock.nowMs() },
      );
      const outcome = await writer.write(record, webhook.publishTimeoutMs);
      if (outcome.do !== 'written') return 'dead_letter_topic';
      emit('letter_written', { topic: parkingTopic, reason: 'webhook_unrecognised' });
      return 'written';
    },
    tracing: parts.tracing ?? undefined,
    clock,
    emit,
    options: webhook,
  });
}
