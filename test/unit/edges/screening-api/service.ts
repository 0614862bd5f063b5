import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { createScreeningApi, type ScreeningApiEdge } from '../../../../src/edges/screening-api/client.ts';
import { type Credentials, type ScreeningApiSettings } from '../../../../src/edges/screening-api/settings.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

export type Answer = (request: Seen, response: ServerResponse, socket: Socket) => void;

/** A peer on loopback: gives tokens `t1`, `t2`, … and answers all else as told. */
export class Service {
  readonly seen: Seen[] = [];
  logins = 0;
  connections = 0;
  baseUrl = '';
  onLogin: Answer = (_request, response) => {
    this.logins += 1;
    response.end(JSON.stringify({ sessionToken: `t${this.logins}` }));
  };
  onCall: Answer = (_request, response) => {
    response.end('{}');
  };
  readonly #server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('error', () => {});
    incoming.on('end', () => {
      const { method = '', url: path = '', headers } = incoming;
      const request: Seen = { method, path, headers, body: Buffer.concat(chunks) };
      if (path.endsWith('/sessions')) this.onLogin(request, response, incoming.socket);
      else {
        this.seen.push(request);
        this.onCall(request, response, incoming.socket);
      }
    });
  });

  async start(): Promise<void> {
    this.#server.on('connection', () => (this.connections += 1));
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    this.baseUrl = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** The tokens of the calls, in order. */
  get tokens(): (string | undefined)[] {
    return this.seen.map(({ headers }) => headers.authorization?.replace('SessionToken ', ''));
  }
}

export interface Rig {
  readonly service: Service;
  readonly clock: ManualClock;
  readonly api: ScreeningApiEdge;
  readonly events: unknown[];
  credentials: Credentials;
  mayWrite: boolean;
  /** Called each time the fence is asked, before it answers. */
  onAsked: () => void;
}

/** A client before a running peer; both end with the test. Time moves only by the clock. */
export async function startRig(settings: Partial<ScreeningApiSettings> = {}): Promise<Rig> {
  const service = new Service();
  await service.start();
  onTestFinished(async () => {
    await service.stop();
  });
  return createRig(service, settings);
}

export function createRig(service: Service, settings: Partial<ScreeningApiSettings> = {}): Rig {
  const clock = new ManualClock();
  const events: unknown[] = [];
  const base = { version: '1.2.3', scoringConnections: 64, syncConnections: 2, timeoutMs: 5_000, syncTimeoutMs: 8_000 };
  const rig: Omit<Rig, 'api'> = {
    service,
    clock,
    events,
    credentials: { username: 'shop', password: 'secret' },
    mayWrite: true,
    onAsked: () => {},
  };
  const api = createScreeningApi(
    { baseUrl: service.baseUrl, connectTimeoutMs: 2_000, ...base, ...settings },
    {
      clock,
      draw: () => 0.5,
      emit: (event, fields) => events.push([event, fields]),
      fence: {
        mayWrite: () => {
          rig.onAsked();
          return rig.mayWrite;
        },
      },
      credentials: () => rig.credentials,
    },
  );
  onTestFinished(async () => {
    await api.close();
  });
  return Object.assign(rig, { api });
}

/** Resolves once `isSo` holds; for what a socket does in its own time. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve));
}
