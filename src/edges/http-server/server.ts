import { once } from 'node:events';
import { type Server } from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';
import { type Duplex } from 'node:stream';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type WebhookTlsFailure } from '../../kernel/emit.ts';
import { Fault, nameOf } from '../../kernel/fault.ts';
import { type Certificate } from './certificate.ts';
import { BACKLOG, createListener, REQUEST_TIMEOUT_MS, stopAccepting } from './listener.ts';
import { Places } from './places.ts';
import { renewCertificate, tlsFailureOf } from './tls.ts';

/** All of an answer. `headers` has no `content-length`: it follows from the body. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What goes wrong with a request before there is one to answer. `crowded`: somebody else gets its place; `failed`: the handler threw. */
export type Trouble =
  | 'malformed'
  | 'too_slow'
  | 'too_large'
  | 'bad_path'
  | 'bad_method'
  | 'bad_type'
  | 'crowded'
  | 'failed';

export interface HttpServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The option that sets the port, for the message when it is taken. */
  readonly portOption: string;
  /** Largest body, in bytes. */
  readonly maxBytes: number;
  /** When there are more, those that have proven nothing go first. */
  readonly maxConnections: number;
  /** What bodies may take together, in bytes: those that are being read and those that are worked on. */
  readonly maxHeldBytes: number;
  /** From a request's first byte to its last, body included; 2000 unless told. */
  readonly requestTimeoutMs?: number;
  /** Null or absent: plain HTTP. */
  readonly certificate?: Certificate | null;
}

/** Promises memory to the body of a request until its answer has gone out; false: there is none. */
export type Hold = (bytes: number) => boolean;

export interface HttpHandlers {
  /** Once the head of a request is there, its body not yet: an answer now, or null to read the body. */
  admit(request: FastifyRequest, hold: Hold): Answer | null;
  /** With the body, whole and as it came. */
  answer(request: FastifyRequest, body: Buffer): Promise<Answer>;
  /** Whether who got this answer is known by it: its connection is kept before those of strangers. */
  isProof(answer: Answer): boolean;
  trouble(what: Trouble): Answer;
  /** A connection ended before there was TLS on it; nobody can be answered. */
  tlsFailed?(why: WebhookTlsFailure): void;
}

export interface HttpServer {
  /** `http://host:port` or `https://host:port`, with the port that is really listened on. */
  readonly url: string;
  /** Connections that begin from now on are shown this certificate; without TLS from the start it does nothing. */
  renew(certificate: Certificate): void;
  /** Goes on as before, but each answer ends its connection, so that its peer looks for another server. */
  drain(): void;
  /**
   * Accepts no more connections, and resolves when the last one has ended: requests of which something has come are
   * answered, or cut off at their time limit. Calling it again waits for the same end.
   */
  close(): Promise<void>;
}

/**
 * Listens, with every limit set: nothing a peer sends or withholds may cost more than its share of memory, time or
 * connections. Every answer is one of `handlers`; none is the framework's. Rejects with PORT_TAKEN.
 */
export async function listen(options: HttpServerOptions, handlers: HttpHandlers): Promise<HttpServer> {
  const running = new Running();
  const places = new Places({
    ...options,
    cutOff: (socket, waits) => {
      // Behind answers that it has not read it would not read this one.
      if (waits && socket.writable && socket.writableLength === 0) answerRaw(socket, handlers.trouble('crowded'));
      else socket.destroy();
    },
  });
  const app = createApp(options, handlers, running, places);
  app.addHook('onRequest', (request, reply, done) => {
    running.add(reply);
    const refusal = refuse(request, holdFor(places, request, reply), handlers);
    if (refusal === null) done();
    // The body is not read, so the connection cannot be used again.
    else send(reply.header('connection', 'close'), refusal);
  });
  const answer = (request: FastifyRequest, reply: FastifyReply): void => {
    const { socket } = request.raw;
    places.begin(socket);
    void respond(request, handlers).then((whole) => {
      places.end(socket, handlers.isProof(whole));
      if (running.isDraining) reply.header('connection', 'close');
      send(reply, whole);
    });
  };
  app.route({ method: ['GET', 'HEAD', 'POST'], url: '*', handler: answer });
  app.setNotFoundHandler(answer);
  const url = await bind(app, options);
  let closed: Promise<void> | undefined;
  return {
    url,
    renew: (certificate) => {
      renewCertificate(app.server, certificate);
    },
    drain: () => {
      running.isDraining = true;
    },
    close: async () => {
      // Whoever does not read its answer would hold the end up for ever; a request that is too slow gets its answer before.
      places.endSilent(3 * (options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS));
      await (closed ??= close(app, running));
    },
  };
}

function createApp(
  options: HttpServerOptions,
  handlers: HttpHandlers,
  running: Running,
  places: Places,
): FastifyInstance {
  const app = Fastify({
    logger: false,
    bodyLimit: options.maxBytes,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    serverFactory: (handler) =>
      createListener(
        {
          requestTimeoutMs: options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS,
          maxConnections: options.maxConnections,
          certificate: options.certificate ?? null,
        },
        handler,
      ),
    clientErrorHandler: (error, socket) => {
      answerError(socket, error.code, handlers);
    },
    frameworkErrors: (_error, request, reply) => {
      running.add(reply);
      const refusal = refuse(request, holdFor(places, request, reply), handlers);
      send(reply.header('connection', 'close'), refusal ?? handlers.trouble('bad_path'));
    },
  });
  places.watch(app.server, (options.certificate ?? null) !== null);
  answerWhatNodeWould(app.server, handlers);
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

/** What never becomes a request of the framework's: Node would answer it by itself, uncounted, or not at all. */
function answerWhatNodeWould(server: Server, handlers: HttpHandlers): void {
  server.on('connect', (_request, socket: Duplex) => {
    // Node has let go of it: nobody else hears that its peer has reset it, and an error that nobody hears ends the process.
    socket.on('error', () => socket.destroy());
    answerRaw(socket, handlers.trouble('bad_method'));
  });
  server.on('checkExpectation', (_request, response) => {
    const { status, headers, body } = handlers.trouble('malformed');
    response
      .writeHead(status, { ...headers, connection: 'close', 'content-length': Buffer.byteLength(body) })
      .end(body);
  });
}

/** By Node's own `listen`: the framework's would open a second server, without our limits, for a host of several addresses. */
async function bind(app: FastifyInstance, options: HttpServerOptions): Promise<string> {
  const { host, port, portOption } = options;
  await app.ready();
  try {
    app.server.listen({ host, port, backlog: BACKLOG });
    await once(app.server, 'listening');
  } catch (error) {
    await app.close();
    throw new Fault(
      'PORT_TAKEN',
      `${portOption}: cannot listen on ${host} port ${port} (${nameOf(error)}). Choose another port.`,
      { cause: error },
    );
  }
  return urlOf(app.server.address(), (options.certificate ?? null) === null ? 'http' : 'https');
}

function urlOf(address: AddressInfo | string | null, scheme: 'http' | 'https'): string {
  if (address === null || typeof address === 'string') throw new Fault('INTERNAL', 'The server listens on no port.');
  const reachable = address.address === '0.0.0.0' ? '127.0.0.1' : address.address === '::' ? '::1' : address.address;
  return `${scheme}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${address.port}`;
}

/** Requests whose head has come and whose answer has not gone out whole. */
class Running {
  /** Answers end their connections. */
  isDraining = false;
  #count = 0;
  #onNone: (() => void) | undefined;

  add(reply: FastifyReply): void {
    this.#count += 1;
    // `on`: it comes once by itself, and `once` costs a function and a removal more for each request.
    reply.raw.on('close', () => {
      this.#count -= 1;
      if (this.#count === 0) this.#onNone?.();
    });
  }

  /** Calls back now, if there is none, and each time when there is none again. */
  wheneverNone(task: () => void): void {
    this.#onNone = task;
    if (this.#count === 0) task();
  }
}

async function close(app: FastifyInstance, running: Running): Promise<void> {
  running.isDraining = true;
  const ended = once(app.server, 'close');
  // Node's own close would stop to look at its time limits, and a request that never comes whole would hold the end up.
  stopAccepting(app.server);
  // Only when no answer is on its way out: an idle connection is one whose answer was given, not one that has got it.
  running.wheneverNone(() => {
    app.server.closeIdleConnections();
  });
  await ended;
  app.server.close();
  await app.close();
}

async function respond(request: FastifyRequest, handlers: HttpHandlers): Promise<Answer> {
  try {
    return await handlers.answer(request, request.body as Buffer);
  } catch {
    return handlers.trouble('failed');
  }
}

function send(reply: FastifyReply, answer: Answer): void {
  reply.code(answer.status).headers(answer.headers).send(answer.body);
}

/** What is refused for its head alone. */
function refuse(request: FastifyRequest, hold: Hold, handlers: HttpHandlers): Answer | null {
  return refuseHead(request, handlers) ?? handlers.admit(request, hold);
}

function holdFor(places: Places, { raw }: FastifyRequest, reply: FastifyReply): Hold {
  return (bytes) => {
    const release = places.hold(raw.socket, bytes);
    if (release !== null) reply.raw.on('close', release);
    return release !== null;
  };
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

/** What Node could not make a request of, or was not sent in time, or never became TLS. */
function answerError(socket: Socket, code: string | undefined, handlers: HttpHandlers): void {
  const tls = tlsFailureOf(code);
  if (tls !== null) {
    socket.destroy();
    handlers.tlsFailed?.(tls);
    return;
  }
  // Gone, or a connection that never said anything: nobody waits for an answer.
  if (code === 'ECONNRESET' || !socket.writable || socket.bytesRead === 0) socket.destroy();
  else answerRaw(socket, handlers.trouble(code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 'too_slow' : 'malformed'));
}

function answerRaw(socket: Duplex, { status, headers, body }: Answer): void {
  const all = { ...headers, 'content-length': String(Buffer.byteLength(body)), connection: 'close' };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} \r\n${lines.join('')}\r\n${body}`, () => {
    socket.destroy();
  });
}
