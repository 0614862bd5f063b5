import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Act } from './acts.ts';
import { type Tally } from './deeds.ts';
import { type Fleet } from './fleet.ts';
import { type Sighting } from './sightings.ts';
import { FINISHED_ABOVE, finishedSince, type Sticking, type StuckPayment } from './stuck.ts';
import { type Witness } from './witness.ts';

const LOOK_EVERY_MS = 250;

export interface StickParts {
  readonly fleet: Fleet;
  readonly witness: Witness;
  readonly stuck: StuckPayment;
  /** Where a payment of this customer is. */
  readonly partitionOf: (key: string) => number;
  readonly tally: Tally;
  readonly say: (what: string) => void;
  /** Kills a connector, as any kill of the campaign. */
  readonly kill: (connector: number) => Promise<void>;
  readonly start: (connector: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Lets a payment stick, and kills the connector that works on its partition when enough has finished above it. */
export async function stick(
  parts: StickParts,
  { forMs, phaseMs, downMs }: Extract<Act, { readonly do: 'stick' }>,
): Promise<Sticking | null> {
  const { stuck, witness, partitionOf, signal, say } = parts;
  const after = async (ms: number): Promise<undefined> => {
    await sleep(ms, undefined, { signal }).catch(() => undefined);
  };
  const first = await Promise.race([stuck.next(), after(forMs)]);
  if (first === undefined) {
    stuck.release();
    return null;
  }
  const untilMs = performance.now() + forMs;
  say(`a payment of partition ${String(partitionOf(first.key ?? ''))} sticks`);
  let above = 0;
  while (above < FINISHED_ABOVE && performance.now() < untilMs && !signal.aborted) {
    await after(LOOK_EVERY_MS);
    above = finishedSince(first, witness.sightings, partitionOf);
  }
  await after(phaseMs);
  const sticking = await killOver(parts, { stuck: first, above, downMs });
  await after(Math.max(0, untilMs - performance.now()));
  stuck.release();
  say('the payment that stuck may go');
  return sticking;
}

/** Kills whoever works on the partition of the payment that sticks. */
async function killOver(
  { witness, fleet, partitionOf, tally, say, kill, start }: StickParts,
  { stuck, above, downMs }: { readonly stuck: Sighting; readonly above: number; readonly downMs: number },
): Promise<Sticking | null> {
  const partition = partitionOf(stuck.key ?? '');
  const last = witness.sightings.findLast(({ key }) => key !== null && partitionOf(key) === partition);
  const connector = fleet.numberOf(last?.owner ?? stuck.owner);
  if (connector === null) return null;
  say(`${String(above)} have finished above it`);
  await kill(connector);
  const end = fleet.ends.at(-1);
  if (above >= FINISHED_ABOVE) tally.add('stuckKills');
  await sleep(downMs);
  await start(connector);
  return end === undefined ? null : { transId: stuck.transId, end };
}
