import { expect, inject, test } from 'vitest';
import { runCampaign } from '../chaos/campaign.ts';
import { reportLines, reportOf } from '../chaos/report.ts';

const LIMIT_MS = 150_000;

test(
  'one clean restart, kill -9, broker kill and freeze under load: nothing is lost, out of order or owned twice',
  async () => {
    const said: string[] = [];
    const outcome = await runCampaign({
      scenario: 'brief',
      minutes: 1,
      seed: 20_261_121,
      sessionMs: 6000,
      connectors: 2,
      rate: 50,
      latencyMs: 50,
      bug: null,
      other: null,
      registryUrl: inject('kafka').registryUrl,
      say: (line) => said.push(line),
      signal: new AbortController().signal,
    });
    const report = reportOf('brief', outcome);
    // Where it is broken, how it came to that is what one needs to see.
    if (Object.keys(report.broken).length > 0) console.log([...said, ...reportLines(report)].join('\n'));
    expect(report.broken).toEqual({});
  },
  LIMIT_MS,
);
