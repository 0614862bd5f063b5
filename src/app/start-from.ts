import { type Config } from '../config/config.ts';
import { type KafkaAdmin } from '../edges/kafka/admin.ts';
import { pause } from '../kernel/clock.ts';
import { Fault } from '../kernel/fault.ts';
import { parseRfc3339 } from '../screening/rfc3339.ts';
import { type PreflightParts, untilThere } from './preflight.ts';

const OLD_MS = 3_600_000;
const LOOK_EVERY_MS = 10_000;
const UNITS_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Where a group that is new to a topic begins. */
export type StartFrom =
  | { readonly do: 'earliest' }
  | { readonly do: 'latest' }
  | { readonly do: 'at'; readonly ms: number };

/** What `KAFKA_START_FROM` means at `nowMs`. Throws `CONFIG_INVALID` for a time that is none. */
export function readStartFrom(text: string, nowMs: number): StartFrom {
  if (text === 'earliest' || text === 'latest') return { do: text };
  const [, count, unit] = /^-(\d+)([smhd])$/.exec(text) ?? [];
  if (count !== undefined) return { do: 'at', ms: nowMs - Number(count) * (UNITS_MS[unit ?? ''] ?? 0) };
  const micros = parseRfc3339(text);
  if (micros === null) throw new Fault('CONFIG_INVALID', `KAFKA_START_FROM: ${JSON.stringify(text)} is no time.`);
  return { do: 'at', ms: Math.floor(micros / 1000) };
}

export interface StartParts extends PreflightParts {
  readonly admin: KafkaAdmin;
  readonly config: Config;
  /** The topics that are read. */
  readonly topics: readonly string[];
}

/**
 * Sees to it that a group which has committed nothing of a topic begins where a person wants it to: as told, else at the
 * oldest record if that is less than an hour old, else not at all until somebody has said. False: a stop was asked for.
 */
export async function settleStart(parts: StartParts): Promise<boolean> {
  for (const topic of parts.topics) if (!(await settleTopic(parts, topic))) return false;
  return parts.stop.reason === null;
}

async function settleTopic(parts: StartParts, topic: string): Promise<boolean> {
  const { clock, emit, stop, config } = parts;
  const kafka = { cause: 'kafka', scope: 'start' } as const;
  let heldSinceMs: number | null = null;
  while (stop.reason === null) {
    const old = await untilThere(parts, kafka, async () => await begin(parts, topic));
    if (old === null) return false;
    if (old === 0n) {
      if (heldSinceMs !== null)
        emit('hold_ended', {
          cause: 'start_position',
          scope: topic,
          afterMs: Math.round(clock.monotonicMs() - heldSinceMs),
        });
      return true;
    }
    if (heldSinceMs === null) {
      heldSinceMs = clock.monotonicMs();
      const error = `group ${config.kafka.groupId} is new: ${String(old)} records would be sent`;
      emit('hold_started', { cause: 'start_position', scope: topic, error });
    }
    await Promise.race([pause(clock, LOOK_EVERY_MS), stop.asked()]);
  }
  return false;
}

/** How many records a person has to decide about before a group that is new to a topic, and was not told, may begin; 0: none. Only reads. */
export async function undecidedRecords(admin: KafkaAdmin, topic: string, nowMs: number): Promise<bigint> {
  const marks = await admin.watermarks(topic);
  const recent = await admin.offsetsAt(topic, nowMs - OLD_MS);
  const isOld = marks.some(({ partition, low, high }) => (recent.get(partition) ?? high) > low);
  return isOld ? marks.reduce((sum, { low, high }) => sum + (high - low), 0n) : 0n;
}

/** How many records a person has to decide about; 0: the group may begin. */
async function begin({ admin, config, clock }: StartParts, topic: string): Promise<bigint> {
  const { groupId, startFrom } = config.kafka;
  if (await admin.hasCommitted(groupId, topic)) return 0n;
  const nowMs = clock.nowMs();
  if (startFrom === null) return await undecidedRecords(admin, topic, nowMs);
  const start = readStartFrom(startFrom, nowMs);
  if (start.do === 'earliest') return 0n;
  const marks = await admin.watermarks(topic);
  const ends = new Map(marks.map(({ partition, high }) => [partition, high]));
  await admin.commitFor(groupId, topic, start.do === 'latest' ? ends : await admin.offsetsAt(topic, start.ms));
  return 0n;
}
