import { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type Clock } from '../../kernel/clock.ts';
import { type Answer, errorAnswer, type ServiceApi } from './api.ts';
import { type Control } from './control.ts';
import { type FaultPlan, type Operation, type Strike } from './faults.ts';
import { type Ledger } from './ledger.ts';

/** A larger request is answered with 413. */
export const MAX_BODY_BYTES: number = 2 * 1024 * 1024;

export interface HttpParts {
  readonly api: ServiceApi;
  readonly control: Control;
  readonly faults: FaultPlan;
  readonly ledger: Ledger;
  readonly clock: Clock;
}

/** Which operation a method on a path is; `method`: the path is known, the method is not. */
function operationOf(method: string | undefined, path: string): Operation | 'control' | 'method' | null {
  if (path === '/api/v2/transaction') return method === 'POST' ? 'score' : method === 'PATCH' ? 'sync' : 'method';
  if (path === '/api/v2/sessions') return method === 'POST' ? 'login' : 'method';
  return path.startsWith('/sandbox/') ? 'control' : null;
}

/** Speaks HTTP for the operations: bodies in, faults applied, answers out. Nothing here knows a rule of the service. */
export function createHandler(parts: HttpParts): RequestListener {
  return (request, response) => {
    const url = request.url ?? '/';
    const end = url.indexOf('?');
    const path = end === -1 ? url : url.slice(0, end);
    const operation = operationOf(request.method, path);
    if (operation === null) return refuse(request, response, errorAnswer(404, 'no such path'));
    if (operation === 'method') return refuse(request, response, errorAnswer(405, 'method not allowed'));
    collect(request, (body) => {
      if (body === null) return refuse(request, response, errorAnswer(413, 'the request is too large'));
      if (operation === 'control') {
        const query = new URLSearchParams(end === -1 ? '' : url.slice(end + 1));
        return void parts.control.handle({ method: request.method ?? '', path, query, body }, response);
      }
      const strike = parts.faults.strike(operation);
      const answer = parts.api[operation]({ authorization: request.headers.authorization, body, strike });
      respond(parts, response, answer, strike);
    });
  };
}

/** Hands over the whole body, or null as soon as it is too large. A request that breaks off is handed over to nobody. */
function collect(request: IncomingMessage, done: (body: Buffer | null) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    else if (bytes - chunk.length <= MAX_BODY_BYTES) done(null);
  });
  request.on('end', () => {
    if (bytes <= MAX_BODY_BYTES)
      done(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks));
  });
}

/** Answers without regard to the rest of the request; its connection is not used again. */
function refuse(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  request.resume();
  write(response, { ...answer, headers: { connection: 'close' } });
}

function respond(parts: HttpParts, response: ServerResponse, answer: Answer, strike: Strike): void {
  const { clock, ledger } = parts;
  const { open } = answer;
  if (open !== undefined) {
    // The client may be gone before the answer: then the request is over, too.
    response.once('close', () => {
      ledger.ended(open);
    });
  }
  const leave = (): void => {
    if (strike.reset) {
      response.socket?.resetAndDestroy();
      return;
    }
    if (strike.slowBodyMs > 0) {
      writeSlowly(parts, response, answer, strike.slowBodyMs);
      return;
    }
    // Before the bytes leave: once a client has them, it may send the next request of the same customer at once.
    if (open !== undefined) ledger.ended(open);
    write(response, answer);
  };
  if (strike.delayMs === 0) leave();
  else response.once('close', clock.after(strike.delayMs, leave));
}

function write(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...headers,
  });
  response.end(body);
}

function writeSlowly(parts: HttpParts, response: ServerResponse, answer: Answer, slowBodyMs: number): void {
  const body = Buffer.from(answer.body);
  const half = Math.floor(body.length / 2);
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...answer.headers,
  });
  response.write(body.subarray(0, half));
  const finish = (): void => {
    if (answer.open !== undefined) parts.ledger.ended(answer.open);
    response.end(body.subarray(half));
  };
  response.once('close', parts.clock.after(slowBodyMs, finish));
}
