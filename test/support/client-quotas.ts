import { askBroker, int16, int32 } from './broker-request.ts';

/** AlterClientQuotas (KIP-546), which kafkajs does not have. */
const API = { key: 49, version: 0 } as const;

/** What the brokers let a client do: bytes a second of its reads and writes. Null: whatever it wants. */
export interface ClientQuota {
  readonly consumer_byte_rate: number | null;
  readonly producer_byte_rate: number | null;
}

/** Sets what every client of this id may do from now on. */
export async function setClientQuota(broker: string, clientId: string, quota: ClientQuota): Promise<void> {
  const rates = Object.entries(quota).map(([name, rate]: [string, number | null]) =>
    Buffer.concat([text(name), double(rate ?? 0), Buffer.of(rate === null ? 1 : 0)]),
  );
  const entity = Buffer.concat([int32(1), text('client-id'), text(clientId)]);
  const body = Buffer.concat([int32(1), entity, int32(rates.length), ...rates, Buffer.of(0)]);
  const header = Buffer.concat([int16(API.key), int16(API.version), int32(1), int16(-1)]);
  const answer = await askBroker(broker, Buffer.concat([header, body]));
  // Correlation id, throttle and the number of results stand before the first, which begins with its error.
  const error = answer.readInt16BE(12);
  if (error !== 0) throw new Error(`the quota of ${clientId} was not set: error ${String(error)}`);
}

function text(value: string): Buffer {
  return Buffer.concat([int16(Buffer.byteLength(value)), Buffer.from(value)]);
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes;
}
