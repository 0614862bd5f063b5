import { type OptionName } from '../../src/config/values.ts';
import { OPTION_NAMES, OPTIONS } from '../../src/config/options.ts';

/** A JSON Schema, as far as the chart's uses it. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly oneOf?: readonly Schema[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly uniqueItems?: boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
}

/** Options that the chart sets by values of its own, or that its image and its ports have settled. */
export const SET_BY_CHART: ReadonlySet<string> = new Set([
  'ACCOUNT',
  'FLOWS',
  'OPS_HOST',
  'OPS_PORT',
  'WEBHOOK_HOST',
  'WEBHOOK_PORT',
]);

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isOfType(value: unknown, type: string): boolean {
  if (type === 'array') return Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return type === 'object' ? isRecord(value) : typeof value === type;
}

/** What of a value a schema does not allow: a line each. */
export function violations(schema: Schema, value: unknown, at = ''): readonly string[] {
  const { type, oneOf = [] } = schema;
  if (type !== undefined && !isOfType(value, type)) return [`${at}: not of the type ${type}`];
  const fits = oneOf.filter((each) => violations(each, value).length === 0).length;
  const wrong = [
    schema.enum !== undefined && !schema.enum.includes(value) && 'not listed',
    oneOf.length > 0 && fits !== 1 && 'no one fits',
    typeof value === 'string' && isWrongText(schema, value) && 'not of the form',
    typeof value === 'number' && isOutside(schema, value) && 'too small or too large',
    isTooShort(schema, value) && 'too few',
  ];
  return [
    ...wrong.filter((what) => what !== false).map((what) => `${at}: ${what}`),
    ...violationsBelow(schema, value, at),
  ];
}

function violationsBelow(schema: Schema, value: unknown, at: string): readonly string[] {
  if (Array.isArray(value))
    return value.flatMap((each: unknown, index) => violations(schema.items ?? {}, each, `${at}/${String(index)}`));
  return isRecord(value) ? violationsOfObject(schema, value, at) : [];
}

function isTooShort({ minItems = 0 }: Schema, value: unknown): boolean {
  return Array.isArray(value) && value.length < minItems;
}

function isWrongText({ pattern, minLength = 0 }: Schema, text: string): boolean {
  return text.length < minLength || (pattern !== undefined && !new RegExp(pattern).test(text));
}

function isOutside({ minimum = -Infinity, maximum = Infinity }: Schema, value: number): boolean {
  return value < minimum || value > maximum;
}

function violationsOfObject(schema: Schema, value: Readonly<Record<string, unknown>>, at: string): readonly string[] {
  const { properties = {}, additionalProperties = true, required = [] } = schema;
  const missing = required.filter((name) => !(name in value)).map((name) => `${at}/${name}: missing`);
  const wrong = Object.entries(value).flatMap(([name, each]) => {
    const known = properties[name];
    if (known !== undefined) return violations(known, each, `${at}/${name}`);
    if (typeof additionalProperties !== 'boolean') return violations(additionalProperties, each, `${at}/${name}`);
    return additionalProperties ? [] : [`${at}/${name}: not known`];
  });
  return [...missing, ...wrong];
}

/** Every property that has none of its own below it, with its path: `image.tag`. */
export function leaves(schema: Schema, at: readonly string[] = []): readonly { path: readonly string[]; of: Schema }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, of]) => {
    const path = [...at, name];
    const isMap = path.length === 1 && ['options', 'secrets', 'files'].includes(name);
    return of.properties === undefined || isMap ? [{ path, of }] : leaves(of, path);
  });
}

/** The value at a path; undefined: there is none. */
export function valueAt(values: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), values);
}

const FROM_SECRET: Schema = {
  type: 'object',
  properties: { secretName: { type: 'string', minLength: 1 }, key: { type: 'string', minLength: 1 } },
  required: ['secretName', 'key'],
  additionalProperties: false,
};
const FROM_CONFIG_MAP: Schema = {
  type: 'object',
  properties: { configMapName: { type: 'string', minLength: 1 }, key: { type: 'string', minLength: 1 } },
  required: ['configMapName', 'key'],
  additionalProperties: false,
};

function schemaOf(name: OptionName): Schema {
  const { doc, secret, fromFile } = OPTIONS[name];
  if (secret) return { ...FROM_SECRET, description: doc };
  if (fromFile) return { description: doc, oneOf: [FROM_SECRET, FROM_CONFIG_MAP] };
  const plain = ['string', 'number', 'boolean'].map((type) => ({ type }));
  return { description: doc, oneOf: [...plain, { type: 'array', items: { type: 'string' } }] };
}

function schemasOf(isIn: (name: OptionName) => boolean): Readonly<Record<string, Schema>> {
  const names = OPTION_NAMES.filter((name) => !SET_BY_CHART.has(name) && isIn(name));
  return Object.fromEntries(names.map((name) => [name, schemaOf(name)]));
}

function isSecret(name: OptionName): boolean {
  return OPTIONS[name].secret;
}

function isFile(name: OptionName): boolean {
  return OPTIONS[name].fromFile && !isSecret(name);
}

/** The properties of `options`, `secrets` and `files`: one for each option of the connector that a release may set. */
export function optionProperties(): Readonly<
  Record<'options' | 'secrets' | 'files', Readonly<Record<string, Schema>>>
> {
  return {
    options: schemasOf((name) => !isSecret(name) && !isFile(name)),
    secrets: schemasOf(isSecret),
    files: schemasOf(isFile),
  };
}

/** The table of docs/kubernetes.md. */
export function valuesTable(schema: Schema, values: unknown): string {
  const rows = leaves(schema)
    .filter(({ path }) => path[0] !== 'global')
    .map(({ path, of }) => {
      const value = JSON.stringify(valueAt(values, path)) ?? '';
      return `| \`${path.join('.')}\` | ${value === '""' ? '' : `\`${value}\``} | ${of.description ?? ''} |`;
    });
  return ['| value | default | |', '| --- | --- | --- |', ...rows].join('\n');
}
