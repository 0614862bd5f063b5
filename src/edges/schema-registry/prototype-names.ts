import { type Schema, type Type, type types } from 'avsc';

/**
 * The library keeps fields, symbols and types by name in plain objects, and makes records and maps by assignment: a field
 * `toString` is taken for one that it has met already, and `__proto__` is lost. So such names are changed before it sees
 * a schema, maps are read as lists of entries where that matters, and values get their own names back.
 */
const INHERITED: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype));
/** A name that begins so by itself gets it once more, so that each name has one way back. */
const PREFIX = 'own_name__';
const PROTO = '__proto__';

/** What of a schema names something, or is a schema itself. */
const OF_NAMES: ReadonlySet<string> = new Set(['name', 'type', 'items', 'values', 'fields', 'symbols']);
/** Values, and what only a reader's schema is asked for. */
const LEFT_OUT: ReadonlySet<string> = new Set(['default', 'aliases']);

/** Gives a value that was read with changed names its own ones. */
type Restore = (value: unknown) => unknown;

type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/**
 * A schema as the registry has it, with names that no object inherits; any other text comes back as it is. For reading
 * only: what is changed has no defaults and no aliases.
 */
export function withOwnNames(schema: string): string {
  let parsed: Json;
  try {
    parsed = JSON.parse(schema) as Json;
  } catch {
    return schema;
  }
  const changed = { names: 0 };
  const renamed = rewrite(parsed, (name) => {
    const isTaken = INHERITED.has(name) || name.startsWith(PREFIX);
    if (isTaken) changed.names += 1;
    return isTaken ? `${PREFIX}${name}` : name;
  });
  return changed.names === 0 ? schema : JSON.stringify(renamed);
}

/** How a value must be read, so that none of its names is lost: `always` otherwise than by assignment, or `when` its bytes hold a certain text. */
export function careOf(writer: Type): 'never' | 'always' | { readonly when: string } {
  const text = JSON.stringify(writer.schema());
  if (text.includes(PREFIX)) return 'always';
  return text.includes('"map"') ? { when: PROTO } : 'never';
}

/** The writer's schema with each map as a list of entries, whose bytes are the same, and what makes values of it those of the writer. */
export function carefully(writer: Type): { readonly schema: Schema; readonly restore: Restore } {
  const maps = { count: 0 };
  const schema = rewrite(
    writer.schema() as Json,
    (name) => name,
    (values) => entriesOf(values, (maps.count += 1)),
  );
  return { schema: schema as Schema, restore: restoreOf(writer, new Map()) };
}

/** A schema with other names of records, fields and symbols, and other maps. */
function rewrite(schema: Json, rename: (name: string) => string, ofMap?: (values: Json) => Json): Json {
  const again = (part: Json): Json => rewrite(part, rename, ofMap);
  if (typeof schema === 'string') return renamedLast(schema, rename);
  if (isList(schema)) return schema.map(again);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(([name]) => !LEFT_OUT.has(name));
  const made: { readonly [name: string]: Json } = Object.fromEntries(
    kept.map(([name, part]) => [name, OF_NAMES.has(name) ? again(part) : part]),
  );
  return made['type'] === 'map' && ofMap !== undefined ? ofMap(made['values'] ?? 'null') : made;
}

/** A record of one field is written as that field; in a union it stands where the map stood. */
function entriesOf(values: Json, count: number): Json {
  const entry = {
    type: 'record',
    name: `${PREFIX}entry${String(count)}`,
    fields: [
      { name: 'key', type: 'string' },
      { name: 'value', type: values },
    ],
  };
  const entries = { name: 'entries', type: { type: 'array', items: entry } };
  return { type: 'record', name: `${PREFIX}map${String(count)}`, fields: [entries] };
}

function renamedLast(name: string, rename: (name: string) => string): string {
  const at = name.lastIndexOf('.') + 1;
  return `${name.slice(0, at)}${rename(name.slice(at))}`;
}

function isList(json: Json): json is readonly Json[] {
  return Array.isArray(json);
}

function ownName(name: string): string {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name;
}

function restoreOf(type: Type, known: Map<Type, Restore>): Restore {
  const before = known.get(type);
  if (before !== undefined) return before;
  // Entered before its parts are made: a record may hold itself.
  let made: Restore | undefined;
  known.set(type, (value) => made?.(value));
  made = madeRestore(type, (part) => restoreOf(part, known));
  return made;
}

function madeRestore(type: Type, of: (part: Type) => Restore): Restore {
  switch (type.typeName) {
    case 'record':
    case 'error': {
      const fields = (type as types.RecordType).fields.map((field) => [field.name, of(field.type)] as const);
      return (value) => recordOf(value as Readonly<Record<string, unknown>>, fields);
    }
    case 'map': {
      const each = of((type as types.MapType).valuesType as Type);
      return (value) => mapOf((value as Entries).entries, each);
    }
    case 'array': {
      const each = of((type as types.ArrayType).itemsType);
      return (value) => (value as readonly unknown[]).map(each);
    }
    case 'enum':
      return (value) => ownName(value as string);
    case 'union:unwrapped':
    case 'union:wrapped':
      return branchOf((type as types.UnwrappedUnionType).types.map((part) => [part.typeName, of(part)] as const));
    default:
      return type.typeName.startsWith('logical:') ? of((type as types.LogicalType).underlyingType) : (value) => value;
  }
}

interface Entries {
  readonly entries: readonly { readonly key: string; readonly value: unknown }[];
}

/** Both define properties, whatever they are called. */
function recordOf(value: Readonly<Record<string, unknown>>, fields: readonly (readonly [string, Restore])[]): object {
  return Object.fromEntries(fields.map(([name, restore]) => [ownName(name), restore(value[name])]));
}

function mapOf(entries: Entries['entries'], restore: Restore): object {
  return Object.fromEntries(entries.map(({ key, value }) => [key, restore(value)]));
}

/** Plain unions have no two branches of which a value could be: see `typeOf`. */
function branchOf(branches: readonly (readonly [typeName: string, restore: Restore])[]): Restore {
  const one = (...names: readonly string[]): Restore =>
    branches.find(([typeName]) => names.includes(typeName))?.[1] ?? ((value) => value);
  const [ofObject, ofList, ofText] = [one('record', 'error', 'map'), one('array'), one('enum')];
  return (value) => {
    if (typeof value === 'string') return ofText(value);
    if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value;
    return Array.isArray(value) ? ofList(value) : ofObject(value);
  };
}
