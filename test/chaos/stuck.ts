import { type ScreeningService } from '../../src/sandbox/service/screening-service.ts';
import { killBound, type Repeat, repeatsAfter } from './reckoning.ts';
import { type LifeEnd, type Sighting, type TopicContents } from './sightings.ts';

/** So much has finished above a payment that sticks when its connector is killed. */
export const FINISHED_ABOVE = 2000;

const UNAVAILABLE = { code: 503, share: 1 };

/** A payment that stuck, and the kill in the middle of it. */
export interface Sticking {
  readonly transId: string;
  readonly end: LifeEnd;
}

/** What the kill above a stuck payment did. Counts both topics: payments and status updates. */
export interface StuckRound {
  readonly owner: string;
  /** Of the records above the stuck ones, in the same partitions: answered before the kill. */
  readonly finishedAbove: number;
  /** Of those that had been asked for by the life that was killed: asked for again. */
  readonly repeatedAbove: number;
  /** What may be: at the service then, or answered within the window before. */
  readonly bound: number;
}

/** Lets one payment stick: the service answers 503 to it, and to nothing else, until it is released. */
export class StuckPayment {
  readonly #faults: ScreeningService['faults'];
  #transId: string | null = null;
  #wanted: ((first: Sighting) => void) | null = null;

  constructor(faults: ScreeningService['faults']) {
    this.#faults = faults;
  }

  /** The next payment that is asked about sticks; resolves when it has come. */
  async next(): Promise<Sighting> {
    return await new Promise((resolve) => {
      this.#wanted = resolve;
    });
  }

  release(): void {
    this.#transId = null;
    this.#wanted = null;
  }

  /** To be called with each payment at the service's door, in the same breath in which the service reads it. */
  meet(sighting: Sighting): void {
    if (this.#wanted !== null) {
      this.#transId = sighting.transId;
      this.#wanted(sighting);
      this.#wanted = null;
    }
    if (sighting.transId !== this.#transId) return;
    const before = this.#faults.get();
    this.#faults.set({ ...before, status: UNAVAILABLE });
    // The service decides at once what befalls a request, so no other one meets this fault.
    queueMicrotask(() => {
      this.#faults.set(before);
    });
  }
}

/** How many payments that are known to be in the stuck one's partition were asked about later and have been answered. */
export function finishedSince(
  stuck: Sighting,
  sightings: readonly Sighting[],
  partitionOf: (key: string) => number,
): number {
  const partition = partitionOf(stuck.key ?? '');
  let finished = 0;
  for (const { kind, key, status, startedMs } of sightings)
    if (kind === 'score' && status === 200 && startedMs > stuck.startedMs && partitionOf(key ?? '') === partition)
      finished += 1;
  return finished;
}

/** Reckons what was done twice above a stuck payment, and above its status, after the kill. `repeats`: without retries. */
export function stuckRoundOf(
  { transId, end }: Sticking,
  evidence: {
    readonly topics: Pick<TopicContents, 'created' | 'authorized'>;
    readonly sightings: readonly Sighting[];
    readonly repeats: readonly Repeat[];
    readonly windowMs: number;
  },
): StuckRound {
  const { topics, sightings, repeats, windowMs } = evidence;
  const above = {
    score: idsAbove(transId, topics.created),
    sync: idsAbove(transId, topics.authorized),
  };
  const isAbove = (each: Pick<Sighting, 'kind' | 'transId'>): boolean => above[each.kind].has(each.transId);
  const seen = sightings.filter(isAbove);
  const finished = seen.filter(({ status, endedMs }) => status === 200 && endedMs !== null && endedMs < end.atMs);
  return {
    owner: end.owner,
    finishedAbove: new Set(finished.map(({ kind, transId: id }) => `${kind} ${id}`)).size,
    repeatedAbove: repeatsAfter(end, repeats).filter(isAbove).length,
    bound: killBound(end, seen, windowMs),
  };
}

/** The ids of the records behind the first one of this id, in its partition. */
function idsAbove(transId: string, records: TopicContents['created']): ReadonlySet<string> {
  const stuck = records.find((record) => record.transId === transId);
  if (stuck === undefined) return new Set();
  const above = records.filter(({ partition, offset }) => partition === stuck.partition && offset > stuck.offset);
  return new Set(above.map((record) => record.transId));
}
