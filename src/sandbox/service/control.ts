import { type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isFault } from '../../kernel/fault.ts';
import { type ActivityLog } from './activity.ts';
import { viewActivity, type WebhookTarget } from './activity-view.ts';
import { type Answer, errorAnswer } from './answer.ts';
import { type Faults, type FaultSettings, readFaults } from './faults.ts';
import { idOf, parseObject } from './json.ts';
import { type Ledger } from './ledger.ts';
import { REVIEW_DECISIONS, type Reviews } from './reviews.ts';
import { readSettings, type SettingsStore } from './settings.ts';
import { write } from './wire.ts';

export interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The header of that name, or empty. */
  readonly accept: string;
  readonly body: Buffer;
}

/** The endpoint that webhooks go to. Setters throw `USAGE`. */
export interface WebhookEndpoint {
  get(): WebhookTarget;
  setUrl(url: string | null): void;
  setSecret(secret: string): void;
}

export interface ControlParts {
  readonly faults: { get(): Faults; set(settings: FaultSettings): void };
  readonly settings: SettingsStore;
  readonly webhook: WebhookEndpoint;
  readonly ledger: Ledger;
  readonly reviews: Reviews;
  readonly activity: ActivityLog;
  readonly reset: () => void;
}

type Handler = (request: ControlRequest, parts: ControlParts) => Answer;

/** In one answer. */
const MAX_REVIEWS = 1000;

const ELSEWHERE: Handler = (_, { ledger }) => {
  ledger.count('redirectsFollowed');
  return json({ error_msg: 'a redirect was followed' });
};

/** One row an endpoint; docs/sandbox.md shows them. `GET /sandbox/ledger` is written by a stream of its own. */
const ENDPOINTS: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
  '/sandbox/faults': {
    GET: (_, { faults }) => json(faults.get()),
    PUT: setFaults,
  },
  '/sandbox/settings': {
    GET: (_, { settings }) => json(settings.get()),
    PUT: setSettings,
  },
  '/sandbox/webhook': {
    GET: (_, { webhook }) => json(webhook.get()),
    PUT: setWebhook,
  },
  '/sandbox/ledger': { GET: readLedger },
  '/sandbox/activity': { GET: (request, { activity, webhook }) => viewActivity(request, activity, webhook.get()) },
  '/sandbox/reviews': {
    GET: (_, { reviews }) => json({ pending: reviews.pending, list: reviews.toCome(MAX_REVIEWS) }),
    POST: decideReview,
  },
  '/sandbox/reset': {
    POST: (_, { reset }) => {
      reset();
      return json({});
    },
  },
  '/sandbox/elsewhere': { GET: ELSEWHERE, POST: ELSEWHERE, PATCH: ELSEWHERE },
};

/** The control of the sandbox: what a test or a demo asks of it beside the service's own interface. */
export class Control {
  readonly #parts: ControlParts;

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  /** Answers one request; never rejects. */
  async handle(request: ControlRequest, response: ServerResponse): Promise<void> {
    const methods = Object.hasOwn(ENDPOINTS, request.path) ? ENDPOINTS[request.path] : undefined;
    if (methods === undefined) return write(response, errorAnswer(404, 'no such endpoint of the sandbox'));
    const handler = Object.hasOwn(methods, request.method) ? methods[request.method] : undefined;
    if (handler === undefined) {
      return write(response, errorAnswer(405, 'method not allowed', { allow: Object.keys(methods).join(', ') }));
    }
    if (request.path !== '/sandbox/ledger' || request.query.get('full') !== '1') {
      return write(response, handler(request, this.#parts));
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    // A client that goes away while it reads is no defect of ours.
    await pipeline(Readable.from(fullLedger(this.#parts.ledger)), response).catch(() => {});
  }
}

function setFaults({ body }: ControlRequest, { faults }: ControlParts): Answer {
  const settings = readFaults(parseObject(body));
  if (typeof settings === 'string') return errorAnswer(400, settings);
  faults.set(settings);
  return json(faults.get());
}

function setSettings({ body }: ControlRequest, { settings }: ControlParts): Answer {
  const wish = readSettings(parseObject(body));
  if (typeof wish === 'string') return errorAnswer(400, wish);
  settings.set(wish);
  return json(settings.get());
}

function setWebhook({ body }: ControlRequest, { webhook }: ControlParts): Answer {
  const wish = parseObject(body);
  if (wish === null) return errorAnswer(400, 'the body must be a JSON object');
  const { url, secret, ...others } = wish;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) return errorAnswer(400, `${JSON.stringify(unknown)} is not known; known are url, secret`);
  if (url !== undefined && url !== null && typeof url !== 'string')
    return errorAnswer(400, 'url must be a text or null');
  if (secret !== undefined && (typeof secret !== 'string' || secret === '')) {
    return errorAnswer(400, 'secret must be a text');
  }
  try {
    if (url !== undefined) webhook.setUrl(url);
  } catch (error) {
    if (isFault(error, 'USAGE')) return errorAnswer(400, `url: ${error.message}`);
    throw error;
  }
  if (secret !== undefined) webhook.setSecret(secret);
  return json(webhook.get());
}

function readLedger({ query }: ControlRequest, { ledger }: ControlParts): Answer {
  const transId = query.get('trans_id');
  if (transId === null) return json(ledger.summary());
  const transaction = ledger.transaction(transId);
  return transaction === null ? errorAnswer(404, 'trans_id was never seen') : json(transaction);
}

function decideReview({ body }: ControlRequest, { reviews }: ControlParts): Answer {
  const wish = parseObject(body);
  if (wish === null) return errorAnswer(400, 'the body must be a JSON object');
  const { decision } = wish;
  const transId = idOf(wish['trans_id']);
  if (transId === null) return errorAnswer(400, 'trans_id must be a string, or a whole number');
  if (decision !== undefined && (typeof decision !== 'string' || !REVIEW_DECISIONS.includes(decision))) {
    return errorAnswer(400, `decision must be one of ${REVIEW_DECISIONS.join(', ')}`);
  }
  if (!reviews.decide(transId, decision)) return errorAnswer(404, 'trans_id was never scored');
  return json({});
}

/** The whole ledger as one JSON object, in pieces: with millions of transactions it is longer than a string can be. */
function* fullLedger(ledger: Ledger): Generator<string> {
  const summary = JSON.stringify({ ...ledger.summary(), recentBatches: ledger.batches() });
  yield `${summary.slice(0, -1)},"list":[`;
  let piece = '';
  let first = true;
  for (const transaction of ledger.transactions()) {
    piece += (first ? '' : ',') + JSON.stringify(transaction);
    first = false;
    if (piece.length < 65_536) continue;
    yield piece;
    piece = '';
  }
  yield `${piece}]}`;
}

function json(value: object): Answer {
  return { status: 200, body: JSON.stringify(value) };
}
