import { pbkdf2Sync, randomBytes } from 'node:crypto';
import { askBroker, int16, int32 } from './broker-request.ts';

/** AlterUserScramCredentials (KIP-554), which kafkajs does not have; version 0 is of the flexible kind. */
const API = { key: 51, version: 0 } as const;
const MECHANISMS = [
  { type: 1, digest: 'sha256', bytes: 32 },
  { type: 2, digest: 'sha512', bytes: 64 },
] as const;
const ITERATIONS = 4096;

/** Gives a user this password for both mechanisms of SCRAM, in place of the one before. Asks as somebody who may. */
export async function setScramPassword(broker: string, user: string, password: string): Promise<void> {
  // One at a time: two of one user in one request are refused as duplicates.
  for (const { type, digest, bytes } of MECHANISMS) {
    const salt = randomBytes(16);
    const salted = pbkdf2Sync(password, salt, ITERATIONS, bytes, digest);
    const upsert = [compact(user), Buffer.from([type]), int32(ITERATIONS), compact(salt), compact(salted), NO_TAGS];
    const body = Buffer.concat([arrayOf([]), arrayOf([Buffer.concat(upsert)]), NO_TAGS]);
    const header = Buffer.concat([int16(API.key), int16(API.version), int32(1), int16(-1), NO_TAGS]);
    const answer = await askBroker(broker, Buffer.concat([header, body]));
    // Correlation id, tags and throttle stand before the results: one, with the name and the error.
    const at = 4 + 1 + 4 + 1;
    const error = answer.readInt16BE(at + (answer[at] ?? 1));
    if (error !== 0) throw new Error(`the password of ${user} was not set: error ${String(error)}`);
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
