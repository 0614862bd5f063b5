import { authoritiesProblem, type KeyPair, readKeyPair } from '../config/pem.ts';
import { type TextFile, type TlsFiles, type TlsOptions } from '../config/tls.ts';
import { watchSecretFiles } from '../edges/system/secret-files.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { followCertificate } from './followed-certificate.ts';

/** All authorities of a machine in one file take some hundred kilobytes. */
const MOST_AUTHORITIES_BYTES = 4 * 1024 * 1024;

/** What is trusted and shown on a connection that is opened now; another object once either has changed. */
export interface TlsNow {
  /** In PEM, instead of those that Node brings; null: those. */
  readonly authorities: string | null;
  /** Null: none is shown. */
  readonly pair: KeyPair | null;
}

/** TLS towards one neighbour, from files that may change while the process runs: what is no good changes nothing. */
export class FollowedTls {
  readonly #options: TlsOptions;
  readonly #files: TlsFiles;
  #now: TlsNow;

  /** `files` as the configuration has judged them. */
  constructor(options: TlsOptions, files: TlsFiles) {
    this.#options = options;
    this.#files = files;
    this.#now = { authorities: files.authorities?.text ?? null, pair: pairOf(files) };
  }

  /** As an unbound function, to be asked for each connection. */
  readonly now = (): TlsNow => this.#now;

  /** Reads the files again and again until the answer is called. */
  follow(parts: { readonly clock: Clock; readonly emit: Emit }): () => void {
    const ends = [this.#followAuthorities(parts), this.#followPair(parts)];
    return () => {
      for (const end of ends) end?.();
    };
  }

  #followPair({ clock, emit }: { readonly clock: Clock; readonly emit: Emit }): (() => void) | null {
    const { certificate: certificateFile, key: keyFile } = this.#files;
    const { certificate, key } = this.#options;
    const start = this.#now.pair;
    if (start === null || certificate === null || key === null) return null;
    return followCertificate(start, {
      options: { certificate, key },
      paths: { certificate: certificateFile?.path ?? '', key: keyFile?.path ?? '' },
      clock,
      emit,
      renew: (pair) => {
        this.#now = { ...this.#now, pair };
      },
    });
  }

  #followAuthorities({ clock, emit }: { readonly clock: Clock; readonly emit: Emit }): (() => void) | null {
    const { authorities: file } = this.#files;
    const { authorities: option } = this.#options;
    if (file === null || option === null) return null;
    const take = (content: string): boolean => {
      const authorities = content.trim();
      if (authoritiesProblem(authorities) !== null) return false;
      if (authorities === this.#now.authorities?.trim()) return true;
      this.#now = { ...this.#now, authorities };
      emit('secret_reloaded', { option });
      return true;
    };
    const onFail = (why: 'unreadable' | 'empty' | 'refused'): void => {
      emit('secret_reload_failed', { option, why });
    };
    return watchSecretFiles({ files: [{ path: file.path, mostBytes: MOST_AUTHORITIES_BYTES, take, onFail }], clock });
  }
}

function pairOf({
  certificate,
  key,
}: {
  readonly certificate: TextFile | null;
  readonly key: TextFile | null;
}): KeyPair | null {
  if (certificate === null || key === null) return null;
  const read = readKeyPair(certificate.text, key.text);
  return 'problem' in read ? null : read;
}
