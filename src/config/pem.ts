import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';

/** A certificate, with those that lead to its authority behind it, and its key: both in PEM, and they fit each other. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** What is wrong with one of the two texts, or with both together, as the end of a sentence that begins with its option. */
export interface PairProblem {
  readonly of: 'certificate' | 'key' | 'both';
  readonly problem: string;
}

/** What is wrong with a text as a certificate in PEM; null: nothing. Never throws. */
export function certificateProblem(certificate: string): string | null {
  return firstOf(certificate) === null ? 'holds no certificate in PEM' : null;
}

/** What is wrong with a text as a private key in PEM; null: nothing. Never throws. */
export function keyProblem(key: string): string | null {
  const read = privateKeyOf(key);
  return typeof read === 'string' ? read : null;
}

/** What is wrong with a text as the certificates of authorities in PEM; null: nothing. Never throws. */
export function authoritiesProblem(authorities: string): string | null {
  if (authorities.includes('PRIVATE KEY-----')) return 'holds a private key, which has no place there';
  const blocks = authorities.split(/(?=-----BEGIN )/).filter((block) => PEM.test(block));
  if (blocks.length === 0) return 'holds no certificate in PEM';
  const broken = blocks.findIndex((block) => firstOf(block) === null);
  return broken < 0 ? null : `holds a certificate that cannot be read: number ${String(broken + 1)}`;
}

/** Both texts as what one side of TLS can show, or what is wrong with them. Says nothing of their content; never throws. */
export function readKeyPair(certificate: string, key: string): KeyPair | PairProblem {
  const first = firstOf(certificate);
  if (first === null) return { of: 'certificate', problem: 'holds no certificate in PEM' };
  const read = privateKeyOf(key);
  if (typeof read === 'string') return { of: 'key', problem: read };
  if (!first.checkPrivateKey(read))
    return { of: 'both', problem: 'the key does not belong to the first certificate, which must be the one to show' };
  try {
    createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' });
  } catch {
    return {
      of: 'both',
      problem: 'TLS cannot be spoken with them: one behind the first is broken, or the key is too weak',
    };
  }
  return { certificate, key, expiresAtMs: first.validToDate.getTime() };
}

/** Not another format that the library would take, too. */
const PEM = /-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/;

function firstOf(certificate: string): X509Certificate | null {
  if (!PEM.test(certificate)) return null;
  try {
    return new X509Certificate(certificate);
  } catch {
    return null;
  }
}

/** PKCS #8 (RFC 7468, section 11), and the older form. */
const ENCRYPTED = /-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m;

function privateKeyOf(key: string): KeyObject | string {
  try {
    return createPrivateKey(key);
  } catch {
    return ENCRYPTED.test(key) ? 'is encrypted; give it without a passphrase' : 'holds no private key in PEM';
  }
}
