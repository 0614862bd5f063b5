import { type ServerResponse, STATUS_CODES } from 'node:http';
import { type Clock } from '../../kernel/clock.ts';
import { type Answer } from './answer.ts';
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
  const { response, answer, strike, before } = leaving;
  if (strike.reset) {
    response.socket?.resetAndDestroy();
    return;
  }
  switch (answer.wire ?? 'plain') {
    case 'hang':
      return;
    case 'close':
      response.socket?.destroy();
      return;
    case 'truncated':
      truncate(leaving);
      return;
    case 'not_http':
      before();
      response.socket?.end('\u0000\u0001 this is not HTTP\r\n\r\n');
      return;
    case 'plain':
      break;
  }
  if (strike.slowHeadersMs > 0) writeHeadersSlowly(leaving);
  else if (strike.slowBodyMs > 0 || strike.dripMs > 0) writeBodySlowly(leaving);
  else {
    before();
    write(response, answer);
  }
}

function headersOf({ status, body, headers, declaredBytes }: Answer): Record<string, string> {
  return {
    'content-type': 'application/json',
    // RFC 9110, 8.6: none with 204.
    ...(status === 204 ? {} : { 'content-length': String(declaredBytes ?? Buffer.byteLength(body)) }),
    ...headers,
  };
}

function truncate({ response, answer, before }: Leaving): void {
  const body = Buffer.from(answer.body);
  before();
  response.writeHead(answer.status, headersOf(answer));
  response.write(body.subarray(0, Math.ceil(body.length / 2)), () => {
    response.socket?.destroy();
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
