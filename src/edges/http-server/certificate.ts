import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { tlsOptions } from './tls.ts';

/** A certificate, with those that lead to its authority behind it, and its key: both in PEM, and they fit each other. */
export interface Certificate {
  readonly certificate: string;
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly expiresAtMs: number;
}

/** What is wrong with one of the two texts, or with both together, as the end of a sentence that begins with its option. */
export interface CertificateProblem {
  readonly of: 'certificate' | 'key' | 'both';
  readonly problem: string;
}

/** What is wrong with a text as a certificate in PEM; null: nothing. Never throws. */
export function certificateProblem(certificate: string): CertificateProblem | null {
  return firstOf(certificate) === null ? { of: 'certificate', problem: 'holds no certificate in PEM' } : null;
}

/** What is wrong with a text as a private key in PEM; null: nothing. Never throws. */
export function keyProblem(key: string): CertificateProblem | null {
  const read = privateKeyOf(key);
  return typeof read === 'string' ? { of: 'key', problem: read } : null;
}

/** Both texts as what a server can show, or what is wrong with them. Says nothing of their content; never throws. */
export function readCertificate(certificate: string, key: string): Certificate | CertificateProblem {
  const first = firstOf(certificate);
  if (first === null) return { of: 'certificate', problem: 'holds no certificate in PEM' };
  const read = privateKeyOf(key);
  if (typeof read === 'string') return { of: 'key', problem: read };
  if (!first.checkPrivateKey(read))
    return { of: 'both', problem: "the key does not belong to the first certificate, which must be the server's own" };
  const pair = { certificate, key, expiresAtMs: first.validToDate.getTime() };
  try {
    createSecureContext(tlsOptions(pair));
  } catch {
    return {
      of: 'both',
      problem: 'TLS cannot be spoken with them: one behind the first is broken, or the key is too weak',
    };
  }
  return pair;
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
