import { type CampaignOptions, type Outcome, runCampaign } from './campaign.ts';
import { type GoodDelays, longerBy, MOST_DELAY_MS, slowerOf } from './hostile.ts';

/**
 * Runs one campaign; `hostile` after the same without odd records, which it is compared with. Two such runs on a busy
 * machine differ by seconds, so where good records seem late another one without odd records follows, and the slower of
 * the two counts.
 */
export async function runScenario(given: CampaignOptions): Promise<Outcome> {
  if (given.scenario !== 'hostile') return await runCampaign(given);
  const { say, signal } = given;
  say('First the same run without odd records.');
  const before = await quietDelays(given);
  say('Now the run with them.');
  const outcome = await runCampaign(given);
  if (before === null || !isLate(outcome, before) || signal.aborted) return { ...outcome, without: before };
  say('Good records took longer than without odd ones: once more without them.');
  const after = await quietDelays(given);
  return { ...outcome, without: after === null ? before : slowerOf(before, after) };
}

/** Null: it did not come through. */
async function quietDelays(given: CampaignOptions): Promise<GoodDelays | null> {
  const { settledMs, delays } = await runCampaign({ ...given, isQuiet: true });
  return settledMs === null ? null : delays;
}

function isLate({ delays }: Outcome, without: GoodDelays): boolean {
  return (['payments', 'statuses'] as const).some((of) => longerBy(of, delays, without) > MOST_DELAY_MS);
}
