import { countsText, type Ended, headlineOf, rowsInto, sumOf, tookLine } from '../kernel/report-text.ts';

/** What a replay did, or would do, in numbers. The counts are of this start: what an earlier one did before a crash is not in them. */
export interface ReplayReport extends Ended {
  /** An earlier start had begun it. */
  readonly resumed: boolean;
  /** Offsets of the range, by partition, the end excluded. */
  readonly partitions: readonly { readonly partition: number; readonly from: string; readonly end: string }[];
  /** Records read of the range. */
  readonly read: number;
  /** Updates delivered; in a dry run: that would be sent. */
  readonly sent: number;
  /** By rule. */
  readonly skipped: Readonly<Record<string, number>>;
  /** By reason. */
  readonly deadLettered: Readonly<Record<string, number>>;
  /** Updates sent again because they had come while older ones were being sent. */
  readonly repaired: number;
  /** Transactions that had a newer update after each repair; the live group sends it. */
  readonly unsettled: number;
  /** Offsets of the range that had expired before they were read. */
  readonly expired: number;
  /** Offsets below the oldest record, where the log begins within the range: how many of them belonged to it is not known. */
  readonly mayHaveExpired: number;
  /** Transactions with updates in several partitions. */
  readonly inSeveralPartitions: number;
  /** Offsets of the range that the live group has not come to yet: it will send them itself. Null: not known. */
  readonly liveBehind: number | null;
  readonly durationMs: number;
  /** Of a dry run. */
  readonly wouldSend?: readonly { readonly day: string; readonly status: string; readonly updates: number }[];
}

/** Exit code 1: something was dead-lettered, or it did not come to its end. */
export function exitOf({ result, deadLettered, unsettled }: ReplayReport): 0 | 1 {
  if (result === 'dry_run' || result === 'empty') return 0;
  return result === 'stopped' || unsettled > 0 || Object.keys(deadLettered).length > 0 ? 1 : 0;
}

/** The report as lines for people. */
export function reportLines(report: ReplayReport): readonly string[] {
  const lines = [headlineOf(report, 'Replay', 'records')];
  const row = rowsInto(lines);
  if (report.result === 'empty') {
    if (report.mayHaveExpired > 0) row('may have expired', report.mayHaveExpired, EXPIRED_UNKNOWN);
    return lines;
  }
  const [would, not] = report.result === 'dry_run' ? ['would be ', ''] : ['', 'to exit with 1'];
  row('read', report.read);
  row(`${would}sent`, report.sent);
  for (const [rule, records] of Object.entries(report.skipped)) row(`skipped ${rule}`, records);
  for (const [reason, records] of Object.entries(report.deadLettered))
    row(`${would}dead letter`, records, [reason, not].filter((text) => text !== '').join(', '));
  if (report.result !== 'dry_run') row('repaired', report.repaired);
  if (report.unsettled > 0) row('not settled', report.unsettled, 'newer updates kept coming; replay the range again');
  row('expired before reading', report.expired);
  if (report.mayHaveExpired > 0) row('may have expired', report.mayHaveExpired, EXPIRED_UNKNOWN);
  if (report.inSeveralPartitions > 0)
    row('in several partitions', report.inSeveralPartitions, 'their newest update was told by the timestamp');
  if (report.liveBehind !== null && report.liveBehind > 0)
    row('the live group has to come', report.liveBehind, 'it sends these itself');
  for (const { day, status, updates } of report.wouldSend ?? []) row(`${day} ${status}`, updates);
  return [...lines, tookLine(report)];
}

const EXPIRED_UNKNOWN = 'older offsets are gone; how many of them were in the range is not known';

/** The same in one short text, for an audit line. */
export function replayCounts({ read, sent, skipped, deadLettered, repaired }: ReplayReport): string {
  return countsText({ read, sent, skipped: sumOf(skipped), dead_lettered: sumOf(deadLettered), repaired });
}

/** Outcomes of a flow by their kind: `skip:…`, `dead_letter:…`. */
export function outcomesOf(
  outcomes: Readonly<Record<string, number>>,
  kind: 'skip' | 'dead_letter',
): Readonly<Record<string, number>> {
  const found = Object.entries(outcomes).filter(([name]) => name.startsWith(`${kind}:`));
  return Object.fromEntries(found.map(([name, records]) => [name.slice(kind.length + 1), records]));
}
