import kafkajs, { type Kafka } from 'kafkajs';
import { type Emit } from '../../kernel/emit.ts';
import { registerCodecs } from './codecs.ts';
import { createLogSink, type CrashListener } from './log.ts';
import { repairKafkajs } from './repairs.ts';
import { connectionConfig, groupRetry, type KafkaSettings, PLAIN_RETRY, WRITE_TIMEOUT_MS } from './settings.ts';

const { logLevel } = kafkajs;

/** What the source, the writer and the admin are made from. Opaque outside of this folder. */
export interface KafkaClient {
  readonly settings: KafkaSettings;
  /** As patient as a member of a group must be. */
  readonly patient: Kafka;
  /** Gives up soon, for callers with retries of their own. */
  readonly brisk: Kafka;
  /** Calls the listener at the moment a consumer of the group crashes, whichever of this client; returns what ends that. */
  onCrash(groupId: string, listener: (errorName: string) => void): () => void;
}

/** Opens nothing: connections are made by what is built from it. kafkajs' log becomes the event `kafka_log`. */
export function createKafkaClient(settings: KafkaSettings, emit: Emit): KafkaClient {
  repairKafkajs();
  registerCodecs();
  const listeners = new Map<string, Set<(errorName: string) => void>>();
  const crashed: CrashListener = (groupId, errorName) => {
    for (const listener of listeners.get(groupId) ?? []) listener(errorName);
  };
  const common = {
    ...connectionConfig(settings),
    logLevel: logLevel.WARN,
    logCreator: () => createLogSink(emit, crashed),
  };
  return {
    settings,
    patient: new kafkajs.Kafka({ ...common, retry: groupRetry(settings.sessionTimeoutMs) }),
    brisk: new kafkajs.Kafka({ ...common, requestTimeout: WRITE_TIMEOUT_MS, retry: PLAIN_RETRY }),
    onCrash(groupId, listener) {
      const own = listeners.get(groupId) ?? new Set();
      listeners.set(groupId, own.add(listener));
      return () => {
        own.delete(listener);
      };
    },
  };
}
