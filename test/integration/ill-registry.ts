import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';

/** What comes instead of the registry's answer. `closes`: the end of the connection; `hangs`: nothing. */
export type RegistryIllness = 'closes' | 'hangs' | { readonly status: number; readonly body: string };

/** Stands before the real registry, and answers in its place while it is ill. */
export class IllRegistry {
  /** Null: what is asked is passed on. */
  illness: RegistryIllness | null = null;
  readonly #server: Server;
  readonly #target: URL;

  private constructor(target: string) {
    this.#target = new URL(target);
    this.#server = createServer((request, response) => {
      void this.#serve(request, response);
    });
  }

  static async before(registryUrl: string): Promise<IllRegistry> {
    const registry = new IllRegistry(registryUrl);
    await new Promise<void>((resolve) => {
      registry.#server.listen(0, '127.0.0.1', resolve);
    });
    return registry;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${String(port)}${this.#target.pathname}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { illness } = this;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (illness === 'hangs') return;
    if (illness === 'closes') {
      response.destroy();
      return;
    }
    if (illness !== null) {
      response.writeHead(illness.status).end(illness.body);
      return;
    }
    const answer = await fetch(new URL(request.url ?? '/', this.#target), {
      method: request.method ?? 'GET',
      headers: { 'content-type': request.headers['content-type'] ?? 'application/json' },
      ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
    });
    response.writeHead(answer.status).end(await answer.text());
  }
}
