import { type WebhookResult } from '../kernel/emit.ts';
import { type WebhookReply, type WebhookStatus } from './ports.ts';

/** What each end of a webhook is answered with. 4xx says that the request was wrong, 503 that the sender should come again. */
export const STATUS_OF: Readonly<Record<WebhookResult, WebhookStatus>> = {
  published: 200,
  duplicate: 200,
  parked: 200,
  malformed: 400,
  not_an_object: 400,
  bad_signature: 401,
  bad_timestamp: 401,
  outside_window: 401,
  bad_path: 404,
  bad_method: 405,
  too_slow: 408,
  too_large: 413,
  bad_type: 415,
  unavailable: 503,
};

/** As the framework would write it: an answer must not tell who gave it. */
const JSON_TYPE = 'application/json; charset=utf-8';
/** How long the sender is asked to stay away, in seconds; its own backoff starts at 5 s (spec: Events). */
const RETRY_AFTER_SECONDS = '5';

const REPLIES: Readonly<Record<WebhookStatus, WebhookReply>> = {
  200: reply(200, '{}'),
  400: reply(400, '{"error":"bad request"}'),
  401: reply(401, '{"error":"unauthorized"}'),
  404: reply(404, '{"error":"not found"}'),
  405: reply(405, '{"error":"method not allowed"}', { allow: 'POST' }),
  408: reply(408, '{"error":"request timeout"}'),
  413: reply(413, '{"error":"content too large"}'),
  415: reply(415, '{"error":"unsupported media type"}'),
  503: reply(503, '{"error":"unavailable"}', { 'retry-after': RETRY_AFTER_SECONDS }),
};

/** The answer to a webhook that ended so: the same object for the same status, always. */
export function replyTo(result: WebhookResult): WebhookReply {
  return REPLIES[STATUS_OF[result]];
}

function reply(status: WebhookStatus, body: string, more: Readonly<Record<string, string>> = {}): WebhookReply {
  return { status, headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-store', ...more }, body };
}
