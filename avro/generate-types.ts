/** Prints the schemas of this folder as TypeScript, to `src/screening/avro.generated.ts`: `npm run schemas:types`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { format, type FormatConfig } from 'oxfmt';

type Schema = string | readonly Schema[] | { readonly [name: string]: unknown };

interface FieldSchema {
  readonly name: string;
  readonly type: Schema;
  readonly doc: string;
}

interface RecordSchema {
  readonly name: string;
  readonly doc: string;
  readonly fields: readonly FieldSchema[];
}

/** The schemas in the order they are printed; each is a file `<name>.avsc` of this folder. */
export const SCHEMA_NAMES: readonly string[] = ['PaymentCreated', 'PaymentAuthorized', 'FraudScore', 'FraudReview'];

/** Where the types are written. */
export const TARGET: URL = new URL('../src/screening/avro.generated.ts', import.meta.url);

const HEAD = `/**
 * The schemas of \`avro/\` as types and as values. Printed by \`npm run schemas:types\`: change the schemas instead.
 * Unions are plain values (no wrapping), enums are unions of strings, times are numbers of the schema's unit since 1970,
 * longs are whole numbers from -(2^53 - 2) to 2^53 - 2.
 */
`;

const PRIMITIVES: ReadonlyMap<string, string> = new Map([
  ['null', 'null'],
  ['boolean', 'boolean'],
  ['int', 'number'],
  ['long', 'number'],
  ['float', 'number'],
  ['double', 'number'],
  ['string', 'string'],
  ['bytes', 'Buffer'],
]);

/** The schema of one file, as it was written. */
export function readSchema(name: string): object {
  return JSON.parse(readFileSync(new URL(`${name}.avsc`, import.meta.url), 'utf8')) as object;
}

/** The whole text of the generated file, formatted; the same schemas give the same text. */
export async function printTypes(): Promise<string> {
  const parts = [HEAD];
  for (const name of SCHEMA_NAMES) {
    const schema = readSchema(name);
    const interfaces: string[] = [];
    printRecord(schema as RecordSchema, interfaces);
    parts.push(...interfaces, printConstant(name, schema));
  }
  const options = JSON.parse(readFileSync(new URL('../.oxfmtrc.json', import.meta.url), 'utf8')) as FormatConfig;
  const { code, errors } = await format('avro.generated.ts', parts.join('\n'), options);
  if (errors.length > 0) throw new Error(`the printed types do not parse: ${JSON.stringify(errors)}`);
  return code;
}

/** Adds the interface of a record after those of the records inside it. */
function printRecord(schema: RecordSchema, interfaces: string[]): void {
  const fields = schema.fields.map(
    ({ name, type, doc }) => `  /** ${doc} */\n  readonly ${name}: ${toType(type, interfaces)};\n`,
  );
  interfaces.push(`/** ${schema.doc} */\nexport interface ${schema.name} {\n${fields.join('')}}\n`);
}

function toType(schema: Schema, interfaces: string[]): string {
  if (typeof schema === 'string') return primitive(schema);
  if (isUnion(schema)) return unionOf(schema, interfaces);
  switch (schema['type']) {
    case 'record':
      printRecord(schema as unknown as RecordSchema, interfaces);
      return schema['name'] as string;
    case 'enum':
      return (schema['symbols'] as readonly string[]).map((symbol) => `'${symbol}'`).join(' | ');
    case 'array':
      return `readonly (${toType(schema['items'] as Schema, interfaces)})[]`;
    default:
      return toType(schema['type'] as Schema, interfaces);
  }
}

function isUnion(schema: Schema): schema is readonly Schema[] {
  return Array.isArray(schema);
}

/** The branches in their order, but null last, as people write it. */
function unionOf(branches: readonly Schema[], interfaces: string[]): string {
  const types = branches.filter((branch) => branch !== 'null').map((branch) => toType(branch, interfaces));
  return [...types, ...(branches.includes('null') ? ['null'] : [])].map((type) => wrapped(type)).join(' | ');
}

/** `readonly T[] | null` reads one way only, whatever stands beside it. */
function wrapped(type: string): string {
  return type.startsWith('readonly ') ? `(${type})` : type;
}

function primitive(name: string): string {
  const type = PRIMITIVES.get(name);
  if (type === undefined) throw new Error(`no type for ${name}: write records and enums where they are used`);
  return type;
}

/** Parsed from one line, because the schema as a literal would be the longest file of the project. */
function printConstant(name: string, schema: object): string {
  const constant = `${name.replaceAll(/(?<=[a-z])(?=[A-Z])/gu, '_').toUpperCase()}_SCHEMA`;
  const text = JSON.stringify(schema).replaceAll('\\', '\\\\').replaceAll("'", "\\'");
  return `/** \`avro/${name}.avsc\`. */\nexport const ${constant}: object = JSON.parse(\n  '${text}',\n) as object;\n`;
}

if (import.meta.main) writeFileSync(TARGET, await printTypes());
