import { type Config } from '../config/config.ts';
import { Fault } from '../kernel/fault.ts';
import { compileMapping, type ServiceLanguage } from '../mapping/compile.ts';
import { type KnownDatapoints } from '../mapping/entry.ts';
import { type Mapping } from '../mapping/mapper.ts';
import { PAYMENT_AUTHORIZED_SCHEMA, PAYMENT_CREATED_SCHEMA } from '../screening/avro.generated.ts';
import { formatRfc3339 } from '../screening/rfc3339.ts';

/** Where nothing is mapped. */
const NO_MAPPING: Mapping = { scoring: null, sync: null };

interface Field {
  readonly name: string;
  readonly type: unknown;
}

/** The service's names, as our schemas of the inputs have them. */
export const DATAPOINTS: ServiceLanguage['known'] = {
  scoring: namesOf(PAYMENT_CREATED_SCHEMA),
  sync: namesOf(PAYMENT_AUTHORIZED_SCHEMA),
};

const LANGUAGE: ServiceLanguage = {
  known: DATAPOINTS,
  required: { scoring: ['trans_id'], sync: ['trans_id', 'status', 'ts'] },
  formatTime: formatRfc3339,
};

/**
 * The mapping of a configuration, compiled, and what is odd about it. Throws ONE `Fault` CONFIG_INVALID whose message has
 * a line for every problem of the file.
 */
export function readMapping({ mapping: text }: Pick<Config, 'mapping'>): {
  readonly mapping: Mapping;
  readonly warnings: readonly string[];
} {
  if (text === null) return { mapping: NO_MAPPING, warnings: [] };
  const compiled = compileMapping(text, LANGUAGE);
  if (compiled.do === 'refused') {
    const { problems } = compiled;
    const count = problems.length === 1 ? 'one problem' : `${String(problems.length)} problems`;
    throw new Fault(
      'CONFIG_INVALID',
      [`MAPPING_FILE has ${count} (docs/mapping.md):`, ...problems.map((line) => `  ${line}`)].join('\n'),
    );
  }
  return { mapping: compiled.mapping, warnings: compiled.warnings.map((line) => `MAPPING_FILE: ${line}`) };
}

/** The fields of a record schema, each with those of the objects it lists. */
function namesOf(schema: unknown): KnownDatapoints {
  return new Map(fieldsOf(schema).map(({ name, type }) => [name, namesInside(type)]));
}

function namesInside(type: unknown): KnownDatapoints | null {
  if (Array.isArray(type)) return type.map(namesInside).find((names) => names !== null) ?? null;
  if (typeof type !== 'object' || type === null) return null;
  if ('items' in type) return namesInside(type.items);
  return 'fields' in type ? namesOf(type) : null;
}

function fieldsOf(schema: unknown): readonly Field[] {
  return (schema as { readonly fields: readonly Field[] }).fields;
}
