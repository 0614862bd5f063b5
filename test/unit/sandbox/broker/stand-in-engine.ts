import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net';

/** What a container of the stand-in was asked to be. */
export interface StandInContainer {
  readonly id: string;
  readonly image: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly env: readonly string[];
  /** What was copied into it, as text. */
  copied: string;
  state: 'created' | 'running' | 'stopped';
}

interface Running extends StandInContainer {
  readonly port: string;
  hostPort: number;
  output: string;
  readonly followers: Set<ServerResponse>;
  readonly close: (() => void)[];
}

/** How images behave that do not do as they should. */
export interface Ills {
  /** The broker is told its address and never says that it has started. */
  readonly silentBroker?: boolean;
  /** The registry answers every request with 503. */
  readonly illRegistry?: boolean;
  /** The engine goes away when this is asked of it: a method and the beginning of a path. */
  readonly dieAt?: string;
}

interface CreateBody {
  readonly Image: string;
  readonly Labels?: Readonly<Record<string, string>>;
  readonly Env?: readonly string[];
  readonly ExposedPorts: Readonly<Record<string, object>>;
}

/**
 * As much of the engine's API (version 1.40 and later) as starting and removing a container takes, on a socket. Images
 * are played: a broker that answers the questions of `untilUsable`, and a registry that answers with a list.
 */
export class StandInEngine {
  readonly socketPath: string;
  /** Method and path of every request, without the version; ids are `c1`, `c2` … */
  readonly asked: string[] = [];
  readonly images = new Set<string>();
  ills: Ills = {};
  #server: Server | null = null;
  readonly #sockets = new Set<Socket>();
  readonly #containers = new Map<string, Running>();
  #made = 0;

  constructor(socketPath: string) {
    this.socketPath = socketPath;
  }

  get containers(): readonly StandInContainer[] {
    return [...this.#containers.values()];
  }

  async open(): Promise<void> {
    const server = createServer((request, response) => void this.#answer(request, response));
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.listen(this.socketPath);
    await once(server, 'listening');
    this.#server = server;
  }

  /** As an engine that is stopped: its socket is gone, containers go on. */
  goAway(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#server = null;
    rmSync(this.socketPath, { force: true });
  }

  close(): void {
    this.goAway();
    for (const container of this.#containers.values()) end(container);
    this.#containers.clear();
  }

  /** A container that somebody else left behind. */
  leave(labels: Readonly<Record<string, string>>): void {
    this.#create({ Image: 'left/behind:1', Labels: labels, ExposedPorts: { '1/tcp': {} } });
  }

  #create(body: CreateBody): Running {
    this.#made += 1;
    const made: Running = {
      id: `c${String(this.#made)}`,
      image: body.Image,
      labels: body.Labels ?? {},
      env: body.Env ?? [],
      copied: '',
      state: 'created',
      port: Object.keys(body.ExposedPorts)[0] ?? '',
      hostPort: 0,
      output: '',
      followers: new Set(),
      close: [],
    };
    this.#containers.set(made.id, made);
    return made;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    // Else a client would find a connection of an engine that has gone away in its pool.
    response.shouldKeepAlive = false;
    const path = url.replace(/^\/v\d+\.\d+/, '').replace(/\?.*$/, '');
    const asked = `${method} ${path}`;
    this.asked.push(asked);
    const body = Buffer.concat((await request.toArray()) as Buffer[]);
    if (this.ills.dieAt !== undefined && asked.startsWith(this.ills.dieAt)) {
      this.goAway();
      return;
    }
    const json = (value: unknown, status = 200): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    };
    const [, kind, id = '', action = ''] = path.split('/');
    if (path === '/info') return json({ ServerVersion: '27.0.0', OperatingSystem: 'stand-in', OSType: 'linux' });
    if (kind === 'images') return this.#answerImage(request, path, url, json);
    if (path === '/containers/json') return json([...this.#containers.values()].map(listed));
    if (path === '/containers/create') {
      return json({ Id: this.#create(JSON.parse(body.toString()) as CreateBody).id, Warnings: [] }, 201);
    }
    const container = this.#containers.get(id);
    if (container === undefined) return json({ message: `no such endpoint or container: ${path}` }, 404);
    await this.#answerContainer(container, { what: `${method} ${action}`, body, response });
  }

  async #answerContainer(
    container: Running,
    { what, body, response }: { readonly what: string; readonly body: Buffer; readonly response: ServerResponse },
  ): Promise<void> {
    switch (what) {
      case 'POST start':
        await this.#start(container);
        break;
      case 'GET json':
        response.end(JSON.stringify(inspected(container)));
        return;
      case 'GET logs':
        response.writeHead(200, { 'content-type': 'application/vnd.docker.raw-stream' });
        response.write(framed(container.output));
        container.followers.add(response);
        return;
      case 'PUT archive':
        container.copied += body.toString('latin1');
        if (this.ills.silentBroker !== true) print(container, '[KafkaRaftServer nodeId=1] Kafka Server started\n');
        break;
      case 'POST stop':
        container.state = 'stopped';
        end(container);
        break;
      case 'DELETE ':
        end(container);
        this.#containers.delete(container.id);
        break;
      default:
        response.statusCode = 501;
    }
    response.end();
  }

  #answerImage(
    request: IncomingMessage,
    path: string,
    url: string,
    json: (value: unknown, status?: number) => void,
  ): void {
    if (request.method === 'POST') {
      const query = new URL(url, 'http://engine').searchParams;
      this.images.add(`${query.get('fromImage') ?? ''}${query.has('tag') ? `:${query.get('tag') ?? ''}` : ''}`);
      return json({ status: 'Pull complete' });
    }
    const name = decodeURIComponent(path.slice('/images/'.length, -'/json'.length));
    return this.images.has(name) ? json({ Id: name }) : json({ message: `No such image: ${name}` }, 404);
  }

  async #start(container: Running): Promise<void> {
    const isBroker = container.image.startsWith('apache/kafka');
    const server = isBroker ? playBroker(container) : playRegistry(this.ills.illRegistry === true);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    container.hostPort = (server.address() as AddressInfo).port;
    container.close.push(() => server.close());
    container.state = 'running';
    if (isBroker) print(container, 'waiting for the address\n');
  }
}

function end(container: Running): void {
  for (const response of container.followers) response.end();
  for (const close of container.close.splice(0)) close();
}

function print(container: Running, line: string): void {
  container.output += line;
  for (const response of container.followers) response.write(framed(line));
}

/** Output of a container without a terminal: the stream (1: standard output) and the length stand before each piece. */
function framed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const head = Buffer.alloc(8);
  head[0] = 1;
  head.writeUInt32BE(bytes.length, 4);
  return bytes.length === 0 ? bytes : Buffer.concat([head, bytes]);
}

function listed({ id, labels, state }: Running): object {
  return { Id: id, Labels: labels, State: state };
}

function inspected({ id, labels, state, port, hostPort }: Running): object {
  return {
    Id: id,
    Name: `/${id}`,
    Config: { Hostname: id, Labels: labels },
    State: {
      Status: state,
      Running: state === 'running',
      StartedAt: '2026-01-01T00:00:00Z',
      FinishedAt: '0001-01-01T00:00:00Z',
    },
    HostConfig: { PortBindings: { [port]: [{ HostIp: '', HostPort: '0' }] } },
    NetworkSettings: { Ports: { [port]: [{ HostIp: '', HostPort: String(hostPort) }] }, Networks: {} },
  };
}

function playRegistry(isIll: boolean): Server {
  return createServer((_, response) => {
    response.writeHead(isIll ? 503 : 200, { connection: 'close' }).end('[]');
  });
}

/** Kafka's protocol, as far as `untilUsable` asks: METADATA (3), OFFSET_FETCH (9), FIND_COORDINATOR (10). */
function playBroker(container: Running): TcpServer {
  return createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (request: Buffer) => {
      const key = request.readInt16BE(4);
      const host = Buffer.from('127.0.0.1');
      const body = Buffer.alloc(64);
      if (key === 3) body.writeInt32BE(1, 0);
      if (key === 10) {
        body.writeInt16BE(host.length, 6);
        host.copy(body, 8);
        body.writeInt32BE(container.hostPort, 8 + host.length);
      }
      const head = Buffer.alloc(8);
      head.writeInt32BE(4 + body.length, 0);
      socket.write(Buffer.concat([head, body]));
    });
  });
}
