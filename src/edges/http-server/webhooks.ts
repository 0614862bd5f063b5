import { type FastifyRequest } from 'fastify';
import { type WebhookTlsFailure } from '../../kernel/emit.ts';
import { type WebhookReceiver } from '../../reviews/ports.ts';
import { type Certificate } from './certificate.ts';
import { type Answer, type Hold, type HttpServer, listen, type Trouble } from './server.ts';

export interface WebhookServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Compared as it is written in the request, without a query. */
  readonly path: string;
  /** Largest body, in bytes. */
  readonly maxBytes: number;
  /** At once; 2048 unless told. */
  readonly maxConnections?: number;
  /** From a request's first byte to its last; 2000 unless told. */
  readonly requestTimeoutMs?: number;
  /** Null or absent: plain HTTP. */
  readonly certificate?: Certificate | null;
  /** A connection came to nothing because of its TLS. */
  readonly onTlsFailed?: (why: WebhookTlsFailure) => void;
}

/** Bodies that are being read or worked on may hold this much memory in all. */
const MAX_HELD_BYTES = 64 * 1024 * 1024;
const MAX_CONNECTIONS = 2048;

/** `application/json` with any parameters (RFC 9110, section 8.3.1). */
const JSON_TYPE = /^application\/json[\t ]*(?:;|$)/i;

/**
 * Takes webhooks from the network and hands each to `receiver`: as `handle` when it came whole and in the right form,
 * else as `refuse`. What comes before authentication costs bounded memory, time and connections, and is never limited in
 * rate, which would let a stranger shut the sender out. Rejects with PORT_TAKEN.
 */
export async function startWebhookServer(
  options: WebhookServerOptions,
  receiver: WebhookReceiver,
): Promise<HttpServer> {
  const { path, maxBytes, maxConnections = MAX_CONNECTIONS } = options;
  // One body of the largest size must always fit.
  const maxHeldBytes = Math.max(MAX_HELD_BYTES, maxBytes);
  return await listen(
    { ...options, portOption: 'WEBHOOK_PORT', maxConnections, maxHeldBytes },
    {
      admit: (request, hold) => admit(request, { path, maxBytes, hold, receiver }),
      isProof: ({ status }) => status === 200,
      answer: async ({ raw }, body) => await receiver.handle({ rawHeaders: raw.rawHeaders, body }),
      trouble: (what) => receiver.refuse(REFUSAL_OF[what]),
      tlsFailed: (why) => options.onTlsFailed?.(why),
    },
  );
}

const REFUSAL_OF = {
  malformed: 'malformed',
  too_slow: 'too_slow',
  too_large: 'too_large',
  bad_path: 'bad_path',
  bad_method: 'bad_method',
  bad_type: 'bad_type',
  crowded: 'unavailable',
  failed: 'unavailable',
} as const satisfies Record<Trouble, string>;

interface Admission {
  readonly path: string;
  readonly maxBytes: number;
  readonly hold: Hold;
  readonly receiver: WebhookReceiver;
}

/** The order is part of the interface: method, path, type, encoding, size. */
function admit({ raw }: FastifyRequest, admission: Admission): Answer | null {
  const { receiver, hold } = admission;
  if (raw.method !== 'POST') return receiver.refuse('bad_method');
  if (pathOf(raw.url ?? '') !== admission.path) return receiver.refuse('bad_path');
  if (!JSON_TYPE.test(raw.headers['content-type'] ?? '')) return receiver.refuse('bad_type');
  if (!isPlain(raw.headers['content-encoding'])) return receiver.refuse('bad_type');
  const length = raw.headers['content-length'];
  if (length !== undefined && Number(length) > admission.maxBytes) return receiver.refuse('too_large');
  return hold(length === undefined ? admission.maxBytes : Number(length)) ? null : receiver.refuse('unavailable');
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** The signature is over the bytes as they came, so nothing may have to be unpacked. */
function isPlain(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.toLowerCase() === 'identity';
}
