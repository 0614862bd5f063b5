import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type WebhookTlsFailure } from '../../kernel/emit.ts';
import { type WebhookReceiver } from '../../reviews/ports.ts';
import { type Certificate } from './certificate.ts';
import { type Answer, type HttpServer, listen, type Trouble } from './server.ts';

export interface WebhookServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Compared as it is written in the request, without a query. */
  readonly path: string;
  /** Largest body, in bytes. */
  readonly maxBytes: number;
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
  const held = new HeldBytes(options.maxBytes);
  return await listen(
    { ...options, portOption: 'WEBHOOK_PORT', maxConnections: MAX_CONNECTIONS },
    {
      admit: (request, reply) =>
        admit(request, reply, { path: options.path, maxBytes: options.maxBytes, held, receiver }),
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
  failed: 'unavailable',
} as const satisfies Record<Trouble, string>;

interface Admission {
  readonly path: string;
  readonly maxBytes: number;
  readonly held: HeldBytes;
  readonly receiver: WebhookReceiver;
}

/** The order is part of the interface: method, path, type, encoding, size. */
function admit({ raw }: FastifyRequest, reply: FastifyReply, admission: Admission): Answer | null {
  const { receiver, held } = admission;
  if (raw.method !== 'POST') return receiver.refuse('bad_method');
  if (pathOf(raw.url ?? '') !== admission.path) return receiver.refuse('bad_path');
  if (!JSON_TYPE.test(raw.headers['content-type'] ?? '')) return receiver.refuse('bad_type');
  if (!isPlain(raw.headers['content-encoding'])) return receiver.refuse('bad_type');
  const length = raw.headers['content-length'];
  if (length !== undefined && Number(length) > admission.maxBytes) return receiver.refuse('too_large');
  const release = held.take(length === undefined ? admission.maxBytes : Number(length));
  if (release === null) return receiver.refuse('unavailable');
  reply.raw.once('close', release);
  return null;
}

function pathOf(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** The signature is over the bytes as they came, so nothing may have to be unpacked. */
function isPlain(encoding: string | undefined): boolean {
  return encoding === undefined || encoding.toLowerCase() === 'identity';
}

/** Memory promised to bodies: what they declare, or the most they may be where they declare nothing. */
class HeldBytes {
  readonly #limit: number;
  #held = 0;

  constructor(maxBytes: number) {
    // One body of the largest size must always fit.
    this.#limit = Math.max(MAX_HELD_BYTES, maxBytes);
  }

  /** Null: no room. Else gives the bytes back; call it once. */
  take(bytes: number): (() => void) | null {
    if (this.#held + bytes > this.#limit) return null;
    this.#held += bytes;
    return () => {
      this.#held -= bytes;
    };
  }
}
