import { isAborted, isOdd } from './odd-kinds.ts';
import { type Evidence } from './reckoning.ts';
import { isSuccess, type Place, type Sighting, type TopicContents } from './sightings.ts';
import { type Vitals } from './vitals.ts';

/** Milliseconds from a record's timestamp in its topic to its first answer of success. */
export interface Delays {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
}

/** How long good payments and good statuses took. */
export interface GoodDelays {
  readonly payments: Delays;
  readonly statuses: Delays;
}

/** How much longer good records may take beside odd ones, at the 99th percentile. */
export const MOST_DELAY_MS = 2000;

/** What became of the odd records. */
export interface OddEnds {
  /** Records of keys with an odd one, in both topics. */
  readonly records: number;
  readonly deadLetters: number;
  /** Records without a score, a good answer or a dead letter; by the kind in their ids. */
  readonly open: Readonly<Record<string, number>>;
  /** Requests about records of aborted transactions. */
  readonly abortedAsked: number;
  /** The longest time from a record's timestamp to that of its dead letter. */
  readonly slowestMs: number;
}

const isGood = ({ transId }: { readonly transId: string }): boolean => !isOdd(transId);

/** The evidence about good records alone, for the promises that hold for them. */
export function goodOnly(evidence: Evidence): Evidence {
  const { topics, acknowledged, sightings } = evidence;
  const odd = new Set(oddPlaces(topics).map(placeOf));
  return {
    ...evidence,
    topics: {
      ...topics,
      created: topics.created.filter(isGood),
      authorized: topics.authorized.filter(isGood),
      letters: topics.letters.filter((letter) => !odd.has(placeOf(letter))),
    },
    acknowledged: {
      payments: acknowledged.payments.filter((transId) => !isOdd(transId)),
      statuses: acknowledged.statuses.filter((transId) => !isOdd(transId)),
    },
    sightings: sightings.filter(isGood),
  };
}

/** Whether each odd record has ended, and how. */
export function oddEndsOf({ topics, sightings }: Pick<Evidence, 'topics' | 'sightings'>): OddEnds {
  const letters = new Map(topics.letters.map((letter) => [placeOf(letter), letter]));
  const accepted = new Set(
    sightings.flatMap(({ kind, transId, status }) => (kind === 'sync' && isSuccess(status) ? [transId] : [])),
  );
  const due = oddPlaces(topics).filter(({ transId }) => !isAborted(transId));
  const open = due.filter((record) => {
    const isDone = record.of === 'created' ? topics.scored.has(record.transId) : accepted.has(record.transId);
    return !isDone && !letters.has(placeOf(record));
  });
  const ended = due.flatMap((record) => {
    const letter = letters.get(placeOf(record));
    return letter === undefined ? [] : [letter.timestampMs - (record.timestampMs ?? letter.timestampMs)];
  });
  return {
    records: due.length,
    deadLetters: ended.length,
    open: tallied(open.map(({ transId }) => kindOf(transId))),
    abortedAsked: sightings.filter(({ transId }) => isAborted(transId)).length,
    slowestMs: Math.max(0, ...ended),
  };
}

/** How long the good records that were answered took. `originMs`: the epoch time at which sightings have time 0. */
export function delaysOf({ topics, sightings }: Pick<Evidence, 'topics' | 'sightings'>, originMs: number): GoodDelays {
  const of = (kind: Sighting['kind'], records: TopicContents['created']): Delays => {
    const answered = new Map<string, number>();
    for (const { kind: asked, transId, status, endedMs } of sightings) {
      if (asked === kind && endedMs !== null && isSuccess(status) && !answered.has(transId))
        answered.set(transId, endedMs);
    }
    const delays = records.flatMap(({ transId, timestampMs }) => {
      const endedMs = answered.get(transId);
      return isOdd(transId) || endedMs === undefined ? [] : [endedMs + originMs - timestampMs];
    });
    return quantilesOf(delays);
  };
  return { payments: of('score', topics.created), statuses: of('sync', topics.authorized) };
}

/** How many milliseconds longer the 99th percentile is; infinite without a run to compare with. */
export function longerBy(of: keyof GoodDelays, delays: GoodDelays, without: GoodDelays | null): number {
  return without === null ? Infinity : Math.max(0, Math.round(delays[of].p99 - without[of].p99));
}

/** The longer ones of two runs. */
export function slowerOf(one: GoodDelays, other: GoodDelays): GoodDelays {
  const longer = (of: keyof GoodDelays): Delays => ({
    p50: Math.max(one[of].p50, other[of].p50),
    p90: Math.max(one[of].p90, other[of].p90),
    p99: Math.max(one[of].p99, other[of].p99),
  });
  return { payments: longer('payments'), statuses: longer('statuses') };
}

/**
 * How many bytes more a connector had in the second half of the traffic than in the first, by the medians over all
 * connectors. A peak has a limit of its own; this finds memory that is never given back.
 */
export function memoryRiseOf(
  vitals: readonly Vitals[],
  span: { readonly startedMs: number; readonly calmMs: number },
): number {
  const halfMs = (span.startedMs + span.calmMs) / 2;
  const looks = vitals.filter(
    ({ atMs, residentBytes }) => atMs >= span.startedMs && atMs <= span.calmMs && residentBytes > 0,
  );
  return middle(looks.filter(({ atMs }) => atMs >= halfMs)) - middle(looks.filter(({ atMs }) => atMs < halfMs));
}

function middle(looks: readonly Vitals[]): number {
  return quantile(
    looks.map(({ residentBytes }) => residentBytes),
    0.5,
  );
}

interface OddPlace extends Place {
  readonly of: 'created' | 'authorized' | null;
  readonly transId: string;
  readonly timestampMs?: number;
}

function oddPlaces({ created, authorized, unreadable }: TopicContents): readonly OddPlace[] {
  return [
    ...oddIn('created', created),
    ...oddIn('authorized', authorized),
    ...unreadable.map((record) => Object.assign({ of: null, transId: UNREADABLE }, place(record))),
  ];
}

function oddIn(of: 'created' | 'authorized', records: TopicContents['created']): readonly OddPlace[] {
  return records.flatMap((record) =>
    isOdd(record.transId) ? [{ of, transId: record.transId, timestampMs: record.timestampMs, ...place(record) }] : [],
  );
}

const UNREADABLE = 'odd-unreadable-';

function place({ topic, partition, offset }: Place): Place {
  return { topic, partition, offset };
}

function placeOf({ topic, partition, offset }: Place): string {
  return `${topic}/${String(partition)}/${String(offset)}`;
}

function kindOf(transId: string): string {
  return transId.slice('odd-'.length).split('-')[0] ?? '';
}

function tallied(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

function quantilesOf(values: readonly number[]): Delays {
  return { p50: quantile(values, 0.5), p90: quantile(values, 0.9), p99: quantile(values, 0.99) };
}

function quantile(values: readonly number[], share: number): number {
  const inOrder = values.toSorted((a, b) => a - b);
  return inOrder[Math.min(inOrder.length - 1, Math.floor(share * inOrder.length))] ?? 0;
}
