import { Attribution, type AttributionOptions } from '../../src/resilience/attribution.ts';

/** An attribution as the options are unless set, from time 0; no chance in it. */
export function buildAttribution(over: Partial<AttributionOptions> = {}): Attribution {
  return new Attribution({
    maxAttempts: 8,
    refuseAfterMs: 300_000,
    maxShare: 0.05,
    draw: () => 0.5,
    nowMs: 0,
    ...over,
  });
}
