import { type Config } from '../config/config.ts';
import { type KeyPair, readKeyPair } from '../config/pem.ts';
import { WEBHOOK_TLS } from '../config/tls.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { Fault } from '../kernel/fault.ts';
import { followCertificate } from './followed-certificate.ts';

/** The certificate of the webhook port that a configuration names; null: it names none, or no webhooks are taken. */
export function readWebhookCertificate({ flows, webhook }: Pick<Config, 'flows' | 'webhook'>): KeyPair | null {
  if (webhook.tls === null || !flows.has('reviews')) return null;
  const read = readKeyPair(webhook.tls.certificate, webhook.tls.key);
  if ('problem' in read) throw new Fault('INTERNAL', 'A certificate was configured that the configuration refuses.');
  return read;
}

export interface WebhookCertificateParts {
  readonly clock: Clock;
  readonly emit: Emit;
  /** Shows another certificate from now on. */
  readonly renew: (certificate: KeyPair) => void;
}

/** Follows the two files of the webhook port's certificate until the answer is called. */
export function followWebhookCertificate(
  tls: NonNullable<Config['webhook']['tls']>,
  start: KeyPair,
  parts: WebhookCertificateParts,
): () => void {
  return followCertificate(start, {
    ...parts,
    options: WEBHOOK_TLS,
    paths: { certificate: tls.certificateFile, key: tls.keyFile },
  });
}
