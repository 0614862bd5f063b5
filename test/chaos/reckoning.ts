import { REPLAYER } from './fleet.ts';
import { type Freeze, isSuccess, type LifeEnd, type Logged, type Sighting, type TopicContents } from './sightings.ts';

/** What is compared: what Kafka holds, what was asked of the service, and what befell the connectors. */
export interface Evidence {
  readonly topics: TopicContents;
  /** trans_ids of payments, and of statuses, that Kafka acknowledged to the producer. */
  readonly acknowledged: { readonly payments: readonly string[]; readonly statuses: readonly string[] };
  /** In order of `startedMs`. */
  readonly sightings: readonly Sighting[];
  readonly freezes: readonly Freeze[];
  /** Of the connectors in their group. */
  readonly sessionMs: number;
  /** What the connectors have said is missing. */
  readonly gaps: readonly Gap[];
}

/** Offsets of a partition that a connector says it could not read: from `from`, below `to`. */
export interface Gap {
  readonly topic: 'created' | 'authorized';
  readonly partition: number;
  readonly from: number;
  readonly to: number;
}

/** Requests of one kind for an id that had been asked for before, beyond its records in the topic. */
export interface Repeat {
  readonly kind: Sighting['kind'];
  readonly transId: string;
  /** Who asked before, and who asked again. */
  readonly first: string;
  readonly again: string;
  /** Null: not answered with success. */
  readonly firstEndedMs: number | null;
  readonly atMs: number;
  /** After an attempt that was refused, or the same life again after one that came to no answer: a retry, not a record read twice. */
  readonly isRetry: boolean;
}

/** Two payments of a customer that were at the service at once. */
export interface Meeting {
  readonly before: Sighting;
  readonly now: Sighting;
  /** One of them had been given up before the other one was sent. */
  readonly isGhost: boolean;
}

/** A request of a life that woke, for a customer that another one had begun on since it froze. */
export interface Lateness {
  readonly freeze: Freeze;
  readonly request: Sighting;
  /** The last of the other one's before it. */
  readonly by: Sighting;
}

const MEETINGS_KEPT = 20;
/** Of a session; heartbeats are at most a tenth of one apart. */
const SOONEST_TAKEOVER = 0.5;

/** The promises, each as the number of times it was broken, and what is only counted. */
export interface Reckoned {
  readonly payments: number;
  /** Customers whose records are in several partitions, because the topics grew: their order is nobody's promise. */
  readonly movedCustomers: number;
  readonly statuses: number;
  /** Acknowledged to the producer and not in the topic: the brokers' loss, not the connector's. */
  readonly lostByKafka: number;
  readonly notScored: number;
  readonly notReported: number;
  /** Payments without a score record. */
  readonly notPublished: number;
  readonly letters: number;
  /** Payments that were deleted before they were read, and no connector has said so. */
  readonly unreportedGaps: number;
  /** Two different payments of a customer at the service at once, of which none is known to have been given up before. */
  readonly overlaps: number;
  /** The same, where one had been given up: another attempt of it was answered before the other payment came. Told only. */
  readonly ghosts: number;
  /** The first few of them. */
  readonly met: readonly Meeting[];
  /** One customer, or one status, at the service for two lives at once. */
  readonly twoOwners: number;
  /** First scorings of a customer's payments in another order than their records. */
  readonly disorders: number;
  /** Statuses that came before their payment. */
  readonly early: number;
  /** Requests of a life that woke from a freeze, before it was given its partitions anew, for what another one had begun meanwhile. */
  readonly late: number;
  /** The first few of them. */
  readonly lateOnes: readonly Lateness[];
  readonly repeats: readonly Repeat[];
}

export function reckon({ topics, acknowledged, sightings: all, freezes, sessionMs, gaps }: Evidence): Reckoned {
  // A replay sends again what it likes, beside the live traffic, and promises nothing of an order.
  const sightings = all.filter(({ owner }) => !owner.startsWith(`${String(REPLAYER)}.`));
  const scores = sightings.filter(({ kind }) => kind === 'score');
  const updates = sightings.filter(({ kind }) => kind === 'sync');
  const scoresById = groupBy(scores, ({ transId }) => transId);
  const updatesById = groupBy(updates, ({ transId }) => transId);
  const moved = movedKeys(topics.created);
  const byKey = groupBy(
    scores.filter(({ key }) => !moved.has(key ?? '')),
    ({ key }) => key ?? '',
  );
  const keyOf = new Map(topics.created.map(({ transId, key }) => [transId, key]));
  const created = groupBy(topics.created, ({ transId }) => transId);
  const authorized = groupBy(topics.authorized, ({ transId }) => transId);
  const gone = new Set(topics.erased.flatMap(({ transId }) => (isAnswered(scoresById.get(transId)) ? [] : [transId])));
  const met = meetings([...byKey.values(), ...updatesById.values()]);
  return {
    payments: created.size,
    movedCustomers: moved.size,
    statuses: authorized.size,
    lostByKafka:
      count(acknowledged.payments, (id) => !created.has(id) && !gone.has(id)) +
      count(acknowledged.statuses, (id) => !authorized.has(id)),
    notScored: count(created.keys(), (id) => !isAnswered(scoresById.get(id)) && !gone.has(id)),
    notReported: count(authorized.keys(), (id) => !isAnswered(updatesById.get(id))),
    notPublished: count(created.keys(), (id) => !topics.scored.has(id) && !gone.has(id)),
    letters: topics.letters.length,
    unreportedGaps: count(topics.erased, (record) => gone.has(record.transId) && !isIn(gaps, record)),
    ...met,
    disorders: disordersOf(byKey.values(), created),
    early: count(updatesById, ([id, [first]]) => {
      if (gone.has(id) || moved.has(keyOf.get(id) ?? '')) return false;
      const scored = scoresById.get(id)?.[0];
      return scored === undefined || (first !== undefined && first.startedMs < scored.startedMs);
    }),
    ...latenessOf({ freezes, sessionMs }, scores, byKey),
    repeats: [...repeatsOf(scoresById, created), ...repeatsOf(updatesById, authorized)],
  };
}

/** What is counted and promises nothing. */
const TOLD: ReadonlySet<string> = new Set(['payments', 'statuses', 'movedCustomers', 'ghosts']);

/** By promise: how often it was broken. Empty: everything is as promised. */
export function broken(found: Reckoned): Readonly<Record<string, number>> {
  const counts = Object.entries(found).filter(([name, times]) => !TOLD.has(name) && typeof times === 'number');
  return Object.fromEntries(counts.filter(([, times]) => times > 0));
}

/**
 * How many repeats a kill may cause: what its life had at the service then (what the service found in a socket later
 * included), and what had been answered within `windowMs` before (the commit of which may not have been made).
 */
export function killBound(end: LifeEnd, sightings: readonly Sighting[], windowMs: number): number {
  return endedSince(end, sightings, end.atMs - windowMs);
}

/**
 * The same by what the connector said itself right before, and what has ended since: brokers on a busy machine answer
 * commits as late as they like. Null: it said nothing.
 */
export function saidBound(end: LifeEnd, sightings: readonly Sighting[]): number | null {
  const { said = null } = end;
  return said === null ? null : said.records + endedSince(end, sightings, said.askedMs);
}

function endedSince({ owner }: LifeEnd, sightings: readonly Sighting[], sinceMs: number): number {
  return count(sightings, (each) => each.owner === owner && (each.endedMs ?? Infinity) >= sinceMs);
}

/** Repeats that came of the end of a life: after it, of what it had asked for. */
export function repeatsAfter(end: LifeEnd, repeats: readonly Repeat[]): readonly Repeat[] {
  return repeats.filter(({ first, again, atMs }) => first === end.owner && again !== end.owner && atMs >= end.atMs);
}

function movedKeys(created: readonly Logged[]): ReadonlySet<string> {
  const partitions = new Map<string, number>();
  const moved = new Set<string>();
  for (const { key, partition } of created) {
    if ((partitions.get(key) ?? partition) !== partition) moved.add(key);
    partitions.set(key, partition);
  }
  return moved;
}

function isIn(gaps: readonly Gap[], { partition, offset }: Logged): boolean {
  return gaps.some(
    (gap) => gap.topic === 'created' && gap.partition === partition && gap.from <= offset && offset < gap.to,
  );
}

function isAnswered(sightings: readonly Sighting[] | undefined): boolean {
  return sightings?.some(({ status }) => isSuccess(status)) === true;
}

/** Requests that came while another one of the same group was open. A retry of the same id by the same life is none. */
function meetings(groups: Iterable<readonly Sighting[]>): Pick<Reckoned, 'overlaps' | 'ghosts' | 'twoOwners' | 'met'> {
  const found = { overlaps: 0, ghosts: 0, twoOwners: 0, met: [] as Meeting[] };
  for (const group of groups) {
    let open: readonly Sighting[] = [];
    for (const now of group) {
      open = open.filter(({ endedMs }) => (endedMs ?? Infinity) > now.startedMs);
      if (open.some(({ owner }) => owner !== now.owner)) found.twoOwners += 1;
      const others = open.filter(({ transId }) => transId !== now.transId);
      const before = others.find((each) => !isGhost(each, now, group) && !isGhost(now, each, group)) ?? others[0];
      if (before !== undefined) {
        const isOfGhost = isGhost(before, now, group) || isGhost(now, before, group);
        found[isOfGhost ? 'ghosts' : 'overlaps'] += 1;
        if (found.met.length < MEETINGS_KEPT) found.met.push({ before, now, isGhost: isOfGhost });
      }
      open = [...open, now];
    }
  }
  return found;
}

/**
 * Whether a request had been given up by its process before it sent another payment's: it came to no good answer, and
 * another attempt of the same payment by the same process had one by then. Attempts of a payment are made one after the
 * other, so this one was over to whoever made it; what it had written came later, or the end of its connection did.
 */
function isGhost(given: Sighting, other: Sighting, group: readonly Sighting[]): boolean {
  if (isSuccess(given.status)) return false;
  return group.some(
    ({ transId, owner, status, endedMs }) =>
      transId === given.transId &&
      owner === given.owner &&
      isSuccess(status) &&
      (endedMs ?? Infinity) <= other.startedMs,
  );
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

/**
 * Nobody takes over before a session has ended that the last heartbeat has begun; what comes of others in the first half
 * of one had been on its way when the process froze, right after an assignment.
 */
function latenessOf(
  { freezes, sessionMs }: Pick<Evidence, 'freezes' | 'sessionMs'>,
  scores: readonly Sighting[],
  byKey: ReadonlyMap<string, readonly Sighting[]>,
): Pick<Reckoned, 'late' | 'lateOnes'> {
  const found = freezes.flatMap((freeze) => {
    const { owner, fromMs, toMs, assignedMs } = freeze;
    const takenOverMs = fromMs + sessionMs * SOONEST_TAKEOVER;
    const waking = scores.filter(
      ({ owner: asks, startedMs }) => asks === owner && startedMs >= toMs && startedMs < (assignedMs ?? Infinity),
    );
    return waking.flatMap((request) => {
      const by = byKey
        .get(request.key ?? '')
        ?.findLast(
          (each) => each.owner !== owner && each.startedMs > takenOverMs && each.startedMs < request.startedMs,
        );
      return by === undefined ? [] : [{ freeze, request, by }];
    });
  });
  return { late: found.length, lateOnes: found.slice(0, MEETINGS_KEPT) };
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
      const isRetry = !isSuccess(before.status) && (before.owner === now.owner || before.status !== null);
      yield {
        kind: now.kind,
        transId,
        first: before.owner,
        again: now.owner,
        firstEndedMs: isSuccess(before.status) ? before.endedMs : null,
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
