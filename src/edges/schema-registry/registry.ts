import { LRUCache } from 'lru-cache';
import { type SchemaId, type Schemas, type ValueDecoder, type ValueEncoder } from '../../engine/ports.ts';
import { type Clock } from '../../kernel/clock.ts';
import { type Emit } from '../../kernel/emit.ts';
import { type ExchangeReport } from '../../kernel/exchange-counts.ts';
import { createFramer, unframe } from './framing.ts';
import { KnownSchemas } from './known-schemas.ts';
import { lookUp } from './look-up.ts';
import { createReading, droppedFields, typeOf, type Misfit, type Reading } from './reading.ts';
import { subjectsOf, type Subjects } from './subjects.ts';
import { createTransport, type RegistrySettings, type RegistryTransport } from './transport.ts';

/** The schema registry as the connector uses it: any that speaks Confluent's API. `run` never registers anything. */
export interface SchemaRegistryEdge extends Schemas, Subjects {
  /** Decodes values of any writer schema the registry knows, as the reader schema says; null: as they were written. */
  decoder(readerSchema: object | null): ValueDecoder;
  /** `id`: what the registry calls this schema, see `idOf`. */
  encoder<T>(schema: object, id: SchemaId): ValueEncoder<T>;
  /** What was asked of the registry, by kind of request. */
  exchanges(): readonly ExchangeReport[];
  /** Whether it answers, by one GET: null, or the name of why not (`timeout`, `status_503`). Never rejects. */
  probe(): Promise<string | null>;
  /** Fields of decoded values that were left out because the reader schema does not have them; a null counts as one. */
  fieldsDropped(): number;
  close(): Promise<void>;
}

/** Writer schemas one decoder keeps compiled. */
const MAX_READINGS = 1000;

export interface RegistryDeps {
  readonly clock: Clock;
  /** Absent: nothing is reported. */
  readonly emit?: Emit;
}

/** Of dropped fields in one event; a producer's schema may have thousands, and names of any length. */
const MAX_NAMES = 10;
const MAX_NAMES_CHARACTERS = 500;

/** Reports the fields of a writer schema that ours does not have: once by its id, then as a count. */
class DroppedFields {
  count = 0;
  readonly #emit: Emit | undefined;
  readonly #reported = new LRUCache<SchemaId, true>({ max: 10 * MAX_READINGS });

  constructor(emit: Emit | undefined) {
    this.#emit = emit;
  }

  /** Wraps the reading of a schema that has such fields, so that each value counts. */
  counted(reading: Reading, schema: SchemaId, names: readonly string[]): Reading {
    if (names.length === 0) return reading;
    if (!this.#reported.has(schema)) {
      this.#reported.set(schema, true);
      const shown = names.slice(0, MAX_NAMES).join(', ').slice(0, MAX_NAMES_CHARACTERS);
      this.#emit?.('writer_fields_dropped', { schema, fields: names.length, names: shown });
    }
    return (payload) => {
      this.count += names.length;
      return reading(payload);
    };
  }
}

/** Opens nothing yet: the first request connects. */
export function createSchemaRegistry(settings: RegistrySettings, { clock, emit }: RegistryDeps): SchemaRegistryEdge {
  const transport = createTransport(settings, clock);
  /** Ids of schemas we write: a registry that does not have them is not the one we know, or has lost its data. */
  const own = new Set<SchemaId>();
  const known = new KnownSchemas({
    lookUp: async (id) => await lookUp(transport, id),
    isWell: async () => await isWell(transport, own),
    clock,
  });
  const dropped = new DroppedFields(emit);
  const subjects = subjectsOf(transport);
  return {
    ...subjects,
    idOf: async (subject, schema) => {
      const found = await subjects.idOf(subject, schema);
      if (found.do === 'found') own.add(found.id);
      return found;
    },
    fetch: async (id) => await known.fetch(id),
    decoder: (readerSchema) => createDecoder(readerSchema, known, dropped),
    encoder: (schema, id) => {
      const type = typeOf(schema);
      own.add(id);
      const encode = createFramer(id, {
        encode: (value, into, at) => type.encode(value, into, at),
        toBuffer: (value) => type.toBuffer(value),
      });
      return { encode };
    },
    exchanges: () => transport.exchanges(),
    probe: async () => await probe(transport, own),
    fieldsDropped: () => dropped.count,
    close: async () => {
      await transport.close();
    },
  };
}

function createDecoder(readerSchema: object | null, known: KnownSchemas, dropped: DroppedFields): ValueDecoder {
  const readings = new LRUCache<SchemaId, Reading | Misfit>({ max: MAX_READINGS });
  return {
    decode: (value) => {
      const framed = unframe(value);
      if (framed.do === 'refuse') return { ...framed, reason: 'bad_framing' };
      const { id, payload } = framed;
      let reading = readings.get(id);
      if (reading === undefined) {
        const schema = known.get(id);
        if (schema === undefined) return { do: 'needs', schema: id };
        if (schema.do === 'absent') return { do: 'refuse', reason: 'schema_unknown', detail: `schema_${id}` };
        reading = schema.do === 'type' ? createReading(readerSchema, schema.type) : { do: 'refuse', detail: 'schema' };
        if (typeof reading === 'function' && readerSchema !== null && schema.do === 'type')
          reading = dropped.counted(reading, id, droppedFields(readerSchema, schema.type));
        readings.set(id, reading);
      }
      if (typeof reading === 'function') return reading(payload);
      return { do: 'refuse', reason: 'schema_incompatible', detail: `schema_${id}:${reading.detail}` };
    },
  };
}

/** Asked of the registry itself, past every cache. Where we write no schema, one that has any subject will do. */
async function isWell(transport: RegistryTransport, own: ReadonlySet<SchemaId>): Promise<boolean> {
  for (const id of own) {
    const answer = await transport.request('GET', `/schemas/ids/${id}`);
    if (answer.do === 'failed' || answer.status !== 200) return false;
  }
  if (own.size > 0) return true;
  const answer = await transport.request('GET', '/subjects');
  return answer.do === 'answer' && answer.status === 200 && Array.isArray(answer.body) && answer.body.length > 0;
}

/** A small answer: a schema of ours or, where we write none, the kinds of schemas there are. Whatever is not a failure of the server is an answer. */
async function probe(transport: RegistryTransport, own: ReadonlySet<SchemaId>): Promise<string | null> {
  const [id] = own;
  const answer = await transport.request('GET', id === undefined ? '/schemas/types' : `/schemas/ids/${id}`);
  if (answer.do === 'failed') return answer.error;
  return answer.status < 500 ? null : `status_${String(answer.status)}`;
}
