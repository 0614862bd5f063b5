import kafkajs, { type Consumer, type ConsumerConfig, type Kafka } from 'kafkajs';
import { type Emit } from '../../kernel/emit.ts';
import { registerCodecs } from './codecs.ts';
import { createLogSink, type CrashListener } from './log.ts';
import { tellingLogEnds } from './log-ends.ts';
import { repairKafkajs } from './repairs.ts';
import { connectionConfig, groupRetry, type KafkaSettings, PLAIN_RETRY, WRITE_TIMEOUT_MS } from './settings.ts';

const { logLevel } = kafkajs;

/** What the source, the writer and the admin are made from. Opaque outside of this folder. */
export interface KafkaClient {
  readonly settings: KafkaSettings;
  /** Gives up soon, for callers with retries of their own. */
  readonly brisk: Kafka;
  /** As `brisk`; its admins tell where logs end, those of `brisk` where what may be read ends: `tellingLogEnds`. */
  readonly uncommitted: Kafka;
  /** A consumer as patient as a member of a group must be. Calls the listener at the moment it crashes, and for no other one. */
  consumer(config: ConsumerConfig, onCrash: CrashListener): Consumer;
}

/** Opens nothing: connections are made by what is built from it. kafkajs' log becomes the event `kafka_log`. */
export function createKafkaClient(settings: KafkaSettings, emit: Emit): KafkaClient {
  repairKafkajs();
  registerCodecs();
  const common = {
    ...connectionConfig(settings),
    logLevel: logLevel.WARN,
  };
  const brisk = {
    ...common,
    logCreator: () => createLogSink(emit, () => undefined),
    requestTimeout: WRITE_TIMEOUT_MS,
    retry: PLAIN_RETRY,
  };
  return {
    settings,
    brisk: new kafkajs.Kafka(brisk),
    uncommitted: tellingLogEnds(new kafkajs.Kafka(brisk)),
    consumer: (config, onCrash) => {
      // A client each: the line that tells of a crash names the group, not the member.
      const logCreator = () => createLogSink(emit, onCrash);
      const retry = groupRetry(settings.sessionTimeoutMs);
      return new kafkajs.Kafka({ ...common, logCreator, retry }).consumer(config);
    },
  };
}
