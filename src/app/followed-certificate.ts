import { certificateProblem, keyProblem, type KeyPair, readKeyPair } from '../config/pem.ts';
import { type WatchedFile, watchSecretFiles } from '../edges/system/secret-files.ts';
import { type Cancel, type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';

/** Something of each of the two files. */
export interface OfPair<T> {
  readonly certificate: T;
  readonly key: T;
}

/** From when on it is said that a certificate expires. */
export const EXPIRY_WARNING_DAYS = 14;
const DAY_MS = 86_400_000;
/** Two files are not renewed in the same moment: until then one that does not fit the other is no failure. */
const PAIR_GRACE_MS = 10_000;

/** Whole days from `nowMs` until a certificate expires; below 0: it has. */
export function daysLeft({ expiresAtMs }: Pick<KeyPair, 'expiresAtMs'>, nowMs: number): number {
  return Math.floor((expiresAtMs - nowMs) / DAY_MS);
}

export interface FollowedCertificateParts {
  /** The names of the two options. */
  readonly options: OfPair<string>;
  readonly paths: OfPair<string>;
  readonly clock: Clock;
  readonly emit: Emit;
  /** Shows another pair from now on. */
  readonly renew: (pair: KeyPair) => void;
}

/**
 * Follows the two files of a certificate and its key until the answer is called. What they hold is used once the two fit
 * each other; else the last good pair stays in use, and that is said. Expiry is said once a day.
 */
export function followCertificate(start: KeyPair, parts: FollowedCertificateParts): () => void {
  return new Following(start, parts).begin();
}

class Following {
  readonly #parts: FollowedCertificateParts;
  #shown: KeyPair;
  /** What the files hold: each is good by itself, and the two fit or may fit soon. */
  #seen: OfPair<string>;
  #doubt: Cancel | null = null;
  #day: Cancel | null = null;

  constructor(start: KeyPair, parts: FollowedCertificateParts) {
    this.#parts = parts;
    this.#shown = start;
    this.#seen = textsOf(start);
  }

  begin(): () => void {
    const { clock } = this.#parts;
    const files = [this.#file('certificate'), this.#file('key')];
    const unwatch = watchSecretFiles({ files, clock });
    this.#tellExpiry();
    return () => {
      unwatch();
      this.#doubt?.();
      this.#day?.();
    };
  }

  #file(part: keyof OfPair<string>): WatchedFile {
    const { options, paths, emit } = this.#parts;
    return {
      path: paths[part],
      take: (content) => this.#take(part, content.trim()),
      onFail: (why) => {
        emit('secret_reload_failed', { option: options[part], why });
      },
    };
  }

  /** False: no good, whatever the other file holds. */
  #take(part: keyof OfPair<string>, text: string): boolean {
    if ((part === 'key' ? keyProblem(text) : certificateProblem(text)) !== null) return false;
    // Read for the first time, or there again: it is the other one that may not fit.
    if (text === this.#seen[part]) return true;
    this.#seen = { ...this.#seen, [part]: text };
    this.#doubt?.();
    this.#doubt = null;
    const pair = readKeyPair(this.#seen.certificate, this.#seen.key);
    const nowMs = this.#parts.clock.nowMs();
    if ('problem' in pair) this.#doubtFor(part);
    else if (pair.expiresAtMs <= nowMs && this.#shown.expiresAtMs > nowMs) return false;
    else this.#show(pair);
    return true;
  }

  #doubtFor(part: keyof OfPair<string>): void {
    const { clock, emit, options } = this.#parts;
    this.#doubt = clock.after(PAIR_GRACE_MS, () => {
      this.#doubt = null;
      emit('secret_reload_failed', { option: options[part], why: 'refused' });
    });
  }

  #show(pair: KeyPair): void {
    const { options, emit, renew } = this.#parts;
    const before = textsOf(this.#shown);
    const changed = (['certificate', 'key'] as const).filter((part) => before[part] !== this.#seen[part]);
    if (changed.length === 0) return;
    this.#shown = pair;
    renew(pair);
    for (const part of changed) emit('secret_reloaded', { option: options[part] });
    this.#tellExpiry();
  }

  #tellExpiry(): void {
    const { clock, emit, options } = this.#parts;
    this.#day?.();
    const days = daysLeft(this.#shown, clock.nowMs());
    if (days < EXPIRY_WARNING_DAYS) emit('certificate_expiring', { option: options.certificate, daysLeft: days });
    this.#day = clock.after(DAY_MS, () => {
      this.#tellExpiry();
    });
  }
}

/** Without an editor's newline at the end, so that the same in other words is no change. */
function textsOf({ certificate, key }: KeyPair): OfPair<string> {
  return { certificate: certificate.trim(), key: key.trim() };
}
