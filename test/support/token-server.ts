import { generateKeyPairSync, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';

const KEY_ID = 'test-key';

/** A request for a token, as it came. */
export interface TokenRequest {
  /** User and password of the Basic credentials, still encoded as a form has them. */
  readonly client: string;
  readonly form: URLSearchParams;
  readonly contentType: string;
}

/** An OAuth server that gives tokens to one client (RFC 6749, section 4.4), signed with a key of its own (ES256). */
export class TokenServer {
  readonly requests: TokenRequest[] = [];
  /** What tokens are given for. */
  client = 'connector';
  secret = 'token-secret';
  subject = 'connector';
  lifeSeconds = 3600;
  /** Another answer than a token; null: a token. */
  answer: { readonly status: number; readonly body: string } | null = null;
  readonly #server: Server;
  readonly #key = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<TokenServer> {
    const server = createServer();
    const made = new TokenServer(server);
    server.on('request', (request, response) => {
      void made.#give(request).then(({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(body);
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return made;
  }

  get url(): string {
    const address = this.#server.address();
    return `http://127.0.0.1:${String(typeof address === 'object' && address !== null ? address.port : 0)}/token`;
  }

  /** What brokers check signatures with (RFC 7517). */
  get keys(): string {
    const { publicKey } = this.#key;
    return JSON.stringify({
      keys: [{ ...publicKey.export({ format: 'jwk' }), kid: KEY_ID, alg: 'ES256', use: 'sig' }],
    });
  }

  /** A token of this server (RFC 7519). */
  token(): string {
    const now = Math.floor(Date.now() / 1000);
    const claims = { sub: this.subject, iss: this.url, iat: now, exp: now + this.lifeSeconds, scope: 'kafka' };
    const signed = `${part({ alg: 'ES256', kid: KEY_ID, typ: 'JWT' })}.${part(claims)}`;
    const signature = sign('sha256', Buffer.from(signed), { key: this.#key.privateKey, dsaEncoding: 'ieee-p1363' });
    return `${signed}.${signature.toString('base64url')}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #give(request: IncomingMessage): Promise<{ readonly status: number; readonly body: string }> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const basic = (request.headers.authorization ?? '').replace(/^Basic /, '');
    const client = Buffer.from(basic, 'base64').toString();
    const contentType = request.headers['content-type'] ?? '';
    this.requests.push({ client, form: new URLSearchParams(Buffer.concat(chunks).toString()), contentType });
    if (this.answer !== null) return this.answer;
    if (client !== `${this.client}:${this.secret}`) return { status: 401, body: '{"error":"invalid_client"}' };
    const token = { access_token: this.token(), token_type: 'Bearer', expires_in: this.lifeSeconds };
    return { status: 200, body: JSON.stringify(token) };
  }
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
