import { type Buffer, isUtf8 } from 'node:buffer';
import { type Type, type types } from 'avsc';

/**
 * Does the value have the shape its schema says? Whoever decodes first and asks later is misled: the decoder reads past
 * the end as zeros, believes any count of items, and turns broken UTF-8 into U+FFFD, so that two ids become one.
 */
export type ShapeCheck = (payload: Buffer) => boolean;

/**
 * Items and fields that take no bytes (null, a record without fields) cost the sender nothing: so many are believed. A
 * count of items may be any number, and thirty records, each with two fields of the next, are a thousand million.
 */
const MAX_FREE_PARTS = 65_536;
const MAX_DEPTH = 64;
const MAX_INT = 2 ** 31;

type Step = (at: Cursor) => boolean;

/** A place in the bytes. `depth` and `free` bound what a few bytes can ask for. */
class Cursor {
  readonly bytes: Buffer;
  position = 0;
  depth = 0;
  free: number = MAX_FREE_PARTS;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** A zigzag varint; NaN if there is none. Exact to 2^53, which is all that lengths, counts and indexes need. */
  long(): number {
    let raw = 0;
    let unit = 1;
    for (let count = 0; count < 10; count += 1) {
      const byte = this.bytes[this.position];
      if (byte === undefined) return Number.NaN;
      this.position += 1;
      raw += (byte & 0x7f) * unit;
      if (byte < 0x80) return raw % 2 === 0 ? raw / 2 : -(raw + 1) / 2;
      unit *= 128;
    }
    return Number.NaN;
  }

  /** One part of what is here; false as well where it takes no bytes and there were too many of these. */
  part(step: Step): boolean {
    const start = this.position;
    return step(this) && (this.position > start || (this.free -= 1) >= 0);
  }

  skip(length: number): boolean {
    if (!(length >= 0 && length <= this.bytes.length - this.position)) return false;
    this.position += length;
    return true;
  }
}

/** The check for one writer schema. Make it once: it is compiled. */
export function shapeCheck(writer: Type): ShapeCheck {
  const step = compile(writer, new Map());
  return (payload) => {
    const at = new Cursor(payload);
    return step(at) && at.position === payload.length;
  };
}

function compile(type: Type, known: Map<Type, Step>): Step {
  const before = known.get(type);
  if (before !== undefined) return before;
  // Entered before its parts are compiled: a record may hold itself.
  let made: Step | undefined;
  known.set(type, (at) => made?.(at) ?? false);
  made = compiled(type, (part) => compile(part, known));
  return made;
}

/** Record, union, array and map by their parts, anything else by its bytes. */
function compiled(type: Type, of: (part: Type) => Step): Step {
  switch (type.typeName) {
    case 'record':
    case 'error':
      return deeper(all((type as types.RecordType).fields.map((field) => of(field.type))));
    case 'union:unwrapped':
    case 'union:wrapped':
      return deeper(oneOf((type as types.UnwrappedUnionType).types.map((branch) => of(branch))));
    case 'array':
      return deeper(blocks(of((type as types.ArrayType).itemsType)));
    case 'map':
      return deeper(blocks(all([text, of((type as types.MapType).valuesType as Type)])));
    default:
      return type.typeName.startsWith('logical:') ? of((type as types.LogicalType).underlyingType) : leaf(type);
  }
}

function leaf(type: Type): Step {
  switch (type.typeName) {
    case 'null':
      return () => true;
    case 'boolean':
      return (at) => (at.bytes[at.position] ?? 2) < 2 && at.skip(1);
    case 'int':
      return (at) => {
        const value = at.long();
        return value >= -MAX_INT && value < MAX_INT;
      };
    case 'long':
      return (at) => !Number.isNaN(at.long());
    case 'float':
      return (at) => at.skip(4);
    case 'double':
      return (at) => at.skip(8);
    case 'bytes':
      return (at) => at.skip(at.long());
    case 'string':
      return text;
    case 'fixed': {
      const { size } = type as types.FixedType;
      return (at) => at.skip(size);
    }
    case 'enum': {
      const count = (type as types.EnumType).symbols.length;
      return (at) => {
        const index = at.long();
        return index >= 0 && index < count;
      };
    }
    default:
      return () => false;
  }
}

function text(at: Cursor): boolean {
  const length = at.long();
  const start = at.position;
  if (!at.skip(length)) return false;
  // Most strings are ASCII: a look at each byte is cheaper than a call for them.
  for (let index = start; index < at.position; index += 1) {
    if ((at.bytes[index] ?? 0) >= 0x80) return isUtf8(at.bytes.subarray(start, at.position));
  }
  return true;
}

function all(steps: readonly Step[]): Step {
  return (at) => {
    for (const step of steps) if (!at.part(step)) return false;
    return true;
  };
}

function oneOf(steps: readonly Step[]): Step {
  return (at) => steps[at.long()]?.(at) ?? false;
}

/** Blocks of items until an empty one; a negative count is followed by the block's bytes, by which others skip it. */
function blocks(item: Step): Step {
  return (at) => {
    for (let count = at.long(); count !== 0; count = at.long()) {
      if (Number.isNaN(count)) return false;
      const bytes = count < 0 ? at.long() : null;
      const start = at.position;
      if (!items(at, item, Math.abs(count))) return false;
      if (bytes !== null && at.position - start !== bytes) return false;
    }
    return true;
  };
}

function items(at: Cursor, item: Step, count: number): boolean {
  for (let index = 0; index < count; index += 1) if (!at.part(item)) return false;
  return true;
}

function deeper(step: Step): Step {
  return (at) => {
    if (at.depth >= MAX_DEPTH) return false;
    at.depth += 1;
    const fits = step(at);
    at.depth -= 1;
    return fits;
  };
}
