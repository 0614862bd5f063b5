import { performance } from 'node:perf_hooks';

/** What came to the service in a time: counts, and what broke the order of a key. */
export interface Counts {
  readonly answered: number;
  /** Of these, those of the most frequent key. */
  readonly answeredHot: number;
  /** From the last byte of a request to the answer, in all. */
  readonly servedMs: number;
  /** Requests of a key after a later record of it. */
  readonly disorders: number;
  /** Requests of a key while another one of it was open. */
  readonly overlaps: number;
  /** Requests for a record that had been asked for before. */
  readonly doubled: number;
}

/** Counts at the service's door, in plain numbers: it must cost next to nothing. */
export class Tally implements Counts {
  readonly #keyOfRecord: Uint32Array;
  readonly #hottest: number;
  readonly #seen: Uint8Array;
  readonly #highest: Float64Array;
  readonly #openOfKey: Uint16Array;
  answered = 0;
  answeredHot = 0;
  servedMs = 0;
  disorders = 0;
  overlaps = 0;
  doubled = 0;

  /** @param keyOfRecord the key of each record, by number. */
  constructor(keyOfRecord: Uint32Array, keys: number) {
    this.#keyOfRecord = keyOfRecord;
    this.#seen = new Uint8Array(keyOfRecord.length);
    this.#highest = new Float64Array(keys).fill(-1);
    this.#openOfKey = new Uint16Array(keys);
    const counts = new Uint32Array(keys);
    for (const key of keyOfRecord) counts[key] = (counts[key] ?? 0) + 1;
    this.#hottest = counts.indexOf(counts.reduce((most, count) => Math.max(most, count), 0));
  }

  came(record: number): void {
    const key = this.#keyOfRecord[record] ?? 0;
    const open = this.#openOfKey[key] ?? 0;
    if (open > 0) this.overlaps += 1;
    this.#openOfKey[key] = open + 1;
    if (this.#seen[record] === 1) this.doubled += 1;
    else if (record < (this.#highest[key] ?? -1)) this.disorders += 1;
    else this.#highest[key] = record;
    this.#seen[record] = 1;
  }

  left(record: number, cameMs: number): void {
    const key = this.#keyOfRecord[record] ?? 0;
    this.#openOfKey[key] = (this.#openOfKey[key] ?? 1) - 1;
    this.answered += 1;
    if (key === this.#hottest) this.answeredHot += 1;
    this.servedMs += performance.now() - cameMs;
  }

  /** The counts as they are now. */
  snapshot(): Counts {
    const { answered, answeredHot, servedMs, disorders, overlaps, doubled } = this;
    return { answered, answeredHot, servedMs, disorders, overlaps, doubled };
  }
}
