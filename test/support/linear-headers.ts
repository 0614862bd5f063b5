import { createRequire } from 'node:module';

const RECORD = 'kafkajs/src/protocol/recordBatch/record/v0/decoder';

type HeaderValue = Buffer | null;

/** As much of a kafkajs decoder as is replaced here. */
interface Decoder {
  readVarInt(): number;
  readVarIntArray(read: ReadHeader): readonly unknown[];
}
type ReadHeader = (decoder: Decoder) => { readonly key: string; readonly value: HeaderValue };
type ReadRecord = (decoder: Decoder, context: object) => object;

/**
 * Has kafkajs' own consumers, with which tests read as any other service would, take each header once: it copies all that
 * it has for each further one, and finds some named like what every object has. To be called before the first fetch.
 */
export function readHeadersOnce(): void {
  const load = createRequire(import.meta.url);
  const original = load(RECORD) as ReadRecord;
  const module = load.cache[load.resolve(RECORD)];
  if (module === undefined || original.name === readRecord.name) return;
  module.exports = readRecord;

  function readRecord(decoder: Decoder, context: object): object {
    const headers = new Map<string, HeaderValue | HeaderValue[]>();
    decoder.readVarIntArray = (read) => {
      for (let left = decoder.readVarInt(); left > 0; left -= 1) {
        const { key, value } = read(decoder);
        const held = headers.get(key);
        if (held === undefined) headers.set(key, value);
        else headers.set(key, Array.isArray(held) ? [...held, value] : [held, value]);
      }
      return [];
    };
    return { ...original(decoder, context), headers: Object.fromEntries(headers) };
  }
}
