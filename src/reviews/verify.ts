import { Buffer } from 'node:buffer';
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { parseRfc3339 } from '../screening/rfc3339.ts';

/** Header names of the spec (Webhook endpoint), in the small letters they are compared in. */
export const SIGNATURE_HEADER = 'x-servicewebhook-signature';
export const TIMESTAMP_HEADER = 'x-servicewebhook-timestamp';

/** How the 32 bytes of the signature are written. The spec says hexadecimal, its sample looks like base64. */
export type SignatureForm = 'hex' | 'base64';
/** How the timestamp is written. The spec says RFC 3339 in one place and UNIX time in another. */
export type TimestampForm = 'rfc3339' | 'unix_s' | 'unix_ms';

/** A secret as text, or prepared by `toKeys`. */
export type WebhookSecret = string | KeyObject;

/** Secrets prepared for many webhooks: their UTF-8 bytes are the keys. */
export function toKeys(secrets: readonly string[]): readonly KeyObject[] {
  return secrets.map((secret) => createSecretKey(secret, 'utf8'));
}

export interface VerifyOptions {
  readonly signatureForms: readonly SignatureForm[];
  readonly timestampForms: readonly TimestampForm[];
  /** How far the timestamp may lie from now, before or after; null: anywhere (webhooks that were parked long ago). */
  readonly toleranceSeconds: number | null;
}

export interface SignedRequest {
  /** Header names and values in turn, as they came. */
  readonly rawHeaders: readonly string[];
  readonly body: Buffer;
}

/** How a right signature was made. */
export interface ProofFacts {
  readonly signatureForm: SignatureForm;
  readonly timestampForm: TimestampForm;
  /** Which secret fitted: 0 is the newest. */
  readonly secretIndex: number;
  /** Now less the timestamp: above 0 it lies in the past. */
  readonly skewMs: number;
}

export type Unverified =
  | { readonly refuse: 'bad_signature' | 'bad_timestamp' | 'not_an_object' }
  /** The signature is right. */
  | (ProofFacts & { readonly refuse: 'outside_window' });

/** Not exported as a value, and nominal by its private field: only `verify` can make one. */
class Verified implements ProofFacts {
  readonly body: Buffer;
  readonly secretIndex: number;
  readonly skewMs: number;
  readonly #proof: Proof;

  constructor(body: Buffer, proof: Proof) {
    this.body = body;
    this.secretIndex = proof.secretIndex;
    this.skewMs = proof.skewMs;
    this.#proof = proof;
  }

  /** Both headers as they came, so that the proof can be checked again later. */
  get signature(): string {
    return this.#proof.signature.text;
  }

  get timestamp(): string {
    return this.#proof.timestamp.text;
  }

  get signatureForm(): SignatureForm {
    return this.#proof.signature.form;
  }

  get timestampForm(): TimestampForm {
    return this.#proof.timestamp.form;
  }
}

/** A webhook whose sender knew a secret, whose time was right, and whose body begins as a JSON object does. */
export type VerifiedWebhook = Verified;

interface Signature {
  readonly text: string;
  readonly form: SignatureForm;
  readonly mac: Buffer;
}

interface Timestamp {
  readonly text: string;
  readonly form: TimestampForm;
  readonly epochMs: number;
}

interface Proof {
  readonly signature: Signature;
  readonly timestamp: Timestamp;
  readonly secretIndex: number;
  readonly skewMs: number;
}

/**
 * Whether a request was signed with one of the secrets, within the tolerance, and can be cut in one way only.
 *
 * The spec's signature (Webhook signature, 2) puts nothing between timestamp and body, so the same bytes cut elsewhere
 * have the same signature. Two rules leave one cut: the timestamp follows a strict grammar that has neither white space
 * nor braces, and the body begins with `{`, after nothing but JSON's white space.
 *
 * `secrets`: the strings as the service's web account shows them; their UTF-8 bytes are the key. All of them are always
 * tried, and compared in constant time. `nowMs`: milliseconds since 1970. Never throws.
 */
export function verify(
  request: SignedRequest,
  secrets: readonly WebhookSecret[],
  options: VerifyOptions,
  nowMs: number,
): VerifiedWebhook | Unverified {
  const signature = readSignature(only(request.rawHeaders, SIGNATURE_HEADER), options.signatureForms);
  if (signature === null) return { refuse: 'bad_signature' };
  const timestamp = readTimestamp(only(request.rawHeaders, TIMESTAMP_HEADER), options.timestampForms);
  if (timestamp === null) return { refuse: 'bad_timestamp' };
  const secretIndex = fittingSecret(signature.mac, timestamp.text, request.body, secrets);
  if (secretIndex === null) return { refuse: 'bad_signature' };
  const skewMs = nowMs - timestamp.epochMs;
  const { toleranceSeconds } = options;
  if (toleranceSeconds !== null && Math.abs(skewMs) > toleranceSeconds * 1000)
    return {
      refuse: 'outside_window',
      signatureForm: signature.form,
      timestampForm: timestamp.form,
      secretIndex,
      skewMs,
    };
  if (!beginsAsObject(request.body)) return { refuse: 'not_an_object' };
  return new Verified(request.body, { signature, timestamp, secretIndex, skewMs });
}

/** The value of a header that occurs exactly once. */
function only(rawHeaders: readonly string[], name: string): string | null {
  let value: string | null = null;
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const found = rawHeaders[at];
    if (found?.length !== name.length || found.toLowerCase() !== name) continue;
    if (value !== null) return null;
    value = rawHeaders[at + 1] ?? null;
  }
  return value;
}

const HEX = /^[0-9a-fA-F]{64}$/;
/** 32 bytes in base64: the last letter has two bits that say nothing; only zeros are taken there. */
const BASE64 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/** Checked before it is decoded, because `Buffer.from` drops what it does not understand. */
function readSignature(text: string | null, forms: readonly SignatureForm[]): Signature | null {
  if (text === null) return null;
  if (HEX.test(text)) return forms.includes('hex') ? { text, form: 'hex', mac: Buffer.from(text, 'hex') } : null;
  if (BASE64.test(text) && forms.includes('base64')) return { text, form: 'base64', mac: Buffer.from(text, 'base64') };
  return null;
}

const UNIX_SECONDS = /^\d{10}$/;
const UNIX_MILLISECONDS = /^\d{13}$/;

function readTimestamp(text: string | null, forms: readonly TimestampForm[]): Timestamp | null {
  const timestamp = text === null ? null : timestampOf(text);
  return timestamp !== null && forms.includes(timestamp.form) ? timestamp : null;
}

function timestampOf(text: string): Timestamp | null {
  if (UNIX_SECONDS.test(text)) return { text, form: 'unix_s', epochMs: Number(text) * 1000 };
  if (UNIX_MILLISECONDS.test(text)) return { text, form: 'unix_ms', epochMs: Number(text) };
  const micros = parseRfc3339(text);
  return micros === null ? null : { text, form: 'rfc3339', epochMs: micros / 1000 };
}

/** The first secret that fits. No early end: the time taken does not tell which secret it was. */
function fittingSecret(mac: Buffer, timestamp: string, body: Buffer, secrets: readonly WebhookSecret[]): number | null {
  let fitting: number | null = null;
  for (const [index, secret] of secrets.entries()) {
    const expected = createHmac('sha256', secret).update(timestamp, 'latin1').update(body).digest();
    if (timingSafeEqual(expected, mac) && fitting === null) fitting = index;
  }
  return fitting;
}

const OPENING_BRACE = 0x7b;

function beginsAsObject(body: Buffer): boolean {
  for (const byte of body) {
    if (byte === OPENING_BRACE) return true;
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return false;
  }
  return false;
}
