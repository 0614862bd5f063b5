import { type Outcome } from './campaign.ts';
import { type Stroke } from './chronicle.ts';
import { longerBy, MOST_DELAY_MS } from './hostile.ts';
import { broken, killBound, type Repeat, repeatsAfter, saidBound } from './reckoning.ts';
import { type Scenario } from './schedule.ts';
import { type LifeEnd } from './sightings.ts';

/** One promise that was looked at. */
export interface Check {
  /** As it is called in a report. */
  readonly name: string;
  readonly promise: string;
  readonly found: number;
  readonly most: number;
  readonly isBroken: boolean;
}

/** The repeats of one kill against what it may cause. */
export interface KillRound {
  readonly owner: string;
  readonly scorings: number;
  readonly updates: number;
  readonly bound: number;
  /** Whether nothing else kept commits back then, so that the bound is what its last interval finished. */
  readonly isExact: boolean;
  /** How long before the kill the oldest of them had been answered; 0: none had. */
  readonly oldestMs: number;
}

/** What is finished and not committed when a connector takes nothing new, and what may be in flight beside it. */
const MOST_UNCOMMITTED = 2000 + 700;
const MOST_LOGINS_A_MINUTE = 12;
const MOST_BYTES = 700 * 1_048_576;

/** After a fault that keeps commits back; then they are as usual. */
const RECOVERY_MS = 15_000;

/** In these nothing but kills keeps commits back, so that a kill repeats what its last commit interval finished. */
const CALM: ReadonlySet<Scenario> = new Set(['kill', 'stuck', 'mixed', 'clean', 'freeze', 'broker']);
/** In these nothing may be asked for twice. */
const NEVER_TWICE: ReadonlySet<Scenario> = new Set(['clean']);

const RECKONED: Readonly<Record<string, string>> = {
  lostByKafka: 'what Kafka acknowledged to the producer is in the topic',
  notScored: 'every payment was scored',
  notReported: 'every status was reported',
  notPublished: 'every payment has a score record',
  letters: 'no dead letter of a record that deserves none',
  unreportedGaps: 'what was deleted before it was read was said to be missing',
  overlaps: 'a customer’s payments are at the service one at a time',
  twoOwners: 'no two processes at one customer or status at once',
  disorders: 'a customer’s payments in the order of their records',
  early: 'no status before its payment',
  late: 'nothing of a process that woke, after another one had taken over',
};

/** Every promise against what was found. */
export function checksOf(scenario: Scenario, outcome: Outcome): readonly Check[] {
  const { found, mail, logins, deeds, ends, stuckRounds, settledMs } = outcome;
  const breaks = broken(found);
  const read = found.repeats.filter(({ isRetry }) => !isRetry);
  const kills = killRounds(scenario, outcome);
  return [
    ...Object.entries(RECKONED).map(([name, promise]) => check(name, promise, breaks[name] ?? 0)),
    check('alteredUpdates', 'the status that was written is the one that was accepted', outcome.alteredUpdates),
    check('regressions', 'a committed offset never goes back', outcome.regressions),
    ...(NEVER_TWICE.has(scenario) ? [check('doubledWithoutFault', 'nothing twice without a fault', read.length)] : []),
    check(
      'killsOverBound',
      'a kill repeats no more than its bound',
      kills.filter((kill) => kill.scorings + kill.updates > kill.bound).length,
    ),
    check(
      'aboveStuckOverBound',
      'nor above a payment that sticks',
      stuckRounds.filter((round) => round.repeatedAbove > round.bound).length,
    ),
    check('notKept', 'a webhook that was answered 200 is in the topic', mail.notKept),
    check('unauthenticated', 'no forged webhook was accepted or published', mail.unauthenticated),
    check('notDelivered', 'every webhook was accepted in the end', mail.notDelivered),
    check(
      'notSettled',
      'after the faults everything is through in time',
      (settledMs ?? Infinity) > outcome.settleLimitMs ? 1 : 0,
    ),
    check(
      'noProbe',
      'a fresh payment, status and webhook are through within 60 s',
      settledMs !== null && outcome.probeMs === null ? 1 : 0,
    ),
    check('lagAtEnd', 'then everything is committed', outcome.probeMs === null ? 0 : (outcome.lagAtEnd ?? Infinity)),
    ...(scenario === 'hostile' ? hostileChecks(outcome) : []),
    check('notLive', '/livez is 200 whatever is ill', outcome.notLive),
    check('peakBytes', 'memory of one process', outcome.peakBytes, MOST_BYTES),
    check(
      'risingHandles',
      'no connector opens what it never gives back',
      outcome.slopes.filter(({ isRising }) => isRising).length,
    ),
    check('leaks', 'no secret and no id in what is logged', outcome.leaks),
    check('loginsAtOnce', 'one login of a process at a time', logins.atOnce),
    check('loginsAMinute', 'few logins whatever is answered', logins.mostAMinute, MOST_LOGINS_A_MINUTE),
    check('crashes', 'no connector ends by itself', ends.filter(({ how }) => how === 'crash').length),
    check('uncleanStops', 'SIGTERM ends with exit code 0', deeds['uncleanStops'] ?? 0),
    check('failedReplays', 'a replay ends with exit code 0', deeds['failedReplays'] ?? 0),
    ...happenings(scenario, outcome),
  ];
}

/** What the caches of a process may take more, while it is at work. */
const MOST_RISE_BYTES = 96 * 1_048_576;

function hostileChecks({ odd, delays, without, memoryRise }: Outcome): readonly Check[] {
  const open = Object.values(odd.open).reduce((sum, count) => sum + count, 0);
  return [
    check('oddOpen', 'every odd record has ended', open),
    check('abortedAsked', 'nobody is asked about what was aborted', odd.abortedAsked),
    check(
      'delayPayments',
      'good payments are not late beside odd ones, ms',
      longerBy('payments', delays, without),
      MOST_DELAY_MS,
    ),
    check('delayStatuses', 'nor good statuses, ms', longerBy('statuses', delays, without), MOST_DELAY_MS),
    check('memoryRise', 'memory stays where it was, bytes', Math.max(0, Math.round(memoryRise)), MOST_RISE_BYTES),
  ];
}

function check(name: string, promise: string, found: number, most = 0): Check {
  return { name, promise, found, most, isBroken: found > most };
}

/** What must have happened, or the campaign proves nothing: found 1 where it did not. */
function happenings(scenario: Scenario, outcome: Outcome): readonly Check[] {
  const { deeds, required, recoveries } = outcome;
  return [
    ...required.filter((deed) => (deeds[deed] ?? 0) === 0).map((deed) => missing(deed, 'the fault happened')),
    ...recoveries.filter(({ times }) => times === 0).map(({ name }) => missing(name, 'the way out was taken')),
    // A producer notices new partitions within a minute.
    ...(scenario === 'grown' && outcome.found.movedCustomers === 0
      ? [missing('movedCustomers', 'records went to the new partitions')]
      : []),
    ...(scenario === 'freeze' && takeovers(outcome) < outcome.freezes.length
      ? [missing('takeover', 'what is frozen is taken over')]
      : []),
  ];
}

function missing(name: string, promise: string): Check {
  return { name: `no ${name}`, promise, found: 1, most: 0, isBroken: true };
}

/** The repeats after each kill. */
export function killRounds(
  scenario: Scenario,
  { found, ends, sightings, strokes, windowMs }: Outcome,
): readonly KillRound[] {
  const read = found.repeats.filter(({ isRetry }) => !isRetry);
  return ends
    .filter(({ how }) => how === 'kill')
    .map((end) => {
      const repeats = repeatsAfter(end, read);
      const oldestMs = Math.round(
        Math.max(0, ...repeats.map(({ firstEndedMs }) => end.atMs - (firstEndedMs ?? end.atMs))),
      );
      const scorings = repeats.filter(({ kind }) => kind === 'score').length;
      // Where commits may be kept back, so much may be finished above the last one.
      const isCalm = CALM.has(scenario) || !strokes.some((stroke) => keepsCommitsBack(stroke, end.atMs));
      const saidMost = saidBound(end, sightings);
      // A process that cannot say how it stands is on a machine that keeps its commits back as well.
      const isExact = isCalm && saidMost !== null;
      const bound = isExact ? Math.max(saidMost, killBound(end, sightings, windowMs)) : MOST_UNCOMMITTED;
      return { owner: end.owner, scorings, updates: repeats.length - scorings, bound, isExact, oldestMs };
    });
}

/** Whether something was done to others than connectors at that time, or shortly before. */
function keepsCommitsBack({ target, fromMs, toMs }: Stroke, atMs: number): boolean {
  const isTheirs = target.startsWith('connector ') || target === 'all connectors' || target === 'webhooks';
  return !isTheirs && fromMs <= atMs && (toMs ?? Infinity) >= atMs - RECOVERY_MS;
}

/** Repeats that came of ends of one kind. */
export function explainedBy(how: LifeEnd['how'], { ends, found }: Outcome): readonly Repeat[] {
  const read = found.repeats.filter(({ isRetry }) => !isRetry);
  return ends.filter((end) => end.how === how).flatMap((end) => repeatsAfter(end, read));
}

/** Freezes during which another life was at work for a customer of the frozen one. */
export function takeovers({ freezes, sightings }: Outcome): number {
  return freezes.filter(({ owner, fromMs, toMs }) => {
    const keys = new Set<string>();
    for (const { owner: asks, key, startedMs } of sightings) {
      if (key === null) continue;
      if (asks === owner && startedMs < fromMs) keys.add(key);
      else if (asks !== owner && startedMs > fromMs && startedMs < toMs && keys.has(key)) return true;
    }
    return false;
  }).length;
}
