import { BucketCounts, type Distribution, OPERATION_SECONDS } from './bucket-counts.ts';

/** One kind of request to one server, and how it went. */
export interface ExchangeReport {
  readonly method: string;
  /** The path with names in place of what changes (`/schemas/ids/{id}`). */
  readonly template: string;
  readonly host: string;
  readonly port: number;
  /** Written and not answered yet. */
  readonly active: number;
  /** Seconds, by how they ended: an HTTP status, or the name of why there was no answer. */
  readonly ends: ReadonlyMap<number | string, Distribution>;
}

/** Which requests are counted; the origin's user info, if it has any, is left out. */
export interface ExchangeKind {
  readonly method: string;
  readonly template: string;
  readonly origin: string;
}

/** A server that answers with every status there is must not fill our memory: what comes after so many is `_OTHER`. */
const MOST_ENDS = 32;
const OTHER = '_OTHER';

/** Counts the requests of one kind, by their end, and how long they took. */
export class ExchangeCounts {
  active = 0;
  readonly #kind: ExchangeKind;
  readonly #ends = new Map<number | string, BucketCounts>();

  constructor(kind: ExchangeKind) {
    this.#kind = kind;
  }

  /** A request has ended. `how`: its HTTP status, or one of a few names. */
  ended(how: number | string, afterMs: number): void {
    (this.#ends.get(how) ?? this.#first(how)).add(afterMs / 1000);
  }

  report(): ExchangeReport {
    const { method, template, origin } = this.#kind;
    const { hostname, port, protocol } = new URL(origin);
    return {
      method,
      template,
      host: hostname,
      port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
      active: this.active,
      ends: this.#ends,
    };
  }

  #first(how: number | string): BucketCounts {
    const name = this.#ends.size < MOST_ENDS ? how : OTHER;
    const counts = this.#ends.get(name) ?? new BucketCounts(OPERATION_SECONDS);
    this.#ends.set(name, counts);
    return counts;
  }
}
