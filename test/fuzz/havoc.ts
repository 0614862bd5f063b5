import { type Dice } from './dice.ts';

/** Texts that mean something to a parser of HTTP or JSON. */
const TOKENS: readonly string[] = [
  '\r\n',
  '\r\n\r\n',
  '\n\n',
  '\r',
  '\0',
  ' ',
  '\t',
  ':',
  ',',
  ';',
  '0',
  '0\r\n\r\n',
  'ffffffff\r\n',
  'HTTP/1.1',
  'POST ',
  'GET / HTTP/1.1\r\nHost: x\r\n\r\n',
  'Host: x\r\n',
  'Content-Length: 0\r\n',
  'Content-Length: 99999999999999999999\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Connection: close\r\n',
  'Expect: 100-continue\r\n',
  'X-ServiceWebhook-Signature: 00\r\n',
  '{',
  '}',
  '"',
  '\\u0000',
  '\u00ff\u00fe',
  '%',
  '?',
];

type Mutation = (dice: Dice, bytes: Buffer, at: number) => Buffer;

const at2 = (dice: Dice, bytes: Buffer, from: number): number =>
  from + dice.below(Math.min(200, bytes.length - from) + 1);

const MUTATIONS: readonly Mutation[] = [
  // A flipped bit.
  (dice, bytes, at) => {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ (1 << dice.below(8));
    return changed;
  },
  // Another byte.
  (dice, bytes, at) => {
    const changed = Buffer.from(bytes);
    changed[at] = dice.below(256);
    return changed;
  },
  // Something put in.
  (dice, bytes, at) =>
    Buffer.concat([bytes.subarray(0, at), Buffer.from(dice.pick(TOKENS), 'latin1'), bytes.subarray(at)]),
  (dice, bytes, at) => Buffer.concat([bytes.subarray(0, at), dice.bytes(dice.between(1, 8)), bytes.subarray(at)]),
  // Something taken out.
  (dice, bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at2(dice, bytes, at))]),
  // Something twice.
  (dice, bytes, at) => {
    const end = at2(dice, bytes, at);
    return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at, end), bytes.subarray(end)]);
  },
  // Something elsewhere.
  (dice, bytes, at) => {
    const end = at2(dice, bytes, at);
    const rest = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
    const to = dice.below(rest.length + 1);
    return Buffer.concat([rest.subarray(0, to), bytes.subarray(at, end), rest.subarray(to)]);
  },
  // A number that is one more or less.
  (dice, bytes, at) => {
    const digit = bytes.subarray(at).findIndex((byte) => byte >= 0x31 && byte <= 0x38);
    if (digit === -1) return bytes;
    const changed = Buffer.from(bytes);
    changed[at + digit] = (changed[at + digit] ?? 0) + dice.pick([-1, 1]);
    return changed;
  },
  // Cut off.
  (_dice, bytes, at) => Buffer.from(bytes.subarray(0, at)),
];

/** The bytes after one to eight accidents. */
export function havoc(dice: Dice, bytes: Buffer): Buffer {
  let changed = bytes;
  for (let left = dice.pick([1, 1, 2, 3, 8]); left > 0; left -= 1) {
    // Most of what matters stands in the head.
    const within = dice.chance(0.6) ? Math.min(changed.length, 300) : changed.length;
    changed = dice.pick(MUTATIONS)(dice, changed, dice.below(within + 1));
  }
  return changed;
}
