import { type Cancel, type Clock } from '../kernel/clock.ts';
import { type KafkaAdmin } from '../edges/kafka/admin.ts';
import { type Engine } from '../engine/engine.ts';

const LOOK_EVERY_MS = 250;

export interface WatermarkParts {
  readonly admin: KafkaAdmin;
  readonly engine: Engine;
  readonly topic: string;
  /** Whether somebody waits to learn where the topic ends now. */
  readonly wanted: () => boolean;
  readonly clock: Clock;
}

/**
 * Tells the engine where the partitions of a topic end, as long as somebody waits for it: fetches of an idle partition
 * bring nothing, so its end is never seen otherwise. A failed look is made again. Answers what ends it.
 */
export function keepWatermarksFresh({ admin, engine, topic, wanted, clock }: WatermarkParts): Cancel {
  let cancel: Cancel | null = null;
  let ended = false;
  const look = async (): Promise<void> => {
    if (wanted()) {
      const asOfMs = clock.monotonicMs();
      const found = await admin.watermarks(topic).catch(() => []);
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
