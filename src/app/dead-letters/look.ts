import { type Config } from '../../config/config.ts';
import { createKafkaAdmin, type KafkaAdmin } from '../../edges/kafka/admin.ts';
import { FenceFeed } from '../../edges/kafka/fence-feed.ts';
import { type Schemas, type ValueDecoder } from '../../engine/ports.ts';
import { type Clock, type Draw } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { Fault } from '../../kernel/fault.ts';
import { ReleaseStack } from '../../lifecycle/release-stack.ts';
import { type StopRequest } from '../../lifecycle/stop-request.ts';
import { kafkaOf, registryOf } from '../parts.ts';
import { passPartsOf } from '../replay/pass-parts.ts';
import { type PassParts } from '../replay/run-pass.ts';

export interface LookOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly emit: Emit;
  readonly stop: StopRequest;
}

/** What a command that only reads topics works with: no service, and no registry where none is configured. */
export interface Look {
  readonly admin: KafkaAdmin;
  /** Reads values as they were written. */
  readonly decoder: ValueDecoder;
  /** Throws `KAFKA_FAILED`. */
  passParts(): Promise<PassParts>;
  release(): Promise<void>;
}

const NO_REGISTRY: Schemas & { readonly decoder: ValueDecoder } = {
  decoder: { decode: () => ({ do: 'refuse', reason: 'schema_unknown', detail: 'no registry is configured' }) },
  fetch: async () => await Promise.resolve({ do: 'ready' }),
};

/** Builds it; connects to nothing before the first question. */
export function openLook({ config, clock, draw, emit, stop }: LookOptions): Look {
  const opened = new ReleaseStack();
  const client = kafkaOf(config, emit);
  const admin = createKafkaAdmin(client);
  opened.push('admin', async () => {
    await admin.close();
  });
  const { schemas, decoder } = schemasOf(config, clock, opened);
  // Nothing is sent from here, so nothing asks it.
  const fence = new FenceFeed({ clock, sessionTimeoutMs: config.kafka.sessionTimeoutMs });
  return {
    admin,
    decoder,
    passParts: async () =>
      passPartsOf({ config, client, fence, schemas, clock, draw, emit, stop }, await admin.clusterId()),
    release: async () => {
      await opened.release();
    },
  };
}

/** Throws `TOPIC_MISSING` where a dead-letter topic does not exist. */
export async function requireTopic(admin: Pick<KafkaAdmin, 'topics'>, topic: string): Promise<void> {
  const [found] = await admin.topics([topic]);
  if (found?.exists !== true) throw new Fault('TOPIC_MISSING', `The topic ${topic} does not exist.`);
}

function schemasOf(
  config: Config,
  clock: Clock,
  opened: ReleaseStack,
): { readonly schemas: Schemas; readonly decoder: ValueDecoder } {
  if (config.registry.url === '') return { schemas: NO_REGISTRY, decoder: NO_REGISTRY.decoder };
  const registry = registryOf(config, { clock });
  opened.push('registry', async () => {
    await registry.close();
  });
  return { schemas: registry, decoder: registry.decoder(null) };
}
