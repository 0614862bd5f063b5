import { createSchemaRegistry } from '../../src/edges/schema-registry/registry.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { PAYMENT_CREATED_SCHEMA } from '../../src/screening/avro.generated.ts';

/** Makes the same values in Avro, framed, under the schema that it registers for the topic; as text in latin1. */
export async function avroValues(
  registryUrl: string,
  topic: string,
  toJson: (record: number, key: number) => string,
): Promise<(record: number, key: number) => string> {
  const registry = createSchemaRegistry({ url: registryUrl, clientId: 'bench' }, { clock: systemClock });
  try {
    const id = await registry.register(`${topic}-value`, PAYMENT_CREATED_SCHEMA);
    const encoder = registry.encoder<unknown>(PAYMENT_CREATED_SCHEMA, id);
    return (record, key) => encoder.encode(JSON.parse(toJson(record, key))).toString('latin1');
  } finally {
    await registry.close();
  }
}
