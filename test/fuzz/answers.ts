/** Every answer there is to a webhook: docs/webhooks.md, written down once more so that a change of the code does not change it. */
export const DOCUMENTED: ReadonlyMap<
  number,
  { readonly body: string; readonly headers: Readonly<Record<string, string>> }
> = new Map([
  documented(200, '{}'),
  documented(400, '{"error":"bad request"}'),
  documented(401, '{"error":"unauthorized"}'),
  documented(404, '{"error":"not found"}'),
  documented(405, '{"error":"method not allowed"}', { allow: 'POST' }),
  documented(408, '{"error":"request timeout"}'),
  documented(413, '{"error":"content too large"}'),
  documented(415, '{"error":"unsupported media type"}'),
  documented(503, '{"error":"unavailable"}', { 'retry-after': '5' }),
]);

function documented(status: number, body: string, more: Readonly<Record<string, string>> = {}) {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', ...more };
  return [status, { body, headers }] as const;
}

/** Headers of the connection, not of the answer. */
const OF_THE_CONNECTION = new Set(['date', 'connection', 'keep-alive', 'content-length']);
const STATUS_LINE = /^HTTP\/1\.1 (\d{3}) [\w ]*$/;
const HEAD_END = Buffer.from('\r\n\r\n');
const LONGEST_HEAD = 1024;

/** Reads what a server sends on one connection, and tells the first thing about it that is not documented. */
export class AnswerReader {
  readonly statuses: number[] = [];
  #wrong: string | null = null;
  #rest: Buffer = Buffer.alloc(0);
  /** Of the answer whose head has come. */
  #body: Buffer | null = null;

  /** What was not documented; null: nothing so far. */
  get wrong(): string | null {
    return this.#wrong;
  }

  push(chunk: Buffer): void {
    if (this.#wrong !== null) return;
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (
      this.#wrong === null &&
      this.#rest.length > 0 &&
      (this.#body === null ? this.#takeHead() : this.#takeBody())
    );
  }

  /** No more comes. */
  end(): void {
    // The answer to HEAD has all headers and no body; it ends its connection.
    const isToHead = this.#body !== null && this.#rest.length === 0 && this.statuses.at(-1) === 405;
    if (this.#wrong === null && !isToHead && (this.#rest.length > 0 || this.#body !== null))
      this.#wrong = 'an answer that ends in its middle';
  }

  #takeHead(): boolean {
    const end = this.#rest.indexOf(HEAD_END);
    if (end === -1) {
      if (this.#rest.length > LONGEST_HEAD) this.#wrong = 'a head without an end';
      return false;
    }
    const [first = '', ...lines] = this.#rest.toString('latin1', 0, end).split('\r\n');
    this.#rest = this.#rest.subarray(end + HEAD_END.length);
    const status = Number(STATUS_LINE.exec(first)?.[1] ?? 0);
    if (status === 100 && lines.length === 0) return true;
    const expected = DOCUMENTED.get(status);
    if (expected === undefined) this.#wrong = `a status that is not documented: ${JSON.stringify(first)}`;
    else {
      this.#wrong = headersWrong(lines, expected);
      this.statuses.push(status);
      this.#body = Buffer.from(expected.body);
    }
    return this.#wrong === null;
  }

  #takeBody(): boolean {
    const body = this.#body ?? Buffer.alloc(0);
    if (this.#rest.length < body.length) return false;
    if (!this.#rest.subarray(0, body.length).equals(body)) this.#wrong = 'a body that is not documented';
    this.#rest = this.#rest.subarray(body.length);
    this.#body = null;
    return true;
  }
}

function headersWrong(
  lines: readonly string[],
  { body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, string>> },
): string | null {
  const seen = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(': ');
    const name = line.slice(0, Math.max(0, colon)).toLowerCase();
    if (colon < 1 || seen.has(name)) return `a header that is malformed or there twice: ${JSON.stringify(line)}`;
    seen.set(name, line.slice(colon + 2));
  }
  if (seen.get('content-length') !== String(Buffer.byteLength(body))) return 'a wrong content-length';
  for (const [name, value] of Object.entries(headers))
    if (seen.get(name) !== value) return `a wrong or missing ${name}`;
  const unknown = [...seen.keys()].find((name) => !(name in headers) && !OF_THE_CONNECTION.has(name));
  return unknown === undefined ? null : `a header that is not documented: ${unknown}`;
}
