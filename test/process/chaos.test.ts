import { expect, test } from 'vitest';
import { isWell, quietCampaign } from '../chaos/quiet-campaign.ts';

test(
  'killed, restarted, frozen and cut off from nodes within half a minute, connectors lose, reorder and forge nothing',
  { timeout: 300_000 },
  async () => {
    const report = await quietCampaign({
      scenario: 'slice',
      bug: null,
      rate: 60,
      isAsExpected: isWell,
    });
    expect(report.broken).toEqual({});
    // And all of it happened.
    expect(report.figures).toMatchObject({ kills: 1, cleanStops: 1, freezes: 1, floods: 1 });
    expect(Object.keys(report.figures)).toEqual(
      expect.arrayContaining(['wire to coordinator silent', 'wire to node cut', 'ill unavailable']),
    );
  },
);
