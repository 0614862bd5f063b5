import { type RetryState } from '../../resilience/attribution.ts';
import { isAccessFailure } from '../../screening/verdict.ts';
import { type Failure } from './answer.ts';

/** What an update has been through. */
export interface UpdateState {
  /** Null: no call that it was in has failed. */
  readonly retry: RetryState | null;
  /** How many calls had begun when one failed that it was in, the first time; null: none has. */
  readonly failedAt: number | null;
  /** The same for one that it was in alone: since then it goes in a batch of its own. Null: none of those has failed. */
  readonly aloneAt: number | null;
}

export const UNTRIED: UpdateState = { retry: null, failedAt: null, aloneAt: null };

interface HasState {
  readonly state: UpdateState;
}

/** How far the calls have come. */
export interface Calls {
  readonly begun: number;
  /** The last of them, in the order of their beginnings, that delivered an update; 0: none has. */
  readonly newestAccepted: number;
  /** How many updates have failed alone since. */
  readonly failedSince: number;
}

/** An update that failed alone. */
export interface Culprit<Member> {
  readonly member: Member;
  readonly failure: Failure;
  /** How many calls had begun when it failed alone now. */
  readonly failedAt: number;
  /** Whether another update was accepted since it failed first, in whatever company, by a call that began after that. */
  readonly othersAccepted: boolean;
  /**
   * Whether one was since it failed alone first: that the service refuses it again is its own fault. Where all is quiet:
   * whether it goes on failing, others were accepted beside it, and no more than one other fails.
   */
  readonly isProven: boolean;
}

interface Part<Member> {
  readonly members: readonly Member[];
  /** Failed calls of this search that it was in. */
  readonly depth: number;
}

/**
 * One batch on its way to an end for each member: halves of what fails, and halves of those, until what fails stands
 * alone. A search is a value; the answer to its next part gives the next search.
 */
export interface Search<Member> {
  /** Not answered yet, in the order in which they are to be sent. */
  readonly parts: readonly Part<Member>[];
  readonly culprits: readonly Culprit<Member>[];
  /** Members that failed together with others, or once too few times to be searched. */
  readonly undecided: readonly { readonly members: readonly Member[]; readonly failure: Failure }[];
  /** How many members were accepted. */
  readonly accepted: number;
  /** How many parts were not answered in time. */
  readonly timedOut: number;
  /** How many calls had begun when the first of this search failed; null: none has. */
  readonly failedAt: number | null;
}

/** Status codes that a service gives while it is overloaded, away, or ends sessions: searched late. */
const PASSING: ReadonlySet<number> = new Set([401, 429, 502, 503, 504]);
const DOUBTFUL_TRIES = 2;
const PASSING_TRIES = 4;
/** Nothing else was accepted meanwhile, but this batch may be all the traffic that there is. */
const PASSING_TRIES_ALONE = 8;
/** So many culprits, or parts not answered in time, and nothing accepted: it is the service. */
const SERVICE_CULPRITS = 10;
const QUIET_CULPRITS = 2;
/** With their backoff they take some seconds. */
const QUIET_FAILURES = 6;

/** The search before the first call: everything in one part. */
export function wholeBatch<Member>(members: readonly Member[]): Search<Member> {
  const parts = members.length === 0 ? [] : [{ members, depth: 0 }];
  return { parts, culprits: [], undecided: [], accepted: 0, timedOut: 0, failedAt: null };
}

/** The search after the next part was accepted, but for these of its members. */
export function partAccepted<Member>(
  search: Search<Member>,
  rejected: readonly Culprit<Member>[],
  { begun }: Calls,
): Search<Member> {
  const [part, ...parts] = search.parts;
  return {
    ...search,
    parts,
    culprits: [...search.culprits, ...rejected],
    accepted: search.accepted + (part?.members.length ?? 0) - rejected.length,
    failedAt: rejected.length === 0 ? search.failedAt : (search.failedAt ?? begun),
  };
}

/**
 * The search after the next part failed: its halves come next, or its one member is a culprit, or it is too early to say
 * and it is sent again later. For k culprits among n members at most 2·k·⌈log2 n⌉ calls follow the first: each level of
 * halves holds at most k parts with a culprit.
 */
export function partFailed<Member extends HasState>(
  search: Search<Member>,
  failure: Failure,
  calls: Calls,
): Search<Member> {
  const [part, ...rest] = search.parts;
  const [first, ...others] = part?.members ?? [];
  if (part === undefined || first === undefined) return search;
  const { members, depth } = part;
  const isTimeout = failure.reason === 'timed_out';
  const timedOut = search.timedOut + (isTimeout ? 1 : 0);
  const after = { ...search, parts: rest, timedOut, failedAt: search.failedAt ?? calls.begun };
  if (!isSearched(part, failure, after.failedAt, calls)) {
    const undecided = { ...after, undecided: [...after.undecided, { members, failure }] };
    // The other parts would meet the same service.
    return failure.verdict === 'rate_limited' || !failure.wasSent ? givenUp(undecided, failure) : undecided;
  }
  if (others.length === 0) {
    return { ...after, culprits: [...after.culprits, toCulprit(first, failure, after.failedAt, calls)] };
  }
  const middle = Math.ceil(members.length / 2);
  const halves = [members.slice(0, middle), members.slice(middle)].map((half) => ({ members: half, depth: depth + 1 }));
  // Culprits soon show whether it is the service; but while a time-out is waited for, others could have been accepted.
  return { ...after, parts: isTimeout ? [...rest, ...halves] : [...halves, ...rest] };
}

/** The search without what was not answered yet: it is sent again later. */
export function givenUp<Member>(search: Search<Member>, failure: Failure): Search<Member> {
  const members = search.parts.flatMap((part) => part.members);
  return { ...search, parts: [], undecided: [...search.undecided, { members, failure }] };
}

/** Whether this search shows that the service fails for everybody. */
export function isServiceAtFault<Member>({ accepted, culprits, timedOut }: Search<Member>): boolean {
  const unexplained = culprits.filter(({ othersAccepted }) => !othersAccepted).length;
  return accepted === 0 && Math.max(unexplained, timedOut) >= SERVICE_CULPRITS;
}

/** `failedAt`: how many calls had begun when one of its search failed first. */
export function toCulprit<Member extends HasState>(
  member: Member,
  failure: Failure,
  failedAt: number,
  { begun, newestAccepted, failedSince }: Calls,
): Culprit<Member> {
  const { state } = member;
  const othersAccepted = newestAccepted > (state.failedAt ?? failedAt);
  // Where nothing else is sent any more, one or two that go on failing have no part in an outage.
  const isQuiet = othersAccepted && failedSince <= QUIET_CULPRITS && (state.retry?.failures ?? 0) >= QUIET_FAILURES;
  const isProven = state.aloneAt !== null && (newestAccepted > state.aloneAt || isQuiet);
  return { member, failure, failedAt: begun, othersAccepted, isProven };
}

/** Whether the service refuses what was sent, rather than fails to handle it: 3xx, 4xx, or by its id. */
export function isRefused({ verdict, status }: Failure): boolean {
  return verdict === 'refused' || (verdict !== 'rate_limited' && status !== null && isAccessFailure(status));
}

function isSearched<Member extends HasState>(
  { members, depth }: Part<Member>,
  failure: Failure,
  failedAt: number,
  calls: Calls,
): boolean {
  const { wasSent, status, afterMs } = failure;
  if (!wasSent) return false;
  if (members[0]?.state.aloneAt !== null) return true;
  // How long its rate lasts the service knows best.
  if (status === 429 && afterMs !== null) return false;
  const tries = depth + 1 + Math.max(...members.map(({ state }) => state.retry?.failures ?? 0));
  if (status !== null && PASSING.has(status)) {
    const othersAreAccepted = members.some(({ state }) => calls.newestAccepted > (state.failedAt ?? failedAt));
    return tries >= (othersAreAccepted ? PASSING_TRIES : PASSING_TRIES_ALONE);
  }
  return tries >= (isRefused(failure) ? 1 : DOUBTFUL_TRIES);
}
