import { type Config } from '../../config/config.ts';
import { createDeadLetters } from '../../dead-letters/writer.ts';
import { createKafkaAdmin, type KafkaAdmin } from '../../edges/kafka/admin.ts';
import { FenceFeed } from '../../edges/kafka/fence-feed.ts';
import { createKafkaWriter, type KafkaWriter } from '../../edges/kafka/writer.ts';
import { type SchemaRegistryEdge } from '../../edges/schema-registry/registry.ts';
import { type ScreeningApiEdge } from '../../edges/screening-api/client.ts';
import { ownVersion } from '../../edges/system/package-info.ts';
import { type DeadLetters } from '../../engine/ports.ts';
import { type Clock, type Draw } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { Fault } from '../../kernel/fault.ts';
import { ReleaseStack } from '../../lifecycle/release-stack.ts';
import { type StopRequest } from '../../lifecycle/stop-request.ts';
import { type Mapping } from '../../mapping/mapper.ts';
import { type FraudScore } from '../../screening/avro.generated.ts';
import { createCardGuard } from '../../screening/card-guard.ts';
import { createApi, type WireParts } from '../flows.ts';
import { LateEncoder } from '../late-encoder.ts';
import { kafkaOf, registryOf, writeDeadlineMs } from '../parts.ts';
import { untilThere } from '../preflight.ts';
import { Secrets } from '../secrets.ts';
import { type ReplayAdmin } from './prepare.ts';
import { passPartsOf } from './pass-parts.ts';
import { type PassParts } from './run-pass.ts';

export interface RigOptions {
  readonly config: Config;
  /** Compiled from `config.mapping`. */
  readonly mapping: Mapping;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
  readonly stop: StopRequest;
  /** Of what waits for Kafka: the name of the command. */
  readonly scope: string;
}

/** What a command that sends records again works with. */
export interface Rig {
  readonly admin: KafkaAdmin;
  /** The same, waiting for Kafka where it is away. Throws `KAFKA_FAILED` when a stop is asked for meanwhile. */
  readonly patient: ReplayAdmin;
  readonly registry: SchemaRegistryEdge;
  readonly writer: KafkaWriter;
  readonly secrets: Secrets;
  readonly api: ScreeningApiEdge;
  /** What flows are wired with. The encoder of scores is not provided yet. */
  readonly wire: WireParts & { readonly scoreEncoder: LateEncoder<FraudScore> };
  /** Of the source topics' letters. */
  readonly letters: DeadLetters;
  /** Asks the cluster who it is; waits for it. Null: a stop was asked for meanwhile. */
  passParts(): Promise<PassParts | null>;
  /** Closes everything; never rejects. */
  release(): Promise<void>;
}

/** Builds it; connects to nothing before the first call. */
export function openRig(options: RigOptions): Rig {
  const { config, mapping, clock, draw, emit } = options;
  const opened = new ReleaseStack();
  const secrets = new Secrets(config);
  const kafka = kafkaOf(config, emit, secrets);
  const unwatch = secrets.watch({ clock, emit });
  opened.push('secret files', async () => {
    unwatch();
    await Promise.resolve();
  });
  const registry = registryOf(config, { clock, emit }, secrets);
  opened.push('registry', async () => {
    await registry.close();
  });
  const writer = createKafkaWriter({ client: kafka, clock, draw, emit });
  opened.push('writer', async () => {
    await writer.close();
  });
  const admin = createKafkaAdmin(kafka);
  opened.push('admin', async () => {
    await admin.close();
  });
  const fence = new FenceFeed({ clock, sessionTimeoutMs: config.kafka.sessionTimeoutMs });
  const api = createApi({ config, secrets, version: ownVersion(), fence, clock, draw, emit });
  opened.push('screening client', async () => {
    await api.close();
  });
  const wire = { config, mapping, registry, writer, scoreEncoder: new LateEncoder<FraudScore>(), clock, draw, emit };
  return {
    admin,
    patient: patientOf(admin, options),
    registry,
    writer,
    secrets,
    api,
    wire,
    letters: createDeadLetters({
      writer,
      suffix: config.topics.deadLetterSuffix,
      account: config.account,
      connector: `fraud-screening-connector/${ownVersion()}`,
      guard: createCardGuard(config.cardGuardExempt),
      clock,
      emit,
      deadlineMs: writeDeadlineMs(config),
    }),
    passParts: async () => {
      const clusterId = await untilThere(options, kafkaHold(options), async () => await admin.clusterId());
      if (clusterId === null) return null;
      return passPartsOf({ ...options, client: kafka, fence, schemas: registry }, clusterId);
    },
    release: async () => {
      await opened.release();
    },
  };
}

function kafkaHold({ scope }: RigOptions): { readonly cause: 'kafka'; readonly scope: string } {
  return { cause: 'kafka', scope };
}

function patientOf(admin: KafkaAdmin, options: RigOptions): ReplayAdmin {
  const wait = async <T>(ask: () => Promise<T>): Promise<T> => {
    // After a stop nothing is waited for, but what is there is still asked.
    if (options.stop.reason !== null) return await ask();
    const found = await untilThere(options, kafkaHold(options), ask);
    if (found === null) throw new Fault('KAFKA_FAILED', 'Kafka did not answer before the stop.');
    return found;
  };
  return {
    topics: async (names) => await wait(async () => await admin.topics(names)),
    watermarks: async (topic) => await wait(async () => await admin.watermarks(topic)),
    offsetsAt: async (topic, timestampMs) => await wait(async () => await admin.offsetsAt(topic, timestampMs)),
    committed: async (groupId, topic) => await wait(async () => await admin.committed(groupId, topic)),
    memberCount: async (groupId) => await wait(async () => await admin.memberCount(groupId)),
    // At the end, where nobody waits for it any more.
    commitFor: async (groupId, topic, offsets) => {
      await admin.commitFor(groupId, topic, offsets);
    },
  };
}
