import { type Config } from '../config/config.ts';
import { type SchemaRegistryEdge } from '../edges/schema-registry/registry.ts';
import { Fault } from '../kernel/fault.ts';
import {
  FRAUD_REVIEW_SCHEMA,
  FRAUD_SCORE_SCHEMA,
  PAYMENT_AUTHORIZED_SCHEMA,
  PAYMENT_CREATED_SCHEMA,
} from '../screening/avro.generated.ts';

/** A schema and the subject it is registered under (TopicNameStrategy). */
export interface Subject {
  readonly topic: string;
  readonly subject: string;
  readonly schema: object;
}

function subjectOf(topic: string, schema: object): Subject {
  return { topic, subject: `${topic}-value`, schema };
}

/** The schemas that this connector writes with, so that they must be registered before it starts. */
export function writtenSubjects({ topics, flows }: Config): readonly Subject[] {
  const subjects: Subject[] = [];
  if (flows.has('scoring') && topics.scores !== null) subjects.push(subjectOf(topics.scores, FRAUD_SCORE_SCHEMA));
  if (flows.has('reviews')) subjects.push(subjectOf(topics.reviews, FRAUD_REVIEW_SCHEMA));
  return subjects;
}

/** The schemas that it reads with. They belong to the producers: registered only when asked for. */
export function readSubjects({ topics, flows }: Config): readonly Subject[] {
  const subjects: Subject[] = [];
  if (flows.has('scoring')) subjects.push(subjectOf(topics.created, PAYMENT_CREATED_SCHEMA));
  if (flows.has('sync')) subjects.push(subjectOf(topics.authorized, PAYMENT_AUTHORIZED_SCHEMA));
  return subjects;
}

/** The registry's id of a schema. Throws `SCHEMA_MISSING`, or `REGISTRY_FAILED` where the registry does not answer. */
export async function idOfSchema(registry: SchemaRegistryEdge, { subject, schema }: Subject): Promise<number> {
  const found = await registry.idOf(subject, schema);
  switch (found.do) {
    case 'found':
      return found.id;
    case 'missing':
      throw new Fault(
        'SCHEMA_MISSING',
        `The registry has no schema of this version under ${subject}; run \`fraud-connector schemas register\`.`,
      );
    case 'unreachable':
      throw new Fault('REGISTRY_FAILED', `The schema registry does not answer (${found.error}).`);
  }
}
