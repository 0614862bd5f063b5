import { createKafkaSource } from '../../edges/kafka/source.ts';
import { FenceFeed } from '../../edges/kafka/fence-feed.ts';
import { createKafkaWriter } from '../../edges/kafka/writer.ts';
import { assignUnits } from '../../engine/assignment.ts';
import { type Clock, type Draw } from '../../kernel/clock.ts';
import { type ReleaseStack } from '../../lifecycle/release-stack.ts';
import { createShops } from '../../sandbox/shops.ts';
import { FRAUD_REVIEW_SCHEMA } from '../../screening/avro.generated.ts';
import { kafkaOf, readLimitsOf, registryOf } from '../parts.ts';
import { neededTopics } from '../topics.ts';
import { type Latencies } from './latencies.ts';
import { OutputsReader } from './outputs-reader.ts';
import { ShopFloor } from './shop-floor.ts';
import { type Stage } from './stage.ts';

export interface CastParts {
  readonly stage: Stage;
  readonly clock: Clock;
  readonly draw: Draw;
  readonly opened: ReleaseStack;
  readonly latencies: Latencies;
}

const CUSTOMERS = 1000;

/** Starts to read every topic that the connector writes, as a consumer group of its own. */
export async function readOutputs({ stage, clock, draw, opened, latencies }: CastParts): Promise<OutputsReader> {
  const { config } = stage;
  const { sessionTimeoutMs, groupId } = config.kafka;
  const { created, authorized, reviews, scores } = config.topics;
  const registry = registryOf(config, { clock });
  const source = createKafkaSource({
    client: kafkaOf(config, silent),
    groupId: `${groupId}-outputs`,
    sessionTimeoutMs,
    limits: readLimitsOf(config),
    topics: neededTopics(config)
      .map(({ topic }) => topic)
      .filter((topic) => topic !== created && topic !== authorized),
    clock,
    draw,
    emit: silent,
    fence: new FenceFeed({ clock, sessionTimeoutMs }),
    assign: assignUnits,
  });
  const reader = new OutputsReader({
    source,
    schemas: registry,
    decoder: registry.decoder(FRAUD_REVIEW_SCHEMA),
    reviews,
    scores,
    scored: (transId, atMs) => {
      latencies.end(transId, atMs);
    },
  });
  opened.push('reader of what the connector writes', async () => {
    await source.stop();
    await registry.close();
  });
  await source.start(reader);
  return reader;
}

/** Opens the shops: from now on customers pay. */
export async function openShops(parts: CastParts, rate: number): Promise<ShopFloor> {
  const { stage, clock, draw, opened, latencies } = parts;
  const { created, authorized } = stage.config.topics;
  const writer = createKafkaWriter({ client: kafkaOf(stage.config, silent), clock, draw, emit: silent });
  opened.push('writer of the shops', async () => {
    await writer.close();
  });
  await writer.connect();
  const shops = createShops({ seed: Math.floor(draw() * 2 ** 31), customers: CUSTOMERS });
  const selling = (transId: string, atMs: number): void => {
    latencies.begin(transId, atMs);
  };
  return new ShopFloor({ shops, writer, topicCreated: created, topicAuthorized: authorized, rate, clock, selling });
}

/** The demo's own clients say nothing: what there is to see is the connector's. */
function silent(): void {
  // Nothing is said.
}
