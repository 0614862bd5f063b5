import { hash } from 'node:crypto';
import { Fault } from '../kernel/fault.ts';

/** Where an update stands in its topic, and when it was written there. */
export interface UpdatePosition {
  readonly partition: number;
  readonly offset: bigint;
  /** Milliseconds since 1970, of the record. */
  readonly timestampMs: number;
}

/** How many updates are held by default: one for each trans_id and partition. */
export const MOST_IDS = 50_000_000;
const FIRST_SLOTS = 1024;
/** Above this share of its slots the table doubles. */
const FULL = 0.75;
const NOWHERE = -1;
/** Of a slot: this process has sent an update of the id, or an earlier one may have. */
const TOUCHED = 1;
const UNTOUCHED = 0;

/** The parallel columns of the table. 29 bytes a slot. */
interface Columns {
  readonly high: Uint32Array;
  readonly low: Uint32Array;
  readonly partitions: Int32Array;
  readonly offsets: Float64Array;
  readonly timestampsMs: Float64Array;
  readonly states: Uint8Array;
}

/**
 * The newest update of each trans_id among those it was shown, in whatever order. Within a partition the higher offset is
 * newer; between partitions the later timestamp, then the higher partition.
 *
 * An id is its SHA-256, cut to 64 bits: of 50 million ids two share one with a probability of 1 in 15,000, and then the
 * older update of the two counts as superseded. Open addressing in typed arrays: 39 to 77 bytes an id, outside of the
 * heap, half as much again while it grows. An id that has updates in several partitions takes a slot for each.
 */
export class Newest {
  readonly #most: number;
  readonly #hint: string;
  #slots = FIRST_SLOTS;
  #columns = toColumns(FIRST_SLOTS);
  #size = 0;
  #moved = 0;

  /** @param most how many updates it may hold. @param hint what its user may do about too many, as a sentence. */
  constructor(most: number = MOST_IDS, hint = 'Take a shorter range of time, one after the other: --from and --to.') {
    this.#most = most;
    this.#hint = hint;
  }

  /** How many updates are held: one for each id and partition. */
  get size(): number {
    return this.#size;
  }

  /** How often an id was found in one more partition than before: 0 where the records of an id keep to one partition. */
  get moved(): number {
    return this.#moved;
  }

  /** Shows it an update. Throws `INDEX_FULL` beyond the limit. */
  add(transId: string, { partition, offset, timestampMs }: UpdatePosition): void {
    const [high, low] = digestOf(transId);
    const { slot, isElsewhere } = this.#find(high, low, partition);
    const columns = this.#columns;
    if (columns.partitions[slot] === NOWHERE) {
      this.#enter(slot, { high, low, partition, isElsewhere });
    } else if (Number(offset) < (columns.offsets[slot] ?? 0)) return;
    columns.offsets[slot] = Number(offset);
    columns.timestampsMs[slot] = timestampMs;
    if (this.#size > this.#slots * FULL) this.#grow();
  }

  /** The newest update of an id that it was shown; null: none. */
  of(transId: string): UpdatePosition | null {
    const newest = this.#newestOf(...digestOf(transId));
    if (newest === NOWHERE) return null;
    return {
      partition: this.#columns.partitions[newest] ?? NOWHERE,
      offset: BigInt(this.#columns.offsets[newest] ?? 0),
      timestampMs: this.#columns.timestampsMs[newest] ?? 0,
    };
  }

  /** Whether no newer update of the id than this one was shown. */
  isNewest(transId: string, { partition, offset }: Omit<UpdatePosition, 'timestampMs'>): boolean {
    const newest = this.of(transId);
    return newest === null || (newest.partition === partition && newest.offset <= offset);
  }

  /** Remembers that an update of the id is sent. */
  touch(transId: string): void {
    this.#eachOf(...digestOf(transId), (slot) => {
      this.#columns.states[slot] = TOUCHED;
    });
  }

  isTouched(transId: string): boolean {
    let found = false;
    this.#eachOf(...digestOf(transId), (slot) => {
      found ||= this.#columns.states[slot] === TOUCHED;
    });
    return found;
  }

  /** Remembers of every id that an update of it may have been sent. */
  touchAll(): void {
    this.#columns.states.fill(TOUCHED);
  }

  /** Forgets what was sent; `but`: not of ids whose newest update is such a one. Answers how many ids are left touched. */
  settle(but: (newest: Omit<UpdatePosition, 'timestampMs'>) => boolean): number {
    const { high, low, partitions, offsets, states } = this.#columns;
    const left: number[] = [];
    for (let slot = 0; slot < this.#slots; slot += 1) {
      if (partitions[slot] === NOWHERE || states[slot] !== TOUCHED) continue;
      const newest = this.#newestOf(high[slot] ?? 0, low[slot] ?? 0);
      const at = { partition: partitions[newest] ?? NOWHERE, offset: BigInt(offsets[newest] ?? 0) };
      if (but(at)) left.push(newest);
    }
    states.fill(UNTOUCHED);
    for (const slot of left) states[slot] = TOUCHED;
    return new Set(left).size;
  }

  /** The slot of an id in a partition, or the free one where it belongs; `isElsewhere`: the id is known of another partition. */
  #find(high: number, low: number, partition: number): { readonly slot: number; readonly isElsewhere: boolean } {
    const columns = this.#columns;
    let isElsewhere = false;
    for (let slot = low % this.#slots; ; slot = (slot + 1) % this.#slots) {
      const found = columns.partitions[slot];
      if (found === NOWHERE) return { slot, isElsewhere };
      if (columns.low[slot] !== low || columns.high[slot] !== high) continue;
      if (found === partition) return { slot, isElsewhere };
      isElsewhere = true;
    }
  }

  #newestOf(high: number, low: number): number {
    const { partitions, timestampsMs } = this.#columns;
    let newest = NOWHERE;
    this.#eachOf(high, low, (slot) => {
      const later = (timestampsMs[slot] ?? 0) - (timestampsMs[newest] ?? 0);
      if (newest === NOWHERE || later > 0) newest = slot;
      else if (later === 0 && (partitions[slot] ?? 0) > (partitions[newest] ?? 0)) newest = slot;
    });
    return newest;
  }

  #eachOf(high: number, low: number, visit: (slot: number) => void): void {
    const columns = this.#columns;
    let slot = low % this.#slots;
    for (; columns.partitions[slot] !== NOWHERE; slot = (slot + 1) % this.#slots)
      if (columns.low[slot] === low && columns.high[slot] === high) visit(slot);
  }

  #enter(
    slot: number,
    { high, low, partition, isElsewhere }: { high: number; low: number; partition: number; isElsewhere: boolean },
  ): void {
    if (this.#size >= this.#most)
      throw new Fault(
        'INDEX_FULL',
        `The range has updates of more than ${this.#most.toLocaleString('en')} transactions, which is as many as are kept in mind. ${this.#hint}`,
      );
    const columns = this.#columns;
    columns.high[slot] = high;
    columns.low[slot] = low;
    columns.partitions[slot] = partition;
    columns.states[slot] = UNTOUCHED;
    this.#size += 1;
    if (isElsewhere) this.#moved += 1;
  }

  #grow(): void {
    const before = this.#columns;
    const slots = this.#slots;
    this.#slots = slots * 2;
    this.#columns = toColumns(this.#slots);
    for (let from = 0; from < slots; from += 1) {
      const partition = before.partitions[from] ?? NOWHERE;
      if (partition === NOWHERE) continue;
      const { slot } = this.#find(before.high[from] ?? 0, before.low[from] ?? 0, partition);
      this.#columns.high[slot] = before.high[from] ?? 0;
      this.#columns.low[slot] = before.low[from] ?? 0;
      this.#columns.partitions[slot] = partition;
      this.#columns.offsets[slot] = before.offsets[from] ?? 0;
      this.#columns.timestampsMs[slot] = before.timestampsMs[from] ?? 0;
      this.#columns.states[slot] = before.states[from] ?? UNTOUCHED;
    }
  }
}

function toColumns(slots: number): Columns {
  return {
    high: new Uint32Array(slots),
    low: new Uint32Array(slots),
    partitions: new Int32Array(slots).fill(NOWHERE),
    offsets: new Float64Array(slots),
    timestampsMs: new Float64Array(slots),
    states: new Uint8Array(slots),
  };
}

function digestOf(transId: string): [high: number, low: number] {
  const digest = hash('sha256', transId, 'buffer');
  return [digest.readUInt32BE(0), digest.readUInt32BE(4)];
}
