import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { connect } from 'node:net';

/** AlterUserScramCredentials (KIP-554), which kafkajs does not have; version 0 is of the flexible kind. */
const API = { key: 51, version: 0 } as const;
const MECHANISMS = [
  { type: 1, digest: 'sha256', bytes: 32 },
  { type: 2, digest: 'sha512', bytes: 64 },
] as const;
const ITERATIONS = 4096;
const LIMIT_MS = 10_000;

/** Gives a user this password for both mechanisms of SCRAM, in place of the one before. Asks as somebody who may. */
export async function setScramPassword(broker: string, user: string, password: string): Promise<void> {
  // One at a time: two of one user in one request are refused as duplicates.
  for (const { type, digest, bytes } of MECHANISMS) {
    const salt = randomBytes(16);
    const salted = pbkdf2Sync(password, salt, ITERATIONS, bytes, digest);
    const upsert = [compact(user), Buffer.from([type]), int32(ITERATIONS), compact(salt), compact(salted), NO_TAGS];
    const body = Buffer.concat([arrayOf([]), arrayOf([Buffer.concat(upsert)]), NO_TAGS]);
    const header = Buffer.concat([int16(API.key), int16(API.version), int32(1), int16(-1), NO_TAGS]);
    const answer = await ask(broker, Buffer.concat([header, body]));
    // Correlation id, tags and throttle stand before the results: one, with the name and the error.
    const at = 4 + 1 + 4 + 1;
    const error = answer.readInt16BE(at + (answer[at] ?? 1));
    if (error !== 0) throw new Error(`the password of ${user} was not set: error ${String(error)}`);
  }
}

async function ask(broker: string, request: Buffer): Promise<Buffer> {
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

const NO_TAGS = Buffer.from([0]);

/** Lengths of this kind are one more than they say, and one byte as long as they are small. */
function compact(value: string | Buffer): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length + 1]), bytes]);
}

function arrayOf(items: readonly Buffer[]): Buffer {
  return Buffer.concat([Buffer.from([items.length + 1]), ...items]);
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}
