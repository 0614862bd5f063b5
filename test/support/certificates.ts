import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

/** A certificate and its key, in PEM. */
export interface MadeCertificate {
  readonly certificate: string;
  readonly key: string;
}

const DAY_MS = 86_400_000;
const EC_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex');
const LOOPBACK = Buffer.from([127, 0, 0, 1]);
const TAGS = { integer: 0x02, bits: 0x03, octets: 0x04, text: 0x0c, time: 0x18, sequence: 0x30, set: 0x31 } as const;
/** Of the certificate's fields and of an alternative name. */
const CONTEXT = { version: 0xa0, extensions: 0xa3, dns: 0x82, ip: 0x87 } as const;

/** A certificate of its own authority for `localhost` and 127.0.0.1, made on the spot (RFC 5280, section 4.1). */
export function selfSigned({
  name = 'hooks.example',
  fromMs = Date.now() - DAY_MS,
  untilMs = Date.now() + 90 * DAY_MS,
}: {
  readonly name?: string;
  readonly fromMs?: number;
  readonly untilMs?: number;
} = {}): MadeCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(TAGS.sequence, EC_WITH_SHA256);
  const issuer = der(
    TAGS.sequence,
    der(TAGS.set, der(TAGS.sequence, COMMON_NAME, der(TAGS.text, Buffer.from(name, 'utf8')))),
  );
  const names = der(
    TAGS.sequence,
    der(CONTEXT.dns, Buffer.from('localhost')),
    der(CONTEXT.dns, Buffer.from(name)),
    der(CONTEXT.ip, LOOPBACK),
  );
  const body = der(
    TAGS.sequence,
    der(CONTEXT.version, der(TAGS.integer, Buffer.from([2]))),
    der(TAGS.integer, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    issuer,
    der(TAGS.sequence, time(fromMs), time(untilMs)),
    issuer,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(CONTEXT.extensions, der(TAGS.sequence, der(TAGS.sequence, SUBJECT_ALT_NAME, der(TAGS.octets, names)))),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]);
  return {
    certificate: pem(der(TAGS.sequence, body, algorithm, der(TAGS.bits, signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
  };
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
