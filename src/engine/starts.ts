import { type Entry } from './entry.ts';
import { Fifo } from './fifo.ts';
import { type Partition } from './partition.ts';

/** After so many records that followed one of their own partition the next start belongs to the round: nobody starves. */
const KEPT_IN_A_ROW = 8;

/**
 * The records of one flow that may start, in the order in which they do: those that were tried before and are due again,
 * then those that were not, the oldest of each partition in turn.
 */
export class Starts {
  readonly #repeats = new Fifo<Entry>();
  /** Partitions that may have a ready record, each once. */
  readonly #round = new Fifo<Partition>();
  #kept = 0;

  /** A partition may have a ready record. */
  join(partition: Partition): void {
    if (partition.inRound || !partition.hasReady) return;
    partition.inRound = true;
    this.#round.push(partition);
  }

  /** A record that was tried before is due again. */
  repeat(entry: Entry): void {
    entry.state = 'ready';
    this.#repeats.push(entry);
  }

  /** The repeat that is due for the longest time; stays until `takeRepeat`. */
  peekRepeat(): Entry | undefined {
    for (let entry = this.#repeats.peek(); entry !== undefined; entry = this.#repeats.peek()) {
      if (entry.tenure.phase !== 'lost') return entry;
      this.#repeats.shift();
    }
    return undefined;
  }

  takeRepeat(): Entry | undefined {
    return this.#repeats.shift();
  }

  /** Whether a record that was not tried yet could start. */
  get untriedWaits(): boolean {
    for (const partition of this.#round) if (partition.mayStart) return true;
    return false;
  }

  /** Takes the head of a key queue that became ready last and was not tried yet: it is the least likely to have a part in what fails. */
  takeNewest(): Entry | undefined {
    let newest: Partition | undefined;
    let newestMs = -Infinity;
    for (const partition of this.#round) {
      const entry = partition.mayStart ? partition.peekNewest() : undefined;
      if (entry === undefined || entry.record.timestampMs < newestMs) continue;
      newest = partition;
      newestMs = entry.record.timestampMs;
    }
    return newest?.takeNewest();
  }

  /**
   * Starts records until `start` says that there is no room. `inFlight`: steps that need room. `freed`: a partition one of
   * whose records has just ended; it may use the room itself as long as it has no more than an equal part of them under
   * way. A hot key, whose records go one after
   * another, then goes on at once and not after a turn of all others.
   */
  turn(freed: Partition | null, inFlight: number, start: (partition: Partition) => boolean): void {
    const mayKeep = this.#kept < KEPT_IN_A_ROW && stepsOf(freed) * this.#round.size <= inFlight;
    if (freed !== null && freed.mayStart && mayKeep) {
      this.#kept += 1;
      start(freed);
    }
    for (let partition = this.#round.peek(); partition !== undefined; partition = this.#round.peek()) {
      const may = partition.mayStart;
      if (may && !start(partition)) return;
      this.#round.shift();
      if (may) {
        this.#round.push(partition);
        this.#kept = 0;
      } else partition.inRound = false;
    }
  }
}

/** Steps of a partition that need room, and are under way. */
function stepsOf(partition: Partition | null): number {
  return partition === null ? 0 : partition.running - partition.writing;
}
