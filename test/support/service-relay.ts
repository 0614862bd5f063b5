import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

/** A request as it went over the wire. */
export interface RelayedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Stands between a connector and the screening service: keeps what went out, passes it on, and may answer in its stead. */
export class ServiceRelay {
  readonly seen: RelayedRequest[] = [];
  /** What is answered instead of passing the request on; null: it is passed on. */
  answer: (request: RelayedRequest) => Answer | null = () => null;
  readonly #target: string;
  readonly #server = createServer((incoming, response) => {
    void this.#pass(incoming, response);
  });

  private constructor(target: string) {
    this.#target = target;
  }

  static async open(target: string): Promise<ServiceRelay> {
    const relay = new ServiceRelay(target);
    relay.#server.listen(0, '127.0.0.1');
    await once(relay.#server, 'listening');
    return relay;
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url: path = '', headers } = incoming;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = { method, path, headers, body: Buffer.concat(chunks).toString() };
    this.seen.push(request);
    const { status, body } = this.answer(request) ?? (await passOn(this.#target, request));
    response.writeHead(status, { 'content-type': 'application/json' }).end(body);
  }
}

/** Only what the service reads of a request's headers; a service that cannot be reached is 502, as behind a gateway. */
async function passOn(target: string, { method, path, headers, body }: RelayedRequest): Promise<Answer> {
  try {
    const answer = await fetch(`${target}${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: headers.authorization ?? '' },
      body: body === '' ? null : body,
    });
    return { status: answer.status, body: await answer.text() };
  } catch {
    return { status: 502, body: '' };
  }
}
