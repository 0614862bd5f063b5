import { type Cancel, type Clock } from '../../kernel/clock.ts';
import { readTextFileLater } from './files.ts';

/** A file that is read again and again. */
export interface WatchedFile {
  readonly path: string;
  /** A larger file is unreadable; 64 KiB unless told. */
  readonly mostBytes?: number;
  /** Content that was not seen before and stayed; false: it is no good. */
  readonly take: (content: string) => boolean;
  /** Once for each way in which the file is not what it should be. */
  readonly onFail: (why: SecretFileFailure) => void;
}

/** `unreadable`: missing, forbidden, not a file, or no answer; `empty`: nothing but white space; `refused`: breaks the option's rule. */
export type SecretFileFailure = 'unreadable' | 'empty' | 'refused';

export interface SecretFilesParts {
  readonly files: readonly WatchedFile[];
  readonly clock: Clock;
  /** For tests: the text of a file; rejects where it cannot be read. */
  readonly read?: (path: string, mostBytes: number) => Promise<string>;
}

const LOOK_EVERY_MS = 3000;
/** A file may be seen half written: what is new has to be the same after this long. */
const SETTLE_MS = 500;
const MOST_BYTES = 65_536;

/**
 * Reads files every three seconds and tells of content that has changed and stayed; answers what ends that. By content,
 * not by notification: a mounted secret changes by a swap of symbolic links, which many file systems tell nobody.
 */
export function watchSecretFiles({ files, clock, read = readTextFileLater }: SecretFilesParts): () => void {
  const ends = files.map((file) => new Watch(file, clock, read).begin());
  return () => {
    for (const end of ends) end();
  };
}

type Seen = { readonly content: string } | { readonly failure: 'unreadable' };

/**
 * One file. States: steady (what is there was taken); doubtful (something new was seen once); failed (what is there is no
 * good, and that was said once). Each file looks on its own, so that one that hangs holds up no other.
 */
class Watch {
  readonly #file: WatchedFile;
  readonly #clock: Clock;
  readonly #read: (path: string, mostBytes: number) => Promise<string>;
  /** Taken, or said to be no good: nothing to do while it is seen again. */
  #known: Seen | null = null;
  #doubtful: Seen | null = null;
  #cancel: Cancel | null = null;
  #ended = false;

  constructor(file: WatchedFile, clock: Clock, read: (path: string, mostBytes: number) => Promise<string>) {
    this.#file = file;
    this.#clock = clock;
    this.#read = read;
  }

  begin(): () => void {
    this.#lookAfter(LOOK_EVERY_MS);
    return () => {
      this.#ended = true;
      this.#cancel?.();
    };
  }

  #lookAfter(delayMs: number): void {
    this.#cancel = this.#clock.after(delayMs, () => {
      void this.#look();
    });
  }

  /** Never rejects. */
  async #look(): Promise<void> {
    let seen: Seen;
    try {
      const { path, mostBytes = MOST_BYTES } = this.#file;
      seen = { content: await this.#read(path, mostBytes) };
    } catch {
      seen = { failure: 'unreadable' };
    }
    if (this.#ended) return;
    this.#lookAfter(this.#judge(seen) ? LOOK_EVERY_MS : SETTLE_MS);
  }

  /** False: look again soon. */
  #judge(seen: Seen): boolean {
    const doubtful = this.#doubtful;
    this.#doubtful = null;
    if (isSame(seen, this.#known)) return true;
    if (!isSame(seen, doubtful)) {
      this.#doubtful = seen;
      return false;
    }
    this.#known = seen;
    if ('failure' in seen) this.#file.onFail(seen.failure);
    else if (seen.content.trim() === '') this.#file.onFail('empty');
    else if (!this.#file.take(seen.content)) this.#file.onFail('refused');
    return true;
  }
}

function isSame(one: Seen, other: Seen | null): boolean {
  if (other === null) return false;
  if ('failure' in one || 'failure' in other) return 'failure' in one && 'failure' in other;
  return one.content === other.content;
}
