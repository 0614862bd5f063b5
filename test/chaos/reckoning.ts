import { type Freeze, type LifeEnd, type Logged, type Sighting, type TopicContents } from './sightings.ts';

/** What is compared: what Kafka holds, what was asked of the service, and what befell the connectors. */
export interface Evidence {
  readonly topics: TopicContents;
  /** trans_ids of payments, and of statuses, that Kafka acknowledged to the producer. */
  readonly acknowledged: { readonly payments: readonly string[]; readonly statuses: readonly string[] };
  /** In order of `startedMs`. */
  readonly sightings: readonly Sighting[];
  readonly freezes: readonly Freeze[];
}

/** Requests of one kind for an id that had been asked for before, beyond its records in the topic. */
export interface Repeat {
  readonly kind: Sighting['kind'];
  readonly transId: string;
  /** Who asked before, and who asked again. */
  readonly first: string;
  readonly again: string;
  /** Null: not answered with 200. */
  readonly firstEndedMs: number | null;
  readonly atMs: number;
  /** The same life again, after an attempt that came to no answer: a retry, not a record read twice. */
  readonly isRetry: boolean;
}

/** The promises, each as the number of times it was broken, and what is only counted. */
export interface Reckoned {
  readonly payments: number;
  readonly statuses: number;
  /** Acknowledged to the producer and not in the topic: the brokers' loss, not the connector's. */
  readonly lostByKafka: number;
  readonly notScored: number;
  readonly notReported: number;
  /** Payments without a score record. */
  readonly notPublished: number;
  readonly letters: number;
  /** Two different payments of a customer at the service at once. */
  readonly overlaps: number;
  /** One customer, or one status, at the service for two lives at once. */
  readonly twoOwners: number;
  /** First scorings of a customer's payments in another order than their records. */
  readonly disorders: number;
  /** Statuses that came before their payment. */
  readonly early: number;
  /** Requests of a life that woke from a freeze, before it was given its partitions anew, for what another one had begun meanwhile. */
  readonly late: number;
  readonly repeats: readonly Repeat[];
}

export function reckon({ topics, acknowledged, sightings, freezes }: Evidence): Reckoned {
  const scores = sightings.filter(({ kind }) => kind === 'score');
  const updates = sightings.filter(({ kind }) => kind === 'sync');
  const scoresById = groupBy(scores, ({ transId }) => transId);
  const updatesById = groupBy(updates, ({ transId }) => transId);
  const byKey = groupBy(scores, ({ key }) => key ?? '');
  const created = groupBy(topics.created, ({ transId }) => transId);
  const authorized = groupBy(topics.authorized, ({ transId }) => transId);
  const met = meetings([...byKey.values(), ...updatesById.values()]);
  return {
    payments: created.size,
    statuses: authorized.size,
    lostByKafka:
      count(acknowledged.payments, (id) => !created.has(id)) +
      count(acknowledged.statuses, (id) => !authorized.has(id)),
    notScored: count(created.keys(), (id) => !isAnswered(scoresById.get(id))),
    notReported: count(authorized.keys(), (id) => !isAnswered(updatesById.get(id))),
    notPublished: count(created.keys(), (id) => !topics.scored.has(id)),
    letters: topics.letters,
    overlaps: met.overlaps,
    twoOwners: met.twoOwners,
    disorders: disordersOf(byKey.values(), created),
    early: count(updatesById, ([id, [first]]) => {
      const scored = scoresById.get(id)?.[0];
      return scored === undefined || (first !== undefined && first.startedMs < scored.startedMs);
    }),
    late: lateOf(freezes, scores, byKey),
    repeats: [...repeatsOf(scoresById, created), ...repeatsOf(updatesById, authorized)],
  };
}

/** By promise: how often it was broken. Empty: everything is as promised. */
export function broken(found: Reckoned): Readonly<Record<string, number>> {
  const { lostByKafka, notScored, notReported, notPublished, letters, overlaps, twoOwners, disorders, early, late } =
    found;
  const all = {
    lostByKafka,
    notScored,
    notReported,
    notPublished,
    letters,
    overlaps,
    twoOwners,
    disorders,
    early,
    late,
  };
  return Object.fromEntries(Object.entries(all).filter(([, times]) => times > 0));
}

/**
 * How many repeats a kill may cause: what its life had at the service then (what the service found in a socket later
 * included), and what had been answered within `windowMs` before (the commit of which may not have been made).
 */
export function killBound(end: LifeEnd, sightings: readonly Sighting[], windowMs: number): number {
  return count(sightings, ({ owner, endedMs }) => owner === end.owner && (endedMs ?? Infinity) >= end.atMs - windowMs);
}

/** Repeats that came of the end of a life: after it, of what it had asked for. */
export function repeatsAfter(end: LifeEnd, repeats: readonly Repeat[]): readonly Repeat[] {
  return repeats.filter(({ first, again, atMs }) => first === end.owner && again !== end.owner && atMs >= end.atMs);
}

function isAnswered(sightings: readonly Sighting[] | undefined): boolean {
  return sightings?.some(({ status }) => status === 200) === true;
}

/** Requests that came while another one of the same group was open. A retry of the same id by the same life is none. */
function meetings(groups: Iterable<readonly Sighting[]>): { overlaps: number; twoOwners: number } {
  const found = { overlaps: 0, twoOwners: 0 };
  for (const group of groups) {
    let open: readonly Sighting[] = [];
    for (const now of group) {
      open = open.filter(({ endedMs }) => (endedMs ?? Infinity) > now.startedMs);
      if (open.some(({ owner }) => owner !== now.owner)) found.twoOwners += 1;
      if (open.some(({ transId }) => transId !== now.transId)) found.overlaps += 1;
      open = [...open, now];
    }
  }
  return found;
}

function disordersOf(keys: Iterable<readonly Sighting[]>, created: ReadonlyMap<string, readonly Logged[]>): number {
  let disorders = 0;
  for (const sightings of keys) {
    const seen = new Set<string>();
    let highest = -1;
    for (const { transId } of sightings) {
      if (seen.has(transId)) continue;
      seen.add(transId);
      const offset = created.get(transId)?.[0]?.offset ?? -1;
      if (offset < highest) disorders += 1;
      else highest = offset;
    }
  }
  return disorders;
}

function lateOf(
  freezes: readonly Freeze[],
  scores: readonly Sighting[],
  byKey: ReadonlyMap<string, readonly Sighting[]>,
): number {
  return freezes.reduce((late, { owner, fromMs, toMs, assignedMs }) => {
    const isWaking = ({ owner: asks, startedMs }: Sighting): boolean =>
      asks === owner && startedMs >= toMs && startedMs < (assignedMs ?? Infinity);
    const isSuperseded = ({ key, startedMs }: Sighting): boolean =>
      byKey.get(key ?? '')?.some((by) => by.owner !== owner && by.startedMs > fromMs && by.startedMs < startedMs) ===
      true;
    return late + count(scores, (each) => isWaking(each) && isSuperseded(each));
  }, 0);
}

function* repeatsOf(
  byId: ReadonlyMap<string, readonly Sighting[]>,
  records: ReadonlyMap<string, readonly Logged[]>,
): Generator<Repeat> {
  for (const [transId, sightings] of byId) {
    // A producer may have written a record twice: then it is asked for twice.
    const due = records.get(transId)?.length ?? 1;
    for (const [index, now] of sightings.entries()) {
      const before = sightings[index - 1];
      if (index < due || before === undefined) continue;
      const isRetry = before.owner === now.owner && before.status !== 200;
      yield {
        kind: now.kind,
        transId,
        first: before.owner,
        again: now.owner,
        firstEndedMs: before.status === 200 ? before.endedMs : null,
        atMs: now.startedMs,
        isRetry,
      };
    }
  }
}

function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

function count<T>(items: Iterable<T>, isCounted: (item: T) => boolean): number {
  let counted = 0;
  for (const item of items) if (isCounted(item)) counted += 1;
  return counted;
}
