import { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { type Clock } from '../../kernel/clock.ts';
import { type Answer, errorAnswer } from './answer.ts';
import { type ServiceApi } from './api.ts';
import { type Control } from './control.ts';
import { CALM, type FaultPlan, type Strike } from './fault-plan.ts';
import { type Ledger } from './ledger.ts';
import { type LoadGate, type Visit } from './load-gate.ts';
import { type Operation } from './operation.ts';
import { disguised } from './struck.ts';
import { leave, write } from './wire.ts';

/** A larger request is answered with 413. */
export const MAX_BODY_BYTES: number = 2 * 1024 * 1024;

export interface HttpParts {
  readonly api: ServiceApi;
  readonly control: Control;
  readonly faults: FaultPlan;
  readonly ledger: Ledger;
  readonly gate: LoadGate;
  readonly clock: Clock;
}

/** Which operation a method on a path is. A text: the path is known, the method is not, and these would be. */
function operationOf(method: string | undefined, path: string): Operation | 'control' | { allow: string } | null {
  if (path === '/api/v2/transaction') {
    return method === 'POST' ? 'score' : method === 'PATCH' ? 'sync' : { allow: 'POST, PATCH' };
  }
  if (path === '/api/v2/sessions') return method === 'POST' ? 'login' : { allow: 'POST' };
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
    if (typeof operation === 'object') {
      return refuse(request, response, errorAnswer(405, 'method not allowed', operation));
    }
    collect(request, (body) => {
      if (body === null) return refuse(request, response, errorAnswer(413, 'the request is too large'));
      if (operation !== 'control') return serve(parts, { request, response, body, operation });
      const query = new URLSearchParams(end === -1 ? '' : url.slice(end + 1));
      const accept = request.headers.accept ?? '';
      void parts.control.handle({ method: request.method ?? '', path, query, accept, body }, response);
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
  write(response, { ...answer, headers: { ...answer.headers, connection: 'close' } });
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
  readonly operation: Operation;
}

/** One request of the service's own interface, past the limits that are in force. */
function serve(parts: HttpParts, exchange: Exchange): void {
  const { faults, gate, ledger } = parts;
  const { request, response, body, operation } = exchange;
  const { maxRequestBytes, closeAfterAnswer } = faults.get();
  if (closeAfterAnswer !== null) closeAfter(response, closeAfterAnswer);
  if (maxRequestBytes !== null && body.length > maxRequestBytes) {
    return refuse(request, response, errorAnswer(413, 'the request is too large'));
  }
  if (operation === 'login') return perform(parts, exchange, 0);
  const visit: Visit = { go: (extraMs) => perform(parts, exchange, extraMs), state: 'new' };
  response.once('close', () => {
    gate.left(visit);
  });
  const refusal = gate.enter(visit);
  if (refusal === null) return;
  ledger.count('limited');
  write(response, refusal);
}

function closeAfter(response: ServerResponse, how: 'said' | 'unsaid'): void {
  if (how === 'said') {
    response.shouldKeepAlive = false;
    return;
  }
  const { socket } = response;
  response.once('finish', () => socket?.end());
}

function perform(parts: HttpParts, exchange: Exchange, extraMs: number): void {
  const { api, faults, ledger, clock } = parts;
  const { request, response, body, operation } = exchange;
  const strike = faults.strike(operation, () => api.subjectsOf(operation, body));
  if (strike !== CALM) ledger.count('struck');
  const { authorization } = request.headers;
  const right = api[operation]({ authorization, body, strike });
  const answer = strike === CALM ? right : located(disguised(right, strike, clock.nowMs()), request);
  respond(parts, response, answer, extraMs === 0 ? strike : { ...strike, delayMs: strike.delayMs + extraMs });
}

/** With a `Location` as an address. Elsewhere is another origin, and yet this machine: `localhost` for 127.0.0.1. */
function located(answer: Answer, { url, socket }: IncomingMessage): Answer {
  const location = answer.headers?.['location'];
  if (location !== 'self' && location !== 'elsewhere') return answer;
  const elsewhere = `http://localhost:${socket.localPort ?? 0}/sandbox/elsewhere`;
  return { ...answer, headers: { ...answer.headers, location: location === 'self' ? (url ?? '/') : elsewhere } };
}

function respond({ clock, ledger }: HttpParts, response: ServerResponse, answer: Answer, strike: Strike): void {
  const { open } = answer;
  const before = (): void => {
    if (open !== undefined) ledger.ended(open);
  };
  // The client may be gone before the answer: then the request is over, too.
  if (open !== undefined) response.once('close', before);
  const go = (): void => {
    leave({ response, answer, strike, clock, before });
  };
  if (strike.delayMs === 0) go();
  else response.once('close', clock.after(strike.delayMs, go));
}
