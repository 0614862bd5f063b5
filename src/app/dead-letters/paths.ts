import { createHash } from 'node:crypto';
import { type Config } from '../../config/config.ts';
import { placeOf } from '../../dead-letters/fetch-records.ts';
import { LetterFlow, lettersAgain } from '../../dead-letters/letter-flow.ts';
import { type SchemaRegistryEdge } from '../../edges/schema-registry/registry.ts';
import { type Flow, type ValueEncoder } from '../../engine/ports.ts';
import { Fault } from '../../kernel/fault.ts';
import { type FraudReview } from '../../screening/avro.generated.ts';
import { wireFlows } from '../flows.ts';
import { LateEncoder } from '../late-encoder.ts';
import { eventSource, writeDeadlineMs } from '../parts.ts';
import { type Rig } from '../replay/rig.ts';
import { idOfSchema, writtenSubjects } from '../schemas.ts';
import { type LetterTopic } from './letter-topic.ts';
import { NO_LETTERS } from './read-letters.ts';
import { type RedriveParts } from './redrive-ports.ts';
import { WebhookFlow } from './webhook-flow.ts';

/**
 * A configuration in which one flow runs: it waits for no scores, which were made long ago, and nothing holds letters
 * back: they are letters already.
 */
export function configOfRedrive(config: Config, { flow }: LetterTopic): Config {
  return {
    ...config,
    flows: new Set([flow]),
    deadLetterMaxShare: 1,
    sync: { ...config.sync, scoreWaitMs: 0 },
  };
}

/** What letters of a topic go through. The configuration of the rig is one of `configOfRedrive`. */
export function pathParts(
  rig: Rig,
  topic: LetterTopic,
): Pick<RedriveParts, 'newPath' | 'isSendable' | 'aboutOf'> & { readonly ready: () => Promise<void> } {
  return topic.flow === 'reviews' ? webhookParts(rig) : flowParts(rig, topic);
}

function flowParts({ wire, api, letters, registry }: Rig, topic: LetterTopic): ReturnType<typeof pathParts> {
  const { scoreEncoder } = wire;
  const newFlow = (): Flow<unknown, unknown> => {
    const { byTopic } = wireFlows({ ...wire, believesRefusals: true }, api);
    const flow = byTopic.get(topic.source);
    if (flow === undefined) throw new Fault('INTERNAL', `There is no flow ${topic.flow}.`);
    return flow;
  };
  const reader = newFlow();
  return {
    isSendable: (record) => reader.read(record).do === 'item',
    // The time tells records of a topic from those of one of the same name before it.
    aboutOf: (_letter, { source }) =>
      source.do === 'record' ? `${placeOf(source)} ${String(source.timestampMs)}` : '',
    newPath: (recordOf) => ({
      flow: new LetterFlow(newFlow(), recordOf),
      deadLetters: lettersAgain(letters, recordOf),
    }),
    ready: async () => {
      await provideEncoder(wire.config, registry, scoreEncoder);
    },
  };
}

function webhookParts({ wire, writer, secrets, registry }: Rig): ReturnType<typeof pathParts> {
  const { config, clock } = wire;
  const encoder = new LateEncoder<FraudReview>();
  const { signatureForms, timestampForms } = config.webhook;
  return {
    isSendable: () => true,
    aboutOf: ({ value }) =>
      createHash('sha256')
        .update(value ?? '')
        .digest('hex'),
    newPath: (recordOf, onLeft) => ({
      flow: new WebhookFlow({
        isChosen: (letter) => recordOf(letter) !== null,
        onLeft,
        secrets: () => secrets.webhookSecrets(),
        forms: { signatureForms, timestampForms },
        context: { topic: config.topics.reviews, account: config.account, source: eventSource(config), encoder },
        writer,
        publishTimeoutMs: writeDeadlineMs(config),
        clock,
      }),
      deadLetters: NO_LETTERS,
    }),
    ready: async () => {
      await provideEncoder(config, registry, encoder);
    },
  };
}

/** Looks up the schema of what the flow writes, if it writes anything. Throws `SCHEMA_MISSING` or `REGISTRY_FAILED`. */
async function provideEncoder<T>(config: Config, registry: SchemaRegistryEdge, encoder: LateEncoder<T>): Promise<void> {
  for (const written of writtenSubjects(config)) {
    const id = await idOfSchema(registry, written);
    const found: ValueEncoder<T> = registry.encoder<T>(written.schema, id);
    encoder.provide(found);
  }
}
