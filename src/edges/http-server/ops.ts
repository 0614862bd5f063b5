import { type FastifyRequest } from 'fastify';
import { type HealthReport } from '../../telemetry/ports.ts';
import { type Answer, type HttpServer, listen, type Trouble } from './server.ts';
import { statusPage } from './status-page.ts';

export interface OpsServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
}

/** What the connector says of itself; asked for every request. */
export interface OpsSource {
  /** False: only a restart helps. */
  live(): boolean;
  /** Whether webhooks may be sent here. */
  ready(): boolean;
  /** Whether a flow does its work; null: it is not in this process. */
  readyOf(flow: 'scoring' | 'sync' | 'reviews'): boolean | null;
  /** Plain JSON values: codes, partitions, offsets, holds; no keys, ids or texts of the service. */
  status(): HealthReport;
  /** Prometheus' text format. */
  metrics(): Promise<string>;
}

const MAX_CONNECTIONS = 128;
const TEXT = 'text/plain; charset=utf-8';
const NO_STORE = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/**
 * Serves `/livez`, `/readyz`, `/readyz/scoring`, `/readyz/sync`, `/readyz/reviews`, `/status` (JSON, or a page for people) and `/metrics`.
 * GET and HEAD only, no authentication: keep it inside. Rejects with PORT_TAKEN.
 */
export async function startOpsServer(options: OpsServerOptions, source: OpsSource): Promise<HttpServer> {
  return await listen(
    { ...options, portOption: 'OPS_PORT', maxBytes: 1, maxHeldBytes: 1, maxConnections: MAX_CONNECTIONS },
    {
      admit: ({ raw }) => (raw.method === 'GET' || raw.method === 'HEAD' ? null : METHOD_NOT_ALLOWED),
      answer: async (request) => await answerOf(request, source),
      isProof: () => false,
      trouble: (what) => TROUBLES[what],
    },
  );
}

const METHOD_NOT_ALLOWED: Answer = {
  status: 405,
  headers: { ...NO_STORE, 'content-type': TEXT, allow: 'GET, HEAD' },
  body: 'method not allowed\n',
};

const TROUBLES: Readonly<Record<Trouble, Answer>> = {
  malformed: text(400, 'bad request'),
  too_slow: text(408, 'request timeout'),
  too_large: text(413, 'content too large'),
  bad_path: text(404, 'not found'),
  bad_method: METHOD_NOT_ALLOWED,
  bad_type: text(415, 'unsupported media type'),
  crowded: text(503, 'too many connections'),
  failed: text(500, 'failed'),
};

async function answerOf({ raw }: FastifyRequest, source: OpsSource): Promise<Answer> {
  switch ((raw.url ?? '').split('?', 1)[0]) {
    case '/livez':
      return probe(source.live(), 'live');
    case '/readyz':
      return probe(source.ready(), 'ready');
    case '/readyz/scoring':
      return flowProbe(source.readyOf('scoring'));
    case '/readyz/sync':
      return flowProbe(source.readyOf('sync'));
    case '/readyz/reviews':
      return flowProbe(source.readyOf('reviews'));
    case '/status':
      return status(source.status(), raw.headers.accept, EVERY.exec(raw.url ?? '')?.[1]);
    case '/metrics':
      return { status: 200, headers: METRICS_HEADERS, body: await source.metrics() };
    default:
      return TROUBLES.bad_path;
  }
}

const METRICS_HEADERS = { ...NO_STORE, 'content-type': 'text/plain; version=0.0.4; charset=utf-8' } as const;

function text(code: number, body: string): Answer {
  return { status: code, headers: { ...NO_STORE, 'content-type': TEXT }, body: `${body}\n` };
}

function probe(is: boolean, what: string): Answer {
  return is ? text(200, what) : text(503, `not ${what}`);
}

function flowProbe(is: boolean | null): Answer {
  return is === null ? text(404, 'not in this process') : probe(is, 'ready');
}

/** `?every=5`: the page asks for itself again so often, in seconds. */
const EVERY = /[?&]every=([1-9]\d{0,3})(?:&|$)/;

function status(report: HealthReport, accept: string | undefined, every: string | undefined): Answer {
  if (accept?.includes('text/html') !== true)
    return { status: 200, headers: JSON_HEADERS, body: `${JSON.stringify(report)}\n` };
  const page = statusPage(report, { everySeconds: every === undefined ? null : Number(every) });
  return { status: 200, headers: PAGE_HEADERS, body: page };
}

const JSON_HEADERS = { ...NO_STORE, 'content-type': 'application/json', vary: 'accept' } as const;
const PAGE_HEADERS = {
  ...NO_STORE,
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  vary: 'accept',
} as const;
