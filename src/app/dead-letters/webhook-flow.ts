import { headerText } from '../../dead-letters/read-letter.ts';
import { type Left } from '../../dead-letters/report.ts';
import {
  type Flow,
  type Job,
  type OutgoingRecord,
  type Reading,
  type RecordWriter,
  type SourceRecord,
  type Step,
} from '../../engine/ports.ts';
import { type Clock } from '../../kernel/clock.ts';
import { DELIVERED } from '../../kernel/outcome.ts';
import { parseWebhook } from '../../reviews/parse.ts';
import { eventIdOf, type ReviewRecordContext, toReviewRecord } from '../../reviews/record.ts';
import { SIGNATURE_HEADER, TIMESTAMP_HEADER, verify, type VerifyOptions } from '../../reviews/verify.ts';
import { type Review } from '../../screening/review.ts';
import { parseRfc3339 } from '../../screening/rfc3339.ts';

/** A review that was parked, verified anew. */
export interface ParkedReview {
  readonly review: Review;
  readonly extra: string;
}

export interface WebhookFlowOptions {
  readonly isChosen: (letter: SourceRecord) => boolean;
  /** A letter that stays where it is. May be told of the same one again. */
  readonly onLeft: (letter: SourceRecord, why: Left) => void;
  /** Newest first. */
  readonly secrets: () => readonly string[];
  readonly forms: Pick<VerifyOptions, 'signatureForms' | 'timestampForms'>;
  readonly context: Omit<ReviewRecordContext, 'receivedAtMs'>;
  readonly writer: RecordWriter;
  readonly publishTimeoutMs: number;
  readonly clock: Clock;
}

const AT_ONCE = 16;
const AGAIN_MS = 1000;

/**
 * Publishes parked webhooks: their signature is checked again with the secrets of now, however old their timestamp is, and
 * they are read as this version reads webhooks. What is not authentic, or still not understood, stays where it is; it is
 * never parked a second time.
 */
export class WebhookFlow implements Flow<ParkedReview, never> {
  readonly name = 'reviews';
  readonly #options: WebhookFlowOptions;
  #running = 0;

  constructor(options: WebhookFlowOptions) {
    this.#options = options;
  }

  attach(): void {}

  read(letter: SourceRecord): Reading<ParkedReview> {
    const { isChosen, onLeft } = this.#options;
    if (!isChosen(letter)) return { do: 'skip', rule: 'out_of_range' };
    const read = this.#verified(letter);
    if (typeof read !== 'string') return { do: 'item', item: read };
    onLeft(letter, read);
    return { do: 'skip', rule: 'out_of_range' };
  }

  lane({ review }: ParkedReview): string {
    return review.transactionId;
  }

  mayStart(): null {
    return null;
  }

  room(): number {
    return AT_ONCE - this.#running;
  }

  async run({ record: letter, item }: Job<ParkedReview, never>): Promise<Step<never>> {
    const { writer, publishTimeoutMs, onLeft } = this.#options;
    this.#running += 1;
    try {
      const outcome = await writer.write(this.#toRecord(letter, item), publishTimeoutMs);
      if (outcome.do === 'written') return DELIVERED;
      if (outcome.do === 'unavailable') return { do: 'wait', forMs: AGAIN_MS, why: 'kafka' };
      onLeft(letter, 'refused_by_kafka');
      return { do: 'skip', rule: 'out_of_range' };
    } finally {
      this.#running -= 1;
    }
  }

  due(): number | null {
    return null;
  }

  tick(): void {}

  barrier(): void {}

  #verified({ headers, value }: SourceRecord): ParkedReview | Left {
    const { secrets, forms, clock } = this.#options;
    const rawHeaders = [SIGNATURE_HEADER, TIMESTAMP_HEADER].flatMap((name) => {
      const text = headerText(headers, name);
      return text === null ? [] : [name, text];
    });
    const options = { ...forms, toleranceSeconds: null };
    const webhook = verify({ rawHeaders, body: value ?? Buffer.alloc(0) }, secrets(), options, clock.nowMs());
    if ('refuse' in webhook) return webhook.refuse === 'not_an_object' ? 'still_unrecognised' : 'bad_signature';
    const reading = parseWebhook(webhook);
    return reading.do === 'review' ? { review: reading.review, extra: reading.extra } : 'still_unrecognised';
  }

  /** It was received when it was parked. */
  #toRecord({ headers }: SourceRecord, { review, extra }: ParkedReview): OutgoingRecord {
    const { context, clock } = this.#options;
    const micros = parseRfc3339(headerText(headers, 'dlq.failed_at') ?? '');
    const receivedAtMs = micros === null ? clock.nowMs() : Math.floor(micros / 1000);
    return toReviewRecord(review, extra, eventIdOf(review), { ...context, receivedAtMs });
  }
}
