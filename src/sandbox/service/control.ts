import { type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ACTIVITY_STATUSES, type ActivityFilter, type ActivityLog } from './activity.ts';
import { type Answer, errorAnswer } from './api.ts';
import { type Faults, type FaultSettings, readFaults } from './faults.ts';
import { parseObject } from './json.ts';
import { type Ledger } from './ledger.ts';
import { REVIEW_DECISIONS, type Reviews } from './reviews.ts';
import { timestampDefect } from './timestamp.ts';

export interface ControlRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Buffer;
}

export interface ControlParts {
  readonly faults: { get(): Faults; set(settings: FaultSettings): void };
  readonly ledger: Ledger;
  readonly reviews: Reviews;
  readonly activity: ActivityLog;
  readonly reset: () => void;
}

type Handler = (request: ControlRequest, parts: ControlParts) => Answer;

/** One row an endpoint; docs/sandbox.md shows them. `GET /sandbox/ledger` is written by a stream of its own. */
const ENDPOINTS: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
  '/sandbox/faults': {
    GET: (_, { faults }) => json(faults.get()),
    PUT: setFaults,
  },
  '/sandbox/ledger': { GET: (_, { ledger }) => json(ledger.summary()) },
  '/sandbox/activity': { GET: listActivity },
  '/sandbox/reviews': { POST: decideReview },
  '/sandbox/reset': {
    POST: (_, { reset }) => {
      reset();
      return json({});
    },
  },
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
    const handler = methods?.[request.method];
    if (methods === undefined) return end(response, errorAnswer(404, 'no such endpoint of the sandbox'));
    if (handler === undefined) {
      return end(response, errorAnswer(405, 'method not allowed', { allow: Object.keys(methods).join(', ') }));
    }
    if (request.path !== '/sandbox/ledger' || request.query.get('full') !== '1') {
      return end(response, handler(request, this.#parts));
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

function decideReview({ body }: ControlRequest, { reviews }: ControlParts): Answer {
  const wish = parseObject(body);
  if (wish === null) return errorAnswer(400, 'the body must be a JSON object');
  const { trans_id: transId, decision } = wish;
  if (typeof transId !== 'string') return errorAnswer(400, 'trans_id must be a string');
  if (decision !== undefined && (typeof decision !== 'string' || !REVIEW_DECISIONS.includes(decision))) {
    return errorAnswer(400, `decision must be one of ${REVIEW_DECISIONS.join(', ')}`);
  }
  if (!reviews.decide(transId, decision)) return errorAnswer(404, 'trans_id was never scored');
  return json({});
}

function listActivity({ query }: ControlRequest, { activity }: ControlParts): Answer {
  const filter = readFilter(query);
  return typeof filter === 'string' ? errorAnswer(400, filter) : json({ events: activity.list(filter) });
}

function readFilter(query: URLSearchParams): ActivityFilter | string {
  const status = query.get('status');
  const type = query.get('type');
  const known = ACTIVITY_STATUSES.find((one) => one === status);
  if (status !== null && known === undefined) return `status must be one of ${ACTIVITY_STATUSES.join(', ')}`;
  for (const name of ['from', 'to']) {
    const time = query.get(name);
    if (time !== null && timestampDefect(time) !== null) return `${name} must be an RFC 3339 time with a zone`;
  }
  const [from, to] = [query.get('from'), query.get('to')];
  return {
    ...(known === undefined ? {} : { status: known }),
    ...(type === null ? {} : { type }),
    ...(from === null ? {} : { fromMs: Date.parse(from) }),
    ...(to === null ? {} : { toMs: Date.parse(to) }),
  };
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

function end(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body);
}
