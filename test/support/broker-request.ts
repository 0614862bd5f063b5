import { connect } from 'node:net';

const LIMIT_MS = 10_000;

/** Sends one request to a broker, on a connection of its own, and answers what comes after the length of its answer. */
export async function askBroker(broker: string, request: Buffer): Promise<Buffer> {
  const colon = broker.lastIndexOf(':');
  const socket = connect({ host: broker.slice(0, colon), port: Number(broker.slice(colon + 1)) });
  socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error('no answer in time')));
  try {
    socket.write(Buffer.concat([int32(request.length), request]));
    let answer = Buffer.alloc(0);
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      answer = Buffer.concat([answer, chunk]);
      if (answer.length >= 4 && answer.length >= 4 + answer.readInt32BE(0)) return answer.subarray(4);
    }
    throw new Error('the connection ended before the answer');
  } finally {
    socket.destroy();
  }
}

export function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
