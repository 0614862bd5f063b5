import { type ServerResponse, STATUS_CODES } from 'node:http';
import { type Socket } from 'node:net';
import { type Clock } from '../../kernel/clock.ts';
import { type Answer, type Wire } from './answer.ts';
import { type Strike } from './fault-plan.ts';

/** How answers leave: at once and as HTTP wants it, or slowly, or brokenly. */
export interface Leaving {
  readonly response: ServerResponse;
  readonly answer: Answer;
  readonly strike: Strike;
  readonly clock: Clock;
  /** Called right before the last bytes leave: once a client has them, it may send its next request. */
  readonly before: () => void;
}

/** Writes an answer as HTTP wants it. */
export function write(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, headersOf(answer));
  response.end(answer.body);
}

/** Lets an answer leave as the strike has it. */
export function leave(leaving: Leaving): void {
  const { response, answer, strike } = leaving;
  if (strike.reset) response.socket?.resetAndDestroy();
  else WIRES[answer.wire ?? 'plain'](leaving);
}

const WIRES: Readonly<Record<Wire, (leaving: Leaving) => void>> = {
  plain: (leaving) => {
    const { response, answer, strike, before } = leaving;
    if (strike.slowHeadersMs > 0) writeHeadersSlowly(leaving);
    else if (strike.slowBodyMs > 0 || strike.dripMs > 0) writeBodySlowly(leaving);
    else {
      before();
      write(response, answer);
    }
  },
  hang: () => {},
  trickle,
  close: ({ response }) => {
    response.socket?.destroy();
  },
  truncated: (leaving) => {
    cutAfter(leaving, halfOf(leaving.answer), (socket) => socket.destroy());
  },
  reset_midway: (leaving) => {
    cutAfter(leaving, halfOf(leaving.answer), (socket) => socket.resetAndDestroy());
  },
  chunked: ({ response, answer, before }) => {
    const half = halfOf(answer);
    before();
    response.writeHead(answer.status, headersOf(answer));
    response.write(half);
    response.end(Buffer.from(answer.body).subarray(half.length));
  },
  chunked_cut: (leaving) => {
    cutAfter(leaving, Buffer.from(leaving.answer.body), (socket) => socket.destroy());
  },
  not_http: ({ response, before }) => {
    before();
    response.socket?.end('\u0000\u0001 this is not HTTP\r\n\r\n');
  },
};

function headersOf({ status, body, headers, declaredBytes, wire }: Answer): Record<string, string> {
  // RFC 9110, 8.6: none with 204. RFC 9112, 6.1: none with chunks, which Node makes where there is none.
  const hasLength = status !== 204 && wire !== 'chunked' && wire !== 'chunked_cut' && wire !== 'trickle';
  return {
    'content-type': 'application/json',
    ...(hasLength ? { 'content-length': String(declaredBytes ?? Buffer.byteLength(body)) } : {}),
    ...headers,
  };
}

function halfOf({ body }: Answer): Buffer {
  const whole = Buffer.from(body);
  return whole.subarray(0, Math.ceil(whole.length / 2));
}

/** Ends the connection once the headers and this much of the body are written. */
function cutAfter({ response, answer, before }: Leaving, part: Buffer, cut: (socket: Socket) => void): void {
  before();
  response.writeHead(answer.status, headersOf(answer));
  response.flushHeaders();
  response.write(part, () => {
    if (response.socket !== null) cut(response.socket);
  });
}

const TRICKLE_MS = 1000;

/** Never ends by itself. */
function trickle({ response, answer, clock }: Leaving): void {
  response.writeHead(answer.status, headersOf(answer));
  response.flushHeaders();
  const next = (): void => {
    response.write(' ');
    cancel = clock.after(TRICKLE_MS, next);
  };
  let cancel = clock.after(TRICKLE_MS, next);
  response.once('close', () => {
    cancel();
  });
}

/** Past Node's own writing, which sends status line and headers in one: the connection ends afterwards. */
function writeHeadersSlowly({ response, answer, strike, clock, before }: Leaving): void {
  const { socket } = response;
  if (socket === null) return;
  socket.write(`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? 'Unknown'}\r\n`);
  const lines = Object.entries({ ...headersOf(answer), connection: 'close' }).map(([name, text]) => `${name}: ${text}`);
  const rest = clock.after(strike.slowHeadersMs, () => {
    before();
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    socket.end(answer.body);
  });
  response.once('close', rest);
}

function writeBodySlowly({ response, answer, strike, clock, before }: Leaving): void {
  const body = Buffer.from(answer.body);
  const { slowBodyMs, dripMs } = strike;
  response.writeHead(answer.status, headersOf(answer));
  let from = dripMs > 0 ? Math.min(1, body.length) : Math.floor(body.length / 2);
  response.write(body.subarray(0, from));
  const next = (): void => {
    const to = dripMs > 0 ? from + 1 : body.length;
    if (to >= body.length) {
      before();
      response.end(body.subarray(from));
      return;
    }
    response.write(body.subarray(from, to));
    from = to;
    cancel = clock.after(dripMs, next);
  };
  let cancel = clock.after(slowBodyMs + dripMs, next);
  response.once('close', () => {
    cancel();
  });
}
