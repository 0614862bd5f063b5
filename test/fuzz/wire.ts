import { createHmac } from 'node:crypto';
import { type Dice } from './dice.ts';

/** Where the receiver under attack takes webhooks, and how large a body it takes. */
export const PATH = '/webhooks/fraud';
export const MAX_BYTES = 16_384;

/** What a sender has to know. */
export interface Endpoint {
  /** Those that the receiver knows, newest first. */
  readonly secrets: readonly string[];
  /** Milliseconds since 1970 at the receiver. */
  readonly nowMs: number;
  /** Its writer writes whatever it is given; unless told, it cannot write some events. */
  readonly writesAll?: true;
}

/** A body with the two headers that prove it. */
export interface Signed {
  readonly body: Buffer;
  readonly timestamp: string;
  readonly signature: string;
}

export type Header = readonly [name: string, value: string];

/** A request before it is bytes. */
export interface Head {
  readonly method?: string;
  readonly target?: string;
  readonly version?: string;
  readonly headers: readonly Header[];
}

export const SIGNATURE = 'X-ServiceWebhook-Signature';
export const TIMESTAMP = 'X-ServiceWebhook-Timestamp';
export const JSON_TYPE: Header = ['Content-Type', 'application/json'];
export const HOST: Header = ['Host', 'connector.test'];

export function headText({ method = 'POST', target = PATH, version = 'HTTP/1.1', headers }: Head): string {
  return `${method} ${target} ${version}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

/** The bytes of a head, whatever is in its texts, one a character. */
export function headBytes(head: Head): Buffer {
  return Buffer.from(headText(head), 'latin1');
}

export function proofOf({ signature, timestamp }: Signed): readonly [Header, Header] {
  return [
    [SIGNATURE, signature],
    [TIMESTAMP, timestamp],
  ];
}

export function lengthOf(body: Buffer): Header {
  return ['Content-Length', String(body.length)];
}

/** A webhook that is right in everything, in the plainest form. */
export function plainWebhook(signed: Signed, more: readonly Header[] = []): Buffer {
  const headers = [HOST, JSON_TYPE, lengthOf(signed.body), ...proofOf(signed), ...more];
  return Buffer.concat([headBytes({ headers }), signed.body]);
}

export function hmacOf(secret: string, timestamp: string, body: Buffer): Buffer {
  return createHmac('sha256', secret).update(timestamp, 'latin1').update(body).digest();
}

/** A time near `ms` in one of the three forms. */
export function timestampNear(dice: Dice, ms: number, form = dice.below(3)): string {
  if (form === 0) return String(Math.floor(ms / 1000));
  if (form === 1) return String(ms);
  const text = new Date(ms).toISOString();
  return dice.chance(0.5)
    ? text
    : dice.pick([text.toLowerCase(), text.replace('Z', '+00:00'), text.replace('Z', '456Z')]);
}

/** Signed as the interface says, with one of the secrets, in one of the forms, some seconds ago or ahead. */
export function signedNear(
  dice: Dice,
  body: Buffer,
  { secrets, nowMs }: Endpoint,
  awayMs = dice.between(-290_000, 290_000),
): Signed {
  const timestamp = timestampNear(dice, nowMs + awayMs);
  const mac = hmacOf(dice.pick(secrets), timestamp, body);
  const signature = dice.chance(0.3) ? mac.toString('base64') : dice.cased(mac.toString('hex'));
  return { body, timestamp, signature };
}

const DECISIONS = ['good', 'probably_good', 'suspicious', 'bad'] as const;

/** The body of a review with this `trans_id`, of any layout and now and then of almost any size. */
export function reviewBody(dice: Dice, id: string, change: Readonly<Record<string, unknown>> = {}): Buffer {
  const data: Record<string, unknown> = {
    frg_trans_id: `frg-${id}`,
    trans_id: id,
    decision: dice.pick(DECISIONS),
    reviewed_at: '2025-12-31T23:59:58.123456Z',
    ...change,
  };
  if (dice.chance(0.2)) data['queue'] = dice.pick(['night', '\u0000', '💳', '}{', '0\r\n\r\n', '__proto__']);
  if (dice.chance(0.02)) data['filler'] = 'f'.repeat(dice.below(MAX_BYTES - 700));
  const text = JSON.stringify(
    { type: 'txn_manual_review', data },
    null,
    dice.chance(0.1) ? dice.between(1, 8) : undefined,
  );
  return Buffer.from(dice.chance(0.1) ? `${dice.pick([' ', '\n', '\t', '\r\n'])}${text}\n` : text);
}

/** A body in chunks of any sizes, as every HTTP/1.1 server has to take it. */
export function chunked(dice: Dice, body: Buffer, trailers: readonly Header[] = []): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const size = Math.min(body.length - at, dice.between(1, dice.pick([3, 100, 1000, 20_000])));
    const digits = size.toString(16);
    const line = `${dice.chance(0.1) ? '00' : ''}${dice.chance(0.2) ? digits.toUpperCase() : digits}${dice.chance(0.05) ? ';a=b' : ''}`;
    parts.push(Buffer.from(`${line}\r\n`), body.subarray(at, at + size), Buffer.from('\r\n'));
    at += size;
  }
  parts.push(Buffer.from(`0\r\n${trailers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`));
  return Buffer.concat(parts);
}
