/** Fields of a protocol buffers message, by their numbers: bytes of what has a length, numbers of what has none. */
export type WireFields = ReadonlyMap<number, readonly (Buffer | bigint)[]>;

/** Reads a message without its schema (Protocol Buffers, Encoding). Throws where the bytes are none. */
export function readMessage(bytes: Buffer): WireFields {
  const fields = new Map<number, (Buffer | bigint)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
  };
  const take = (length: number): Buffer => {
    if (at + length > bytes.length) throw new RangeError('a field is longer than its message');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = Number(varint());
    const held = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, held);
    switch (tag & 7) {
      case 0:
        held.push(varint());
        break;
      case 1:
        held.push(take(8).readBigUInt64LE());
        break;
      case 2:
        held.push(take(Number(varint())));
        break;
      case 5:
        held.push(BigInt(take(4).readUInt32LE()));
        break;
      default:
        throw new RangeError(`wire type ${String(tag & 7)}`);
    }
  }
  return fields;
}

/** The bytes of a field, as often as it is there. */
export function bytesOf(fields: WireFields, field: number): readonly Buffer[] {
  return (fields.get(field) ?? []).filter((value) => Buffer.isBuffer(value));
}

/** The number of a field; 0 where it is not there. */
export function numberOf(fields: WireFields, field: number): number {
  const value = fields.get(field)?.at(-1) ?? 0n;
  if (Buffer.isBuffer(value)) throw new TypeError(`field ${String(field)} is no number`);
  return Number(value);
}

/** The text of a field; empty where it is not there. */
export function textOf(fields: WireFields, field: number): string {
  return bytesOf(fields, field).at(-1)?.toString('utf8') ?? '';
}
