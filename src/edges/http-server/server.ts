import { once } from 'node:events';
import { type AddressInfo, type Socket } from 'node:net';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { Fault, nameOf } from '../../kernel/fault.ts';

/** All of an answer. `headers` has no `content-length`: it follows from the body. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What goes wrong with a request before there is one to answer. `failed`: the handler threw. */
export type Trouble = 'malformed' | 'too_slow' | 'too_large' | 'bad_path' | 'bad_type' | 'failed';

export interface HttpServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The option that sets the port, for the message when it is taken. */
  readonly portOption: string;
  /** Largest body, in bytes. */
  readonly maxBytes: number;
  readonly maxConnections: number;
  /** From a request's first byte to its last, body included; 2000 unless told. */
  readonly requestTimeoutMs?: number;
}

export interface HttpHandlers {
  /** Once the head of a request is there, its body not yet: an answer now, or null to read the body. */
  admit(request: FastifyRequest, reply: FastifyReply): Answer | null;
  /** With the body, whole and as it came. */
  answer(request: FastifyRequest, body: Buffer): Promise<Answer>;
  trouble(what: Trouble): Answer;
}

export interface HttpServer {
  /** `http://host:port`, with the port that is really listened on. */
  readonly url: string;
  /** Accepts nothing more, lets what runs end, then closes every connection. Calling it again waits for the same end. */
  close(): Promise<void>;
}

const REQUEST_TIMEOUT_MS = 2000;
/** How often the two are looked at: a slow sender is cut off this much late at most. */
const TIMEOUT_CHECK_MS = 250;
/** Longer than the 60 s of common load balancers: whoever reuses a connection must be the one that ends idle ones. */
const KEEP_ALIVE_MS = 75_000;
const MAX_HEAD_BYTES = 8192;
const MAX_REQUESTS_PER_SOCKET = 10_000;

/**
 * Listens, with every limit set: nothing a peer sends or withholds may cost more than its share of memory, time or
 * connections. Every answer is one of `handlers`; none is the framework's. Rejects with PORT_TAKEN.
 */
export async function listen(options: HttpServerOptions, handlers: HttpHandlers): Promise<HttpServer> {
  const app = createApp(options, handlers);
  const running = new Running();
  app.addHook('onRequest', (request, reply, done) => {
    const refusal = refuseHead(request, handlers) ?? handlers.admit(request, reply);
    if (refusal === null) done();
    // The body is not read, so the connection cannot be used again.
    else send(reply.header('connection', 'close'), refusal);
  });
  const answer = (request: FastifyRequest, reply: FastifyReply): void => {
    running.add(reply);
    void respond(request, reply, handlers);
  };
  app.route({ method: ['GET', 'HEAD', 'POST'], url: '*', handler: answer });
  app.setNotFoundHandler(answer);
  const url = await bind(app, options);
  let closed: Promise<void> | undefined;
  return { url, close: async () => await (closed ??= close(app, running)) };
}

function createApp(options: HttpServerOptions, handlers: HttpHandlers): FastifyInstance {
  const requestTimeout = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS;
  const app = Fastify({
    logger: false,
    bodyLimit: options.maxBytes,
    requestTimeout,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionTimeout: 0,
    maxRequestsPerSocket: MAX_REQUESTS_PER_SOCKET,
    forceCloseConnections: false,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    http: {
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      maxHeaderSize: MAX_HEAD_BYTES,
      // Checked by `refuseHead`: Node's own answer would go out uncounted.
      requireHostHeader: false,
    },
    clientErrorHandler: (error, socket) => {
      answerRaw(socket, error.code, handlers);
    },
    frameworkErrors: (_error, _request, reply) => {
      send(reply.header('connection', 'close'), handlers.trouble('bad_path'));
    },
  });
  app.server.maxConnections = options.maxConnections;
  // Node would answer 417 by itself.
  app.server.on('checkExpectation', (_request, response) => {
    const { status, headers, body } = handlers.trouble('malformed');
    response
      .writeHead(status, { ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) })
      .end(body);
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => {
    done(null, body);
  });
  app.setErrorHandler((error, request, reply) => {
    // Cut off by the peer, or by a limit that has answered already: there is nobody left to answer.
    if (request.raw.socket.destroyed || request.raw.errored !== null) reply.hijack();
    else send(reply.header('connection', 'close'), handlers.trouble(troubleOf(error)));
  });
  return app;
}

/** By Node's own `listen`: the framework's would open a second server, without our limits, for a host of several addresses. */
async function bind(app: FastifyInstance, options: HttpServerOptions): Promise<string> {
  const { host, port, portOption } = options;
  await app.ready();
  try {
    app.server.listen({ host, port });
    await once(app.server, 'listening');
  } catch (error) {
    await app.close();
    throw new Fault(
      'PORT_TAKEN',
      `${portOption}: cannot listen on ${host} port ${port} (${nameOf(error)}). Choose another port.`,
      { cause: error },
    );
  }
  return urlOf(app.server.address());
}

function urlOf(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new Fault('INTERNAL', 'The server listens on no port.');
  const reachable = address.address === '0.0.0.0' ? '127.0.0.1' : address.address === '::' ? '::1' : address.address;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${address.port}`;
}

/** Requests that have come whole and are not answered yet. */
class Running {
  #count = 0;
  #ended: (() => void) | undefined;

  add(reply: FastifyReply): void {
    this.#count += 1;
    reply.raw.once('close', () => {
      this.#count -= 1;
      if (this.#count === 0) this.#ended?.();
    });
  }

  async none(): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      this.#ended = resolve;
    });
  }
}

async function close(app: FastifyInstance, running: Running): Promise<void> {
  const closing = app.close();
  await running.none();
  // Node stops to look at its time limits once it closes, so a half-sent request would hold the end up for ever.
  app.server.closeAllConnections();
  await closing;
}

async function respond(request: FastifyRequest, reply: FastifyReply, handlers: HttpHandlers): Promise<void> {
  let answer: Answer;
  try {
    answer = await handlers.answer(request, request.body as Buffer);
  } catch {
    answer = handlers.trouble('failed');
  }
  send(reply, answer);
}

function send(reply: FastifyReply, answer: Answer): void {
  reply
    .code(answer.status)
    .headers({ ...answer.headers })
    .send(answer.body);
}

/** Node's parser takes HTTP/0.9; a missing host is left to us. */
function refuseHead({ raw }: FastifyRequest, handlers: HttpHandlers): Answer | null {
  const isWhole = raw.httpVersion === '1.0' || (raw.httpVersion === '1.1' && raw.headers.host !== undefined);
  return isWhole ? null : handlers.trouble('malformed');
}

function troubleOf(error: unknown): Trouble {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return 'too_large';
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return 'bad_type';
  return code === 'FST_ERR_CTP_INVALID_CONTENT_LENGTH' ? 'malformed' : 'failed';
}

/** What Node could not make a request of, or was not sent in time. */
function answerRaw(socket: Socket, code: string | undefined, handlers: HttpHandlers): void {
  // Gone, or a connection that never said anything: nobody waits for an answer.
  if (code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) {
    socket.destroy();
    return;
  }
  const answer = handlers.trouble(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : 'malformed');
  const headers = { ...answer.headers, 'content-length': String(Buffer.byteLength(answer.body)), connection: 'close' };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${answer.status} \r\n${lines.join('')}\r\n${answer.body}`, () => {
    socket.destroy();
  });
}
