import { Kafka, logLevel } from 'kafkajs';
import { type Emit } from '../../kernel/emit.ts';
import { registerCodecs } from './codecs.ts';
import { createLogSink, type CrashListener } from './log.ts';
import { repairKafkajs } from './repairs.ts';
import { connectionConfig, groupRetry, type KafkaSettings, PLAIN_RETRY, WRITE_TIMEOUT_MS } from './settings.ts';

/** What the source, the writer and the admin are made from. Opaque outside of this folder. */
export interface KafkaClient {
  readonly settings: KafkaSettings;
  /** As patient as a member of a group must be. */
  readonly patient: Kafka;
  /** Gives up soon, for callers with retries of their own. */
  readonly brisk: Kafka;
  /** Calls the listener at the moment a consumer of the group crashes; returns what ends that. */
  onCrash(groupId: string, listener: () => void): () => void;
}

/** Opens nothing: connections are made by what is built from it. kafkajs' log becomes the event `kafka_log`. */
export function createKafkaClient(settings: KafkaSettings, emit: Emit): KafkaClient {
  repairKafkajs();
  registerCodecs();
  const listeners = new Map<string, Set<() => void>>();
  const crashed: CrashListener = (groupId) => {
    for (const listener of listeners.get(groupId) ?? []) listener();
  };
  const common = {
    ...connectionConfig(settings),
    logLevel: logLevel.WARN,
    logCreator: () => createLogSink(emit, crashed),
  };
  return {
    settings,
    patient: new Kafka({ ...common, retry: groupRetry(settings.sessionTimeoutMs) }),
    brisk: new Kafka({ ...common, requestTimeout: WRITE_TIMEOUT_MS, retry: PLAIN_RETRY }),
    onCrash(groupId, listener) {
      const own = listeners.get(groupId) ?? new Set();
      listeners.set(groupId, own.add(listener));
      return () => {
        own.delete(listener);
      };
    },
  };
}
