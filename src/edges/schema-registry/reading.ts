import { type Buffer } from 'node:buffer';
import avsc, { type Schema, type Type, type types } from 'avsc';
import { careOf, carefully } from './prototype-names.ts';
import { shapeCheck, type ShapeCheck } from './shape.ts';

/** What the bytes of one value came to. */
export type Decoding =
  | { readonly do: 'value'; readonly value: unknown }
  | { readonly do: 'refuse'; readonly reason: 'undecodable'; readonly detail: 'bytes' | 'number' };

/** Decodes values of one writer schema as the reader schema says; synchronous, never throws. */
export type Reading = (payload: Buffer) => Decoding;

/** Why a writer schema cannot be read. */
export type Misfit = { readonly do: 'refuse'; readonly detail: 'bytes_for_string' | 'schema' };

type Raw = string | readonly Raw[] | RawObject;

interface RawObject {
  readonly type: string;
  readonly name?: string;
  readonly aliases?: readonly string[];
  readonly fields?: readonly { readonly name: string; readonly type: Raw }[];
  readonly items?: Raw;
}

/**
 * Values as the code wants them: unions plain, longs as numbers, records without methods. `never` refuses, when the
 * schema is loaded, a union whose branches a plain value could not tell apart.
 */
const OPTIONS: Partial<avsc.ForSchemaOptions> = { wrapUnions: 'never', omitRecordMethods: true };

/** The type of one of our own schemas, for reading and for writing. */
export function typeOf(schema: object): Type {
  // A copy: names that are given are kept in it, and another schema could not have the same.
  return avsc.Type.forSchema(schema as Schema, { ...OPTIONS });
}

/** Makes the reading of one writer schema; without a reader schema values are read as they were written. Costs a compilation: keep it. */
export function createReading(reader: object | null, writer: Type): Reading | Misfit {
  if (reader === null) return readAsWritten(writer);
  const fitted = fit(reader as unknown as Raw, writer);
  if (fitted === null) return { do: 'refuse', detail: 'bytes_for_string' };
  let type: Type;
  let resolver: ReturnType<Type['createResolver']>;
  let fits: ShapeCheck;
  try {
    type = typeOf(fitted as object);
    resolver = type.createResolver(writer, { ignoreNamespaces: true });
    fits = shapeCheck(writer);
  } catch {
    return { do: 'refuse', detail: 'schema' };
  }
  return toReading(fits, (payload) => type.fromBuffer(payload, resolver));
}

/** All fields of the writer, under its names. */
function readAsWritten(writer: Type): Reading | Misfit {
  try {
    const fits = shapeCheck(writer);
    const care = careOf(writer);
    const careful = care === 'never' ? null : carefulReading(writer);
    if (care === 'always' && careful !== null) return toReading(fits, careful);
    // Made anew, since the registry's client makes types whose unions are wrapped.
    const type = typeOf(writer.schema({ exportAttrs: true }) as object);
    return toReading(fits, (payload) =>
      careful !== null && typeof care === 'object' && payload.includes(care.when)
        ? careful(payload)
        : type.fromBuffer(payload),
    );
  } catch {
    return { do: 'refuse', detail: 'schema' };
  }
}

function carefulReading(writer: Type): (payload: Buffer) => unknown {
  const { schema, restore } = carefully(writer);
  const type = typeOf(schema as object);
  return (payload) => restore(type.fromBuffer(payload));
}

function toReading(fits: ShapeCheck, decode: (payload: Buffer) => unknown): Reading {
  return (payload) => {
    if (!fits(payload)) return { do: 'refuse', reason: 'undecodable', detail: 'bytes' };
    try {
      return { do: 'value', value: decode(payload) };
    } catch {
      // The shape is right, so it is a long that no JavaScript number represents.
      return { do: 'refuse', reason: 'undecodable', detail: 'number' };
    }
  };
}

/**
 * The reader schema with the writer's record and enum names as aliases at the same places: producers name their records
 * as they like, and what the fields are called decides. Null: the writer has bytes where text is read, which Avro's
 * promotion would turn into text that nobody wrote, an amount in `decimal` for example.
 */
function fit(reader: Raw, writer: Type): Raw | null {
  if (writer.typeName.startsWith('logical:')) return fit(reader, (writer as types.LogicalType).underlyingType);
  if (writer.typeName.startsWith('union:')) return fitEach(reader, (writer as types.UnwrappedUnionType).types);
  if (typeof reader === 'string') return reader === 'string' && writer.typeName === 'bytes' ? null : reader;
  if (isBranches(reader)) return fitBranches(reader, writer);
  switch (reader.type) {
    case 'record':
      return writer.typeName === 'record' ? fitRecord(reader, writer as types.RecordType) : reader;
    case 'array':
      return writer.typeName === 'array' ? fitItems(reader, writer as types.ArrayType) : reader;
    case 'enum':
      return writer.typeName === 'enum' ? { ...reader, aliases: aliases(reader, writer) } : reader;
    default:
      return reader;
  }
}

/** The names of the writer's fields that the reader schema does not have, those of nested records with their path (`items.colour`). */
export function droppedFields(reader: object, writer: Type): readonly string[] {
  return namesDropped(reader as unknown as Raw, writer, '');
}

function namesDropped(reader: Raw, writer: Type, path: string): readonly string[] {
  if (typeof reader === 'string') return [];
  if (isBranches(reader)) return reader.flatMap((branch) => namesDropped(branch, writer, path));
  if (writer.typeName.startsWith('union:'))
    return (writer as types.UnwrappedUnionType).types.flatMap((branch) => namesDropped(reader, branch, path));
  if (reader.type === 'array' && writer.typeName === 'array')
    return namesDropped(reader.items ?? 'null', (writer as types.ArrayType).itemsType, path);
  if (reader.type !== 'record' || writer.typeName !== 'record') return [];
  const known = new Map(reader.fields?.map(({ name, type }) => [name, type]));
  return (writer as types.RecordType).fields.flatMap(({ name, type }) => {
    const at = known.get(name);
    return at === undefined ? [path + name] : namesDropped(at, type, `${path}${name}.`);
  });
}

function isBranches(raw: Raw): raw is readonly Raw[] {
  return Array.isArray(raw);
}

function fitEach(reader: Raw, writers: readonly Type[]): Raw | null {
  let fitted: Raw | null = reader;
  for (const writer of writers) if (fitted !== null) fitted = fit(fitted, writer);
  return fitted;
}

function fitBranches(branches: readonly Raw[], writer: Type): Raw | null {
  const fitted = branches.map((branch) => fit(branch, writer));
  return fitted.includes(null) ? null : fitted.filter((branch) => branch !== null);
}

function fitRecord(reader: RawObject, writer: types.RecordType): Raw | null {
  const written = new Map(writer.fields.map((field) => [field.name, field.type]));
  const fields: { readonly name: string; readonly type: Raw }[] = [];
  for (const field of reader.fields ?? []) {
    const from = written.get(field.name);
    const type = from === undefined ? field.type : fit(field.type, from);
    if (type === null) return null;
    fields.push({ ...field, type });
  }
  return { ...reader, fields, aliases: aliases(reader, writer) };
}

function fitItems(reader: RawObject, writer: types.ArrayType): Raw | null {
  const items = fit(reader.items ?? 'null', writer.itemsType);
  return items === null ? null : { ...reader, items };
}

/** Names without namespaces, since those are not compared. */
function aliases(reader: RawObject, writer: Type): readonly string[] {
  const own = reader.aliases ?? [];
  const name = writer.name?.split('.').at(-1);
  return name === undefined || name === reader.name || own.includes(name) ? own : [...own, name];
}
