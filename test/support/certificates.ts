import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

/** A certificate and its key, in PEM. */
export interface MadeCertificate {
  readonly certificate: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
const EC_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex');
/** Basic constraints, critical: an authority (RFC 5280, section 4.2.1.9). */
const IS_AUTHORITY = Buffer.from('300f0603551d130101ff040530030101ff', 'hex');
const LOOPBACK = Buffer.from([127, 0, 0, 1]);
const TAGS = { integer: 0x02, bits: 0x03, octets: 0x04, text: 0x0c, time: 0x18, sequence: 0x30, set: 0x31 } as const;
/** Of the certificate's fields and of an alternative name. */
const CONTEXT = { version: 0xa0, extensions: 0xa3, dns: 0x82, ip: 0x87 } as const;

/** Who a certificate is for, and how long. */
export interface Wanted {
  readonly name?: string;
  readonly fromMs?: number;
  readonly untilMs?: number;
  /** Host names beside `name`. Default `localhost`. */
  readonly hosts?: readonly string[];
  /** Whether 127.0.0.1 is one of its addresses. Default true. */
  readonly isLoopback?: boolean;
}

/** A certificate of its own authority for `localhost` and 127.0.0.1, made on the spot (RFC 5280, section 4.1). */
export function selfSigned({ name = 'hooks.example', ...wanted }: Wanted = {}): MadeCertificate {
  return make({ ...wanted, name, issuer: null, isAuthority: false });
}

/** An authority of a test, whose certificates are taken by who trusts its own. */
export class Authority {
  /** In PEM: what is trusted. */
  readonly certificate: string;
  readonly #made: Made;

  constructor(name = 'Test Authority') {
    this.#made = make({ name, issuer: null, isAuthority: true, hosts: [], isLoopback: false });
    this.certificate = this.#made.certificate;
  }

  /** For `localhost` and 127.0.0.1 unless told; a client's as well as a server's. */
  issue({ name = 'localhost', ...wanted }: Wanted = {}): MadeCertificate {
    return make({ ...wanted, name, issuer: this.#made, isAuthority: false });
  }
}

interface Made extends MadeCertificate {
  readonly name: string;
  readonly privateKey: KeyObject;
}

interface Making extends Wanted {
  readonly name: string;
  readonly issuer: Made | null;
  readonly isAuthority: boolean;
}

function make({ name, issuer, isAuthority, ...wanted }: Making): Made {
  const { fromMs = Date.now() - DAY_MS, untilMs = Date.now() + 90 * DAY_MS } = wanted;
  const { hosts = ['localhost'], isLoopback = true } = wanted;
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(TAGS.sequence, EC_WITH_SHA256);
  const names = der(
    TAGS.sequence,
    ...[...new Set([...hosts, name])].map((host) => der(CONTEXT.dns, Buffer.from(host))),
    ...(isLoopback ? [der(CONTEXT.ip, LOOPBACK)] : []),
  );
  const body = der(
    TAGS.sequence,
    der(CONTEXT.version, der(TAGS.integer, Buffer.from([2]))),
    der(TAGS.integer, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    nameOf(issuer?.name ?? name),
    der(TAGS.sequence, time(fromMs), time(untilMs)),
    nameOf(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      CONTEXT.extensions,
      der(TAGS.sequence, isAuthority ? IS_AUTHORITY : der(TAGS.sequence, SUBJECT_ALT_NAME, der(TAGS.octets, names))),
    ),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, issuer?.privateKey ?? privateKey)]);
  return {
    name,
    privateKey,
    certificate: pem(der(TAGS.sequence, body, algorithm, der(TAGS.bits, signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
}

function nameOf(name: string): Buffer {
  const common = der(TAGS.sequence, COMMON_NAME, der(TAGS.text, Buffer.from(name, 'utf8')));
  return der(TAGS.sequence, der(TAGS.set, common));
}

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function time(atMs: number): Buffer {
  const digits = new Date(atMs).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return der(TAGS.time, Buffer.from(digits));
}

function pem(bytes: Buffer): string {
  const lines = bytes.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
