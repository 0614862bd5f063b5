import { type Cancel, type Clock } from '../kernel/clock.ts';
import { type OffsetReader } from '../edges/kafka/offset-reader.ts';
import { type Engine } from '../engine/engine.ts';

const LOOK_EVERY_MS = 250;
/** How old the end of a partition may be where nobody waits for it: the lag on `/status` and in the metrics. */
const RENEW_EVERY_MS = 10_000;

export interface WatermarkParts {
  /** Where logs end, with what open transactions hold back: a payment that nobody may read yet is still to come. */
  readonly ends: Pick<OffsetReader, 'watermarks'>;
  readonly engine: Pick<Engine, 'sawEnd'>;
  readonly topics: readonly string[];
  /** Whether somebody waits to learn where this topic ends now. */
  readonly wanted: (topic: string) => boolean;
  readonly clock: Clock;
}

/**
 * Tells the engine where the partitions of the topics end: several times a second as long as somebody waits for it, else
 * every ten seconds. Fetches of an idle partition bring nothing, and paused ones are not fetched, so their ends are never
 * seen otherwise. A failed look is made again. Answers what ends it.
 */
export function keepWatermarksFresh(parts: WatermarkParts): Cancel {
  const looks = parts.topics.map((topic) => keepFresh(topic, parts));
  return () => {
    for (const end of looks) end();
  };
}

function keepFresh(topic: string, { ends, engine, wanted, clock }: WatermarkParts): Cancel {
  let cancel: Cancel | null = null;
  let ended = false;
  let renewAtMs = clock.monotonicMs() + RENEW_EVERY_MS;
  const look = async (): Promise<void> => {
    const asOfMs = clock.monotonicMs();
    if (wanted(topic) || asOfMs >= renewAtMs) {
      renewAtMs = asOfMs + RENEW_EVERY_MS;
      const found = await ends.watermarks(topic).catch(() => []);
      for (const { partition, high } of found) engine.sawEnd({ topic, partition }, high, asOfMs);
    }
    if (!ended) cancel = clock.after(LOOK_EVERY_MS, () => void look());
  };
  void look();
  return () => {
    ended = true;
    cancel?.();
  };
}
