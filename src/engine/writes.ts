import { type Entry } from './entry.ts';
import { type Partition } from './partition.ts';

/**
 * The records of a flow of which something only has to be written to Kafka: scores, and dead letters. They stand in no
 * queue with records that need the flow's room, and they wait for nothing that ails the service.
 */
export class Writes {
  /** Those under way. */
  inFlight = 0;
  /** Dead letters that are not written yet, and their size. */
  deadLetters = 0;
  deadLetterBytes = 0;
  /** Whether reading of all partitions that they come from is paused because they are too many. */
  full = false;
  /** Whether the dead letter that was tried last could not be written. */
  #isUnwritable = false;
  readonly #partitions = new Set<Partition>();

  /** A partition may have such records that are ready. */
  join(partition: Partition): void {
    if (partition.mayWrite) this.#partitions.add(partition);
  }

  /** Takes one that is ready, or undefined. */
  take(): Entry | undefined {
    for (const partition of this.#partitions) {
      if (partition.mayWrite) return partition.takeToWrite();
      this.#partitions.delete(partition);
    }
    return undefined;
  }

  /** One begins, or (`-1`) has ended. */
  running({ tenure }: Entry, by: 1 | -1): void {
    this.inFlight += by;
    tenure.writing += by;
  }

  /** A record has come to be a dead letter, or (`-1`) is one no more: it is written, or lost. */
  count({ bytes, letter, tenure }: Entry, by: 1 | -1): void {
    if (letter === null) return;
    tenure.deadLetters += by;
    this.deadLetters += by;
    this.deadLetterBytes += by * bytes;
  }

  /** A dead letter was tried. True: it is the first that is written after others were not, so those may be tried again. */
  tried(isWritten: boolean): boolean {
    const isFirst = isWritten && this.#isUnwritable;
    this.#isUnwritable = !isWritten;
    return isFirst;
  }
}
