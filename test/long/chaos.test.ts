import { describe, expect, test } from 'vitest';
import { BUG_NAMES, BUGS } from '../chaos/bugs/bugs.ts';
import { isWell, quietCampaign } from '../chaos/quiet-campaign.ts';
import { type Report } from '../chaos/report.ts';

describe('the judge of the campaigns is not fooled', () => {
  test.each(BUG_NAMES)('%s is found out', async (bug) => {
    const { scenario, foundAs } = BUGS[bug];
    // One of these promises was seen to be broken.
    const isFound = ({ broken }: Report): boolean => foundAs.some((figure) => figure in broken);
    expect(isFound(await quietCampaign({ scenario, bug, rate: 100, isAsExpected: isFound }))).toBe(true);
  });
});

test('the judge finds nothing where a node dies beside connectors that are restarted, killed and frozen', async () => {
  const report = await quietCampaign({ scenario: 'brief', bug: null, rate: 100, isAsExpected: isWell });
  expect(report.broken).toEqual({});
});
