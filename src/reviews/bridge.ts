import { hash, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type RecordWriter, type ValueEncoder } from '../engine/ports.ts';
import { type Clock, within } from '../kernel/clock.ts';
import { type Emit, type WebhookResult } from '../kernel/emit.ts';
import { isFault, nameOf } from '../kernel/fault.ts';
import { type HoldCause } from '../kernel/outcome.ts';
import { type Tracing, type WebhookSpan } from '../kernel/tracing.ts';
import { type FraudReview } from '../screening/avro.generated.ts';
import { parseWebhook, type WebhookReading } from './parse.ts';
import { type TransportRefusal, type WebhookReceiver, type WebhookReply, type WebhookRequest } from './ports.ts';
import { eventIdOf, toReviewRecord } from './record.ts';
import { replyTo, STATUS_OF } from './reply.ts';
import { senderOf } from './sender.ts';
import {
  type ProofFacts,
  type SignatureForm,
  type TimestampForm,
  toKeys,
  type VerifiedWebhook,
  verify,
} from './verify.ts';

export interface ReviewsBridgeOptions {
  readonly signatureForms: readonly SignatureForm[];
  readonly timestampForms: readonly TimestampForm[];
  readonly toleranceSeconds: number;
  /** How long Kafka may take to acknowledge before the sender is asked to come again. */
  readonly publishTimeoutMs: number;
}

export interface ReviewsBridgeDeps {
  /** Newest first; asked for every webhook, so that rotation needs no restart. The same list as long as nothing changes. */
  readonly secrets: () => readonly string[];
  readonly writer: RecordWriter;
  /** May throw REGISTRY_FAILED as long as its schema's id is not known: the sender is asked to come again. */
  readonly encoder: ValueEncoder<FraudReview>;
  readonly topic: string;
  readonly account: string;
  /** `ce_source` */
  readonly source: string;
  /** Keeps an authentic webhook that this version does not understand; `field`: the JSON pointer that was not understood. */
  readonly park: (webhook: VerifiedWebhook, field: string) => Promise<'written' | HoldCause>;
  /** Absent: nothing is traced. */
  readonly tracing?: Tracing | undefined;
  readonly clock: Clock;
  readonly emit: Emit;
  readonly options: ReviewsBridgeOptions;
}

/** What is published of a webhook. */
type ReviewReading = Pick<Extract<WebhookReading, { readonly do: 'review' }>, 'review' | 'extra'>;

/** How many acknowledged events are remembered, to answer their repeats without a second record. */
const REMEMBERED_EVENTS = 100_000;

/**
 * From webhook to topic: verify, parse, publish, and only then 200 (spec: Webhook event delivery). What is not authentic
 * is never published; what is authentic and unknown is parked, because a 4xx would burn the sender's retries.
 */
export function createReviewsBridge(deps: ReviewsBridgeDeps): WebhookReceiver {
  return new ReviewsBridge(deps);
}

class ReviewsBridge implements WebhookReceiver {
  readonly #deps: ReviewsBridgeDeps;
  /** True once Kafka has acknowledged. */
  readonly #inFlight = new Map<string, Promise<boolean>>();
  /** The secrets that `#keys` are of. */
  #secrets: readonly string[] = [];
  #keys: readonly KeyObject[] = [];
  readonly #acknowledged = new LRUCache<string, true>({ max: REMEMBERED_EVENTS });

  constructor(deps: ReviewsBridgeDeps) {
    this.#deps = deps;
  }

  async handle(request: WebhookRequest): Promise<WebhookReply> {
    const { clock } = this.#deps;
    const wholeAtMs = clock.monotonicMs();
    const result = await this.#take(request);
    return this.#end(result, clock.monotonicMs() - wholeAtMs);
  }

  refuse(why: TransportRefusal): WebhookReply {
    return this.#end(why, 0);
  }

  #end(result: WebhookResult, afterMs: number): WebhookReply {
    const reply = replyTo(result);
    this.#deps.emit('webhook', { result, status: reply.status, afterMs });
    return reply;
  }

  #tellProof({ signatureForm, timestampForm, secretIndex, skewMs }: ProofFacts, window: 'inside' | 'outside'): void {
    const secret = secretIndex === 0 ? 'newest' : 'older';
    this.#deps.emit('webhook_verified', { signatureForm, timestampForm, secret, window, skewMs });
  }

  async #take(request: WebhookRequest): Promise<WebhookResult> {
    const { options, clock } = this.#deps;
    try {
      const webhook = verify(request, this.#currentKeys(), options, clock.nowMs());
      if ('refuse' in webhook) {
        if (webhook.refuse === 'outside_window') this.#tellProof(webhook, 'outside');
        return webhook.refuse;
      }
      this.#tellProof(webhook, 'inside');
      const { tracing = null } = this.#deps;
      return await (tracing === null ? this.#keep(webhook, null) : this.#keepTraced(webhook, request, tracing));
    } catch (error) {
      return this.#broken(error);
    }
  }

  /** Prepared anew when the secrets have changed. */
  #currentKeys(): readonly KeyObject[] {
    const secrets = this.#deps.secrets();
    if (secrets !== this.#secrets) {
      this.#keys = toKeys(secrets);
      this.#secrets = secrets;
    }
    return this.#keys;
  }

  /** Only what is authentic: strangers could fill the queue of what is told. */
  async #keepTraced(webhook: VerifiedWebhook, request: WebhookRequest, tracing: Tracing): Promise<WebhookResult> {
    const span = tracing.webhook(senderOf(request));
    let result: WebhookResult = 'unavailable';
    try {
      result = await this.#keep(webhook, span);
      return result;
    } finally {
      span.end(result, STATUS_OF[result]);
    }
  }

  async #keep(webhook: VerifiedWebhook, span: WebhookSpan | null): Promise<WebhookResult> {
    const reading = parseWebhook(webhook);
    switch (reading.do) {
      case 'not_an_object':
        return 'not_an_object';
      case 'unrecognised':
        return await this.#once(
          'parked',
          bodyIdOf(webhook.body),
          async () => (await this.#deps.park(webhook, reading.field)) === 'written',
        );
      case 'review': {
        const eventId = eventIdOf(reading.review);
        return await this.#once('published', eventId, async () => await this.#publish(eventId, reading, span));
      }
    }
  }

  /** One write for an event, however often it comes at once; none for one that was acknowledged lately. */
  async #once(first: 'published' | 'parked', id: string, write: () => Promise<boolean>): Promise<WebhookResult> {
    if (this.#acknowledged.get(id) === true) return 'duplicate';
    const joined = this.#inFlight.get(id);
    if (joined === undefined) {
      const ends = this.#run(id, write);
      this.#inFlight.set(id, ends);
      // The writer keeps the deadline.
      return (await ends) ? first : 'unavailable';
    }
    // Its deadline began earlier than this webhook's.
    const acknowledged = await within(this.#deps.clock, this.#deps.options.publishTimeoutMs, joined);
    return acknowledged === true ? 'duplicate' : 'unavailable';
  }

  /** Never rejects, so nobody has to listen when all who waited have been answered. */
  async #run(id: string, write: () => Promise<boolean>): Promise<boolean> {
    try {
      const acknowledged = await write();
      if (acknowledged) this.#acknowledged.set(id, true);
      return acknowledged;
    } catch (error) {
      this.#broken(error);
      return false;
    } finally {
      this.#inFlight.delete(id);
    }
  }

  async #publish(eventId: string, { review, extra }: ReviewReading, span: WebhookSpan | null): Promise<boolean> {
    const { topic, account, source, encoder, clock, writer, options } = this.#deps;
    const send = span?.send(topic) ?? null;
    const trace = send?.context ?? null;
    const context = { topic, account, source, encoder, receivedAtMs: clock.nowMs(), trace };
    const outcome = await writer.write(toReviewRecord(review, extra, eventId, context), options.publishTimeoutMs);
    send?.end(outcome);
    return outcome.do === 'written';
  }

  /** The sender keeps the event and comes again; a person is told, unless the registry is merely away. */
  #broken(error: unknown): 'unavailable' {
    if (!isFault(error, 'REGISTRY_FAILED')) this.#deps.emit('flow_broken', { flow: 'reviews', error: nameOf(error) });
    return 'unavailable';
  }
}

/** Marks a body among event ids, which are bare hexadecimal digits. */
function bodyIdOf(body: Buffer): string {
  return `body:${hash('sha256', body, 'hex')}`;
}
