import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { type IncomingMessage, type ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { type Login, type Sighting } from './sightings.ts';

const STARTED = 'http.server.request.start';
/** The first part of the path names who asks; the service never sees it. */
const OWNED = /^\/life\/([\d.]+)(\/.*)$/u;

type Draft = { -readonly [F in keyof Sighting]: Sighting[F] };
type LoginDraft = { -readonly [F in keyof Login]: Login[F] };

/**
 * Stands at the door of the screening service in this process and keeps who asked what and when, whatever the service's
 * own ledger says. Each life of a connector is given a base URL of its own.
 */
export class Witness {
  readonly #sightings: Draft[] = [];
  readonly #logins: LoginDraft[] = [];
  /** Whether what is answered now is no good answer, whatever its status. */
  isSpoilt: (kind: Sighting['kind'], transIds: readonly string[]) => boolean = () => false;
  /** Told of each payment in the same breath in which the service reads it. */
  onPayment: (sighting: Sighting) => void = () => undefined;
  readonly #onStart = (message: unknown): void => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    this.#meet(request, response);
  };

  constructor() {
    subscribe(STARTED, this.#onStart);
  }

  /** The base URL by which requests of `owner` are known. */
  urlOf(baseUrl: string, owner: string): string {
    return `${baseUrl}/life/${owner}`;
  }

  get sightings(): readonly Sighting[] {
    return this.#sightings;
  }

  get logins(): readonly Login[] {
    return this.#logins;
  }

  /** Requests for records of a life that are being answered. */
  openOf(owner: string): number {
    return this.#sightings.reduce((open, each) => (each.endedMs === null && each.owner === owner ? open + 1 : open), 0);
  }

  close(): void {
    unsubscribe(STARTED, this.#onStart);
  }

  #meet(request: IncomingMessage, response: ServerResponse): void {
    const [, owner, path] = OWNED.exec(request.url ?? '') ?? [];
    if (owner === undefined || path === undefined) return;
    request.url = path;
    const kind = request.method === 'PATCH' ? 'sync' : 'score';
    if (path.endsWith('/sessions')) this.#meetLogin(owner, response);
    if (!path.endsWith('/transaction')) return;
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.once('end', () => {
      const drafts = draftsOf({ kind, owner, body: Buffer.concat(chunks), startedMs: performance.now() });
      this.#sightings.push(...drafts);
      const isSpoilt = this.isSpoilt(
        kind,
        drafts.map(({ transId }) => transId),
      );
      if (kind === 'score') for (const draft of drafts) this.onPayment(draft);
      const end = (status: number | null): void => {
        const endedMs = performance.now();
        for (const draft of drafts) {
          if (draft.endedMs === null) Object.assign(draft, { endedMs, status });
        }
      };
      response.once('finish', () => {
        end(isSpoilt ? null : response.statusCode);
      });
      response.once('close', () => {
        end(null);
      });
    });
  }

  #meetLogin(owner: string, response: ServerResponse): void {
    const login: LoginDraft = { owner, startedMs: performance.now(), endedMs: null, status: null };
    this.#logins.push(login);
    response.once('finish', () => {
      login.status = response.statusCode;
    });
    response.once('close', () => {
      login.endedMs = performance.now();
    });
  }
}

function draftsOf(seen: {
  readonly kind: Sighting['kind'];
  readonly owner: string;
  readonly body: Buffer;
  readonly startedMs: number;
}): Draft[] {
  const { kind, owner, startedMs } = seen;
  const body = JSON.parse(seen.body.toString('utf8')) as Record<string, unknown>;
  const draft = (transId: string, key: string | null): Draft => ({
    kind,
    owner,
    transId,
    key,
    startedMs,
    endedMs: null,
    status: null,
  });
  if (kind === 'sync') return Object.keys(body).map((transId) => draft(transId, null));
  return [draft(String(body['trans_id']), String(body['cust_id']))];
}
