/** What the HTTP front and the reviews bridge say to each other. */

/** A request that came whole, on the right path, as a POST of JSON without an encoding. */
export interface WebhookRequest {
  /** Header names and values in turn, as they came on the wire: a name that occurs twice is there twice. */
  readonly rawHeaders: readonly string[];
  /** The bytes as they came; nothing may have decoded or changed them. */
  readonly body: Buffer;
}

/** Every status a webhook can be answered with. Never another 2xx (the sender reads only 200 as received), never 429. */
export type WebhookStatus = 200 | 400 | 401 | 404 | 405 | 408 | 413 | 415 | 503;

/** An answer; constant for its status, so that it says nothing of the reason. */
export interface WebhookReply {
  readonly status: WebhookStatus;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Why a request is answered before it has become a `WebhookRequest`. */
export type TransportRefusal =
  | 'bad_path'
  | 'bad_method'
  | 'bad_type'
  | 'too_large'
  | 'too_slow'
  | 'malformed'
  | 'unavailable';

/** Takes webhooks; each request ends in exactly one call of one of the two, which counts it. */
export interface WebhookReceiver {
  /** Never rejects. 200 only after Kafka has acknowledged what was published. */
  handle(request: WebhookRequest): Promise<WebhookReply>;
  refuse(why: TransportRefusal): WebhookReply;
}
