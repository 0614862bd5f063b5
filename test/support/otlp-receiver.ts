import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { bytesOf, numberOf, readMessage, textOf, type WireFields } from './protobuf.ts';

export type Said = Readonly<Record<string, string | number>>;

export interface ReceivedLink {
  readonly traceId: string;
  readonly spanId: string;
}

/** A span as a collector gets it (OTLP, trace.proto). */
export interface ReceivedSpan extends ReceivedLink {
  /** Empty: it has no parent. */
  readonly parentId: string;
  readonly name: string;
  /** As OTLP numbers them: 2 server, 3 client, 4 producer, 5 consumer. */
  readonly kind: number;
  readonly attributes: Said;
  readonly events: readonly { readonly name: string; readonly attributes: Said }[];
  readonly links: readonly ReceivedLink[];
  readonly isError: boolean;
}

/** A collector: takes OTLP over HTTP as protocol buffers, and keeps what it was told. */
export class OtlpReceiver {
  readonly spans: ReceivedSpan[] = [];
  /** Of each export. */
  readonly resources: Said[] = [];
  readonly requests: { readonly path: string; readonly headers: IncomingHttpHeaders; readonly body: Buffer }[] = [];
  /** What it answers with; null: it does not answer. */
  status: number | null = 200;
  readonly #server = createServer((incoming, response) => {
    void this.#take(incoming, response);
  });

  static async open(port = 0): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#server.listen(port, '127.0.0.1');
    await once(receiver.#server, 'listening');
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  named(name: string): readonly ReceivedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  async #take(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const raw = Buffer.concat(chunks);
    const body = incoming.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
    this.requests.push({ path: incoming.url ?? '', headers: incoming.headers, body });
    if (this.status === null) return;
    if (this.status === 200) this.#keep(body);
    response.writeHead(this.status, { 'content-type': 'application/x-protobuf' }).end();
  }

  #keep(body: Buffer): void {
    for (const of of bytesOf(readMessage(body), 1).map(readMessage)) {
      for (const resource of bytesOf(of, 1)) this.resources.push(saidIn(readMessage(resource), 1));
      for (const scope of bytesOf(of, 2).map(readMessage))
        for (const span of bytesOf(scope, 2)) this.spans.push(toSpan(readMessage(span)));
    }
  }
}

function toSpan(span: WireFields): ReceivedSpan {
  return {
    traceId: hexOf(span, 1),
    spanId: hexOf(span, 2),
    parentId: hexOf(span, 4),
    name: textOf(span, 5),
    kind: numberOf(span, 6),
    attributes: saidIn(span, 9),
    events: bytesOf(span, 11)
      .map(readMessage)
      .map((event) => ({ name: textOf(event, 2), attributes: saidIn(event, 3) })),
    links: bytesOf(span, 13)
      .map(readMessage)
      .map((link) => ({ traceId: hexOf(link, 1), spanId: hexOf(link, 2) })),
    isError: bytesOf(span, 15).some((status) => numberOf(readMessage(status), 3) === 2),
  };
}

function hexOf(fields: WireFields, field: number): string {
  return bytesOf(fields, field).at(-1)?.toString('hex') ?? '';
}

/** Attributes whose values are texts or whole numbers; there are no others. */
function saidIn(fields: WireFields, field: number): Said {
  return Object.fromEntries(
    bytesOf(fields, field).map((pair) => {
      const read = readMessage(pair);
      const value = readMessage(bytesOf(read, 2)[0] ?? Buffer.alloc(0));
      return [textOf(read, 1), value.has(3) ? numberOf(value, 3) : textOf(value, 1)];
    }),
  );
}
