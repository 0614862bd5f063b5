import { describe, expect, test } from 'vitest';
import { type BugName, BUG_NAMES, BUGS } from '../chaos/bugs/bugs.ts';
import { runCampaign } from '../chaos/campaign.ts';
import { type Report, reportLines, reportOf } from '../chaos/report.ts';
import { type Scenario } from '../chaos/schedule.ts';

/** What a campaign says while it runs is only of interest where it was not as expected. */
async function campaign(scenario: Scenario, bug: BugName | null, foundAs: readonly string[]): Promise<Report> {
  const said: string[] = [];
  const outcome = await runCampaign({
    scenario,
    bug,
    minutes: 0.6,
    seed: 20_261_121,
    sessionMs: 6000,
    connectors: 2,
    rate: 100,
    latencyMs: 50,
    registryUrl: null,
    say: (line) => said.push(line),
    signal: new AbortController().signal,
  });
  const report = reportOf(scenario, outcome);
  const isAsExpected = bug === null ? Object.keys(report.broken).length === 0 : isFound(report, foundAs);
  if (!isAsExpected) console.log([...said, ...reportLines(report)].join('\n'));
  return report;
}

/** One of these promises was seen to be broken. */
function isFound({ broken }: Report, foundAs: readonly string[]): boolean {
  return foundAs.some((figure) => figure in broken);
}

test('with a coordinator that is not reached, an ill service, a kill -9 and forged webhooks everything is as promised', async () => {
  expect((await campaign('slice', null, [])).broken).toEqual({});
});

describe('the judge of the campaigns is not fooled', () => {
  test.each(BUG_NAMES)('%s is found out', async (name) => {
    const { scenario, foundAs } = BUGS[name];
    expect(isFound(await campaign(scenario, name, foundAs), foundAs)).toBe(true);
  });
});
