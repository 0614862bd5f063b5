import { type Config } from '../config/config.ts';
import {
  type Certificate,
  type CertificateProblem,
  certificateProblem,
  keyProblem,
  readCertificate,
} from '../edges/http-server/certificate.ts';
import { type WatchedFile, watchSecretFiles } from '../edges/system/secret-files.ts';
import { type Cancel, type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { Fault } from '../kernel/fault.ts';

const OPTIONS = { certificate: 'WEBHOOK_TLS_CERT_FILE', key: 'WEBHOOK_TLS_KEY_FILE' } as const;
const BOTH = `${OPTIONS.certificate} and ${OPTIONS.key}`;

type Part = keyof typeof OPTIONS;
type Texts = Readonly<Record<Part, string>>;

/** From when on it is said that a certificate expires. */
export const EXPIRY_WARNING_DAYS = 14;
const DAY_MS = 86_400_000;
/** Two files are not renewed in the same moment: until then one that does not fit the other is no failure. */
const PAIR_GRACE_MS = 10_000;

/** Whole days from `nowMs` until a certificate expires; below 0: it has. */
export function daysLeft({ expiresAtMs }: Pick<Certificate, 'expiresAtMs'>, nowMs: number): number {
  return Math.floor((expiresAtMs - nowMs) / DAY_MS);
}

/**
 * The certificate of the webhook port that a configuration names; null: it names none, or no webhooks are taken. Throws
 * ONE `Fault` CONFIG_INVALID with a line for each of the two texts that is no good, or for both when they do not fit.
 */
export function readWebhookCertificate({ flows, webhook }: Pick<Config, 'flows' | 'webhook'>): Certificate | null {
  if (webhook.tls === null || !flows.has('reviews')) return null;
  const { certificate, key } = webhook.tls;
  const read = readCertificate(certificate, key);
  if (!('problem' in read)) return read;
  const alone = [certificateProblem(certificate), keyProblem(key)].filter((problem) => problem !== null);
  const lines = (alone.length > 0 ? alone : [read]).map(lineOf);
  const count = lines.length === 1 ? 'One option is' : `${String(lines.length)} options are`;
  throw new Fault('CONFIG_INVALID', [`${count} missing or wrong:`, ...lines.map((line) => `  ${line}`)].join('\n'));
}

function lineOf({ of, problem }: CertificateProblem): string {
  return of === 'both' ? `${BOTH}: ${problem}.` : `${OPTIONS[of]}: the file ${problem}.`;
}

export interface WebhookCertificateParts {
  readonly clock: Clock;
  readonly emit: Emit;
  /** Shows another certificate from now on. */
  readonly renew: (certificate: Certificate) => void;
}

/**
 * Follows the two files of the webhook port's certificate until the answer is called. What they hold is used once the
 * two fit each other; else the last good pair stays in use, and that is said. Expiry is said once a day.
 */
export function followWebhookCertificate(
  tls: NonNullable<Config['webhook']['tls']>,
  start: Certificate,
  parts: WebhookCertificateParts,
): () => void {
  return new Following(start, parts).begin({ certificate: tls.certificateFile, key: tls.keyFile });
}

class Following {
  readonly #parts: WebhookCertificateParts;
  #shown: Certificate;
  /** What the files hold: each is good by itself, and the two fit or may fit soon. */
  #seen: Texts;
  #doubt: Cancel | null = null;
  #day: Cancel | null = null;

  constructor(start: Certificate, parts: WebhookCertificateParts) {
    this.#parts = parts;
    this.#shown = start;
    this.#seen = textsOf(start);
  }

  begin(paths: Texts): () => void {
    const { clock } = this.#parts;
    const files = [this.#file('certificate', paths), this.#file('key', paths)];
    const unwatch = watchSecretFiles({ files, clock });
    this.#tellExpiry();
    return () => {
      unwatch();
      this.#doubt?.();
      this.#day?.();
    };
  }

  #file(part: Part, paths: Texts): WatchedFile {
    return {
      path: paths[part],
      take: (content) => this.#take(part, content.trim()),
      onFail: (why) => {
        this.#parts.emit('secret_reload_failed', { option: OPTIONS[part], why });
      },
    };
  }

  /** False: no good, whatever the other file holds. */
  #take(part: Part, text: string): boolean {
    if ((part === 'key' ? keyProblem(text) : certificateProblem(text)) !== null) return false;
    this.#seen = { ...this.#seen, [part]: text };
    this.#doubt?.();
    this.#doubt = null;
    const pair = readCertificate(this.#seen.certificate, this.#seen.key);
    const nowMs = this.#parts.clock.nowMs();
    if ('problem' in pair) this.#doubtFor(part);
    else if (pair.expiresAtMs <= nowMs && this.#shown.expiresAtMs > nowMs) return false;
    else this.#show(pair);
    return true;
  }

  #doubtFor(part: Part): void {
    const { clock, emit } = this.#parts;
    this.#doubt = clock.after(PAIR_GRACE_MS, () => {
      this.#doubt = null;
      emit('secret_reload_failed', { option: OPTIONS[part], why: 'refused' });
    });
  }

  #show(pair: Certificate): void {
    const before = textsOf(this.#shown);
    const changed = (['certificate', 'key'] as const).filter((part) => before[part] !== this.#seen[part]);
    if (changed.length === 0) return;
    this.#shown = pair;
    this.#parts.renew(pair);
    for (const part of changed) this.#parts.emit('secret_reloaded', { option: OPTIONS[part] });
    this.#tellExpiry();
  }

  #tellExpiry(): void {
    const { clock, emit } = this.#parts;
    this.#day?.();
    const days = daysLeft(this.#shown, clock.nowMs());
    if (days < EXPIRY_WARNING_DAYS) emit('certificate_expiring', { option: OPTIONS.certificate, daysLeft: days });
    this.#day = clock.after(DAY_MS, () => {
      this.#tellExpiry();
    });
  }
}

/** Without an editor's newline at the end, so that the same in other words is no change. */
function textsOf({ certificate, key }: Certificate): Texts {
  return { certificate: certificate.trim(), key: key.trim() };
}
