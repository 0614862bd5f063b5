import { type BugName } from './bugs/bugs.ts';
import { runCampaign } from './campaign.ts';
import { type Report, reportLines, reportOf } from './report.ts';
import { type Scenario } from './schedule.ts';

export interface QuietCampaign {
  readonly scenario: Scenario;
  readonly bug: BugName | null;
  readonly rate: number;
  /** What it says is printed where this does not hold of its report. */
  readonly isAsExpected: (report: Report) => boolean;
}

/** A campaign for a test: always the same faults, and nothing is said where it ended as expected. */
export async function quietCampaign({ scenario, bug, rate, isAsExpected }: QuietCampaign): Promise<Report> {
  const said: string[] = [];
  const outcome = await runCampaign({
    scenario,
    bug,
    other: null,
    minutes: 0.6,
    seed: 20_261_121,
    sessionMs: 6000,
    connectors: 2,
    rate,
    latencyMs: 50,
    registryUrl: null,
    say: (line) => said.push(line),
    signal: new AbortController().signal,
  });
  const report = reportOf(scenario, outcome);
  if (!isAsExpected(report)) console.log([...said, ...reportLines(report)].join('\n'));
  return report;
}

/** Everything is as promised. */
export function isWell({ broken }: Report): boolean {
  return Object.keys(broken).length === 0;
}
