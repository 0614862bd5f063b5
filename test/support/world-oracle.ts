import { decodeMap } from '../../src/engine/offset-map.ts';
import { type EventFields } from '../../src/kernel/emit.ts';
import { type Commit, type SourceRecord, type Tenure } from '../../src/engine/ports.ts';

/** A record as the oracle knows it; its text tells key and place in the key: `k2#5`. */
export interface Item {
  readonly text: string;
  readonly key: string;
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** What the oracle knows of one process: what it works on, and what it has ended that no acknowledged commit says. */
export interface Witnessed {
  readonly open: Set<Item>;
  readonly unsaved: Map<Item, Tenure>;
}

/**
 * Sees every append, start, effect, end and commit of a world, and says what was wrong about them in `faults`.
 *
 * A record is `done` when its effect is in the world: the service has it, or Kafka has its letter. It may be done twice only
 * if it is excused: it was under way in a process when that one died or lost its partition, or had ended there after
 * the last commit that was acknowledged to it.
 *
 * A record is `gone` when its log has lost it before it was done, and an engine has reported that.
 */
export class Oracle {
  readonly faults: string[] = [];
  readonly #clusterHash: string;
  readonly #items = new Map<string, Item>();
  readonly #byKey = new Map<string, Item[]>();
  readonly #done = new Map<Item, number>();
  readonly #excused = new Set<Item>();
  readonly #gone = new Set<Item>();
  readonly #read = new Set<Item>();
  /** Of reported gaps: the sum of what they call missing, and how many of their offsets hold no record. */
  #reportedMissing = 0;
  #reportedHoles = 0;
  readonly #witnessed = new Set<Witnessed>();

  constructor(clusterHash: string) {
    this.#clusterHash = clusterHash;
  }

  /** A process begins. */
  witness(): Witnessed {
    const witnessed: Witnessed = { open: new Set(), unsaved: new Map() };
    this.#witnessed.add(witnessed);
    return witnessed;
  }

  appended(item: Item): void {
    this.#items.set(item.text, item);
    this.#byKey.set(item.key, [...(this.#byKey.get(item.key) ?? []), item]);
  }

  /** The next text of a key. */
  nextOf(key: string): string {
    return `${key}#${String(this.#byKey.get(key)?.length ?? 0)}`;
  }

  of({ value }: SourceRecord): Item {
    const item = this.#items.get(String(value));
    if (item === undefined) throw new Error('a record that nobody wrote');
    return item;
  }

  /** A step begins, or the letter that it has come to. */
  started(by: Witnessed, item: Item): void {
    this.#inOrder(item);
    for (const other of this.#witnessed)
      for (const busy of other.open)
        if (busy.key === item.key && (other === by || !this.#excused.has(busy)))
          this.#fault(`${item.text} started beside ${busy.text}`);
    by.open.add(item);
  }

  /**
   * The effect of a step or letter is in the world, whether its process hears of it or not. `isExcused`: it is not known
   * in which tenure, so it may be done again.
   */
  did(item: Item, isExcused = false): void {
    this.#done.set(item, (this.#done.get(item) ?? 0) + 1);
    if (isExcused) this.#excused.add(item);
  }

  /** A step has ended. `settledIn`: its record has, too, and its process may commit it while it owns the partition. */
  ended(by: Witnessed, item: Item, settledIn: Tenure | null): void {
    by.open.delete(item);
    if (settledIn?.phase === 'owned') by.unsaved.set(item, settledIn);
  }

  /** A commit is asked for; the answer is to be called when it has succeeded. It must say all that has ended by now. */
  commits(by: Witnessed, commits: readonly Commit[]): () => void {
    for (const [item, { phase }] of by.unsaved) if (phase === 'lost') by.unsaved.delete(item);
    const said = [...by.unsaved.keys()].filter((item) => {
      const commit = commits.find(({ topic, partition }) => topic === item.topic && partition === item.partition);
      if (commit === undefined) return false;
      if (!this.#says(commit, item)) this.#fault(`a commit does not say that ${item.text} has ended`);
      return true;
    });
    return () => {
      for (const item of said) by.unsaved.delete(item);
    };
  }

  /** A flow has got a record to work on. */
  read(record: SourceRecord): void {
    this.#read.add(this.of(record));
  }

  /** An engine has reported a gap: it counts all that is gone with it, at least. */
  reported({ topic, partition, from, to, missing }: EventFields['offset_gap']): void {
    const inGap = [...this.#items.values()].filter(
      (item) =>
        item.topic === topic && item.partition === partition && item.offset >= BigInt(from) && item.offset < BigInt(to),
    );
    const gone = inGap.filter((item) => !this.#hasEnded(item));
    if (Number(missing) < gone.length)
      this.#fault(`${missing} are reported missing, and ${String(gone.length)} are gone`);
    for (const item of gone) this.#gone.add(item);
    this.#reportedMissing += Number(missing);
    this.#reportedHoles += Number(BigInt(to) - BigInt(from)) - inGap.length;
  }

  /** What must not be in a world in which nobody dies or loses a partition: records that were read and are gone, and a count that is not exact. */
  get misreported(): readonly string[] {
    const dropped = [...this.#gone].filter((item) => this.#read.has(item)).map(({ text }) => `${text} was dropped`);
    const most = this.#gone.size + this.#reportedHoles;
    if (this.#reportedMissing <= most) return dropped;
    return [...dropped, `${String(this.#reportedMissing)} are reported missing, of ${String(most)} at most`];
  }

  /** A commit was stored: nothing that it says may be undone. */
  stored(commit: Commit): void {
    for (const item of this.#items.values())
      if (item.topic === commit.topic && item.partition === commit.partition && !this.#hasEnded(item)) {
        if (item.offset < commit.offset) this.#fault(`the committed offset passed ${item.text}`);
        else if (this.#says(commit, item)) this.#fault(`a map says that ${item.text} has ended`);
      }
  }

  /** A process is dead, has lost a partition, or could not let all end before a join: what of it may be done twice. */
  excuse(by: Witnessed): void {
    for (const item of [...by.open, ...by.unsaved.keys()]) this.#excused.add(item);
  }

  /** A process is about to die, and has said what of it would be done twice at most. */
  bounded(by: Witnessed, bound: number): void {
    const ended = [...by.unsaved].filter(([, { phase }]) => phase === 'owned').map(([item]) => item);
    const repeated = new Set([...by.open, ...ended]);
    if (repeated.size > bound)
      this.#fault(`a kill repeats ${String(repeated.size)}, and the bound was ${String(bound)}`);
  }

  /** A process is gone, and what it had under way with it. */
  forget(by: Witnessed): void {
    this.#witnessed.delete(by);
  }

  get missing(): readonly string[] {
    return [...this.#items.values()].filter((item) => !this.#hasEnded(item)).map(({ text }) => text);
  }

  get doubled(): readonly string[] {
    return [...this.#done].filter(([, times]) => times > 1).map(([{ text }]) => text);
  }

  /** Done twice without an excuse. */
  get unexcused(): readonly string[] {
    return [...this.#done].filter(([item, times]) => times > 1 && !this.#excused.has(item)).map(([{ text }]) => text);
  }

  #hasEnded(item: Item): boolean {
    return this.#done.has(item) || this.#gone.has(item);
  }

  #inOrder(item: Item): void {
    for (const earlier of this.#byKey.get(item.key) ?? []) {
      if (earlier === item) break;
      if (!this.#hasEnded(earlier)) this.#fault(`${item.text} started before ${earlier.text} had ended`);
    }
  }

  #says({ offset, metadata }: Commit, item: Item): boolean {
    if (item.offset < offset) return true;
    const map = decodeMap(metadata, { clusterHash: this.#clusterHash, offset });
    const at = Number(item.offset - offset);
    return map.do === 'map' && map.ranges.some(({ from, length }) => at >= from && at < from + length);
  }

  #fault(text: string): void {
    this.faults.push(text);
  }
}
