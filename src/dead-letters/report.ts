import { countsText, type Ended, headlineOf, rowsInto, sumOf, tookLine } from '../kernel/report-text.ts';

/** Why a letter was passed over, as it should be. */
export const PASSED_OVER = {
  not_asked_for: 'does not fit --reason or --trans-id, or is beyond --limit',
  maybe_scored: 'may be scored already: only with the --reason of its dead letter',
  newer_letter: 'a newer letter of the same record is sent in its place',
  newer_exists: 'a newer update of the transaction is in the topic',
  tombstone: 'has no value',
  skip_when: 'the rule of the mapping says so',
} as const;

/** Why a letter stays where it is although it was to be sent. */
export const LEFT = {
  not_a_letter: 'without the headers of a letter, or of another topic',
  source_gone: 'is a pointer, and its record is not at the source any more',
  bad_signature: 'a webhook that none of the configured secrets has signed',
  still_unrecognised: 'a webhook that this version does not understand either',
  refused_by_kafka: 'a review that Kafka never takes',
} as const;

export type PassedOver = keyof typeof PASSED_OVER;
export type Left = keyof typeof LEFT;

/** What a redrive of one topic did, or would do, in numbers; what an earlier start did before a crash is not in `sent`. */
export interface RedriveReport extends Ended {
  /** The dead-letter topic. */
  readonly topic: string;
  /** An earlier start had begun it. */
  readonly resumed: boolean;
  /** Records of the range that were looked at. */
  readonly read: number;
  /** Delivered; in a dry run: that would be sent. */
  readonly sent: number;
  readonly skipped: Readonly<Partial<Record<PassedOver, number>>>;
  readonly left: Readonly<Partial<Record<Left, number>>>;
  /** By reason. In a dry run: what can be told without asking the service. */
  readonly deadLettered: Readonly<Record<string, number>>;
  /** Newer updates that came meanwhile and were sent after the letters. */
  readonly repaired: number;
  /** Transactions that had a newer update after each repair; the live group sends it. */
  readonly unsettled: number;
  /** Offsets of the range that had expired. */
  readonly expired: number;
  readonly durationMs: number;
  /** Of a dry run: letters that would be sent, by the reason and the day (UTC) of the letter. */
  readonly wouldSend?: readonly { readonly day: string; readonly reason: string; readonly letters: number }[];
}

/** Exit code 1: something was dead-lettered again or is left, or it did not come to its end. */
export function redriveExitOf({ result, deadLettered, left, unsettled }: RedriveReport): 0 | 1 {
  if (result === 'dry_run' || result === 'empty') return 0;
  return result === 'stopped' || unsettled > 0 || sumOf(deadLettered) > 0 || sumOf(left) > 0 ? 1 : 0;
}

/** The report as lines for people. */
export function redriveLines(report: RedriveReport): readonly string[] {
  const lines = [headlineOf(report, 'Redrive', 'letters')];
  if (report.result === 'empty') return lines;
  const row = rowsInto(lines);
  const would = report.result === 'dry_run' ? 'would be ' : '';
  row('read', report.read);
  row(`${would}sent`, report.sent);
  for (const [rule, letters] of entriesOf(report.skipped)) row(`skipped ${rule}`, letters, PASSED_OVER[rule]);
  for (const [why, letters] of entriesOf(report.left)) row(`left ${why}`, letters, LEFT[why]);
  for (const [reason, letters] of entriesOf(report.deadLettered)) row(`${would}dead letter again`, letters, reason);
  if (report.repaired > 0) row('repaired', report.repaired, 'newer updates that came meanwhile, sent after them');
  if (report.unsettled > 0) row('not settled', report.unsettled, 'newer updates kept coming; replay their range');
  if (report.expired > 0) row('expired', report.expired);
  for (const { day, reason, letters } of report.wouldSend ?? []) row(`${day} ${reason}`, letters);
  return [...lines, tookLine(report)];
}

/** The same in one short text, for an audit line. */
export function redriveCounts({ read, sent, skipped, left, deadLettered, repaired }: RedriveReport): string {
  return countsText({
    read,
    sent,
    skipped: sumOf(skipped),
    left: sumOf(left),
    dead_lettered: sumOf(deadLettered),
    repaired,
  });
}

function entriesOf<K extends string>(counts: Readonly<Partial<Record<K, number>>>): readonly (readonly [K, number])[] {
  return (Object.entries(counts) as [K, number][]).filter(([, count]) => count > 0);
}
