import { type Dice } from './dice.ts';
import { type NextId, type Request } from './requests.ts';
import {
  chunked,
  type Endpoint,
  headBytes,
  type Header,
  HOST,
  JSON_TYPE,
  lengthOf,
  MAX_BYTES,
  PATH,
  plainWebhook,
  proofOf,
  reviewBody,
  type Signed,
  signedNear,
} from './wire.ts';

/** Every documented status but 200. */
const REFUSED = [400, 401, 404, 405, 408, 413, 415] as const;
/** What HTTP itself refuses. */
const BAD = [400] as const;

/** Bytes that are no request, or only with much good will, around a webhook that is signed. */
interface Malformed {
  readonly bytes: Buffer;
  readonly statuses: readonly number[];
  /** HTTP lets a server read it as what was meant. */
  readonly mayPass?: true;
}
type Malformer = (dice: Dice, signed: Signed) => Malformed;

const CHUNKED: Header = ['Transfer-Encoding', 'chunked'];

function framed(signed: Signed, framing: readonly Header[], body: Buffer | string): Buffer {
  const headers = [HOST, JSON_TYPE, ...proofOf(signed), ...framing];
  return Buffer.concat([headBytes({ headers }), typeof body === 'string' ? Buffer.from(body, 'latin1') : body]);
}

/** A whole webhook with one text of its head replaced. */
function replaced(signed: Signed, from: string | RegExp, to: string): Buffer {
  const text = plainWebhook(signed).toString('latin1').replace(from, to);
  return Buffer.from(text, 'latin1');
}

const TLS_HELLO = Buffer.from(
  '16030100510100004d0303000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20000013021303130101ff01000022000b000403000102000a00080006001d00170018002300000016000000170000000d00020000',
  'hex',
);
const HTTP2_PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0';

const NO_HTTP: Readonly<Record<string, Malformer>> = {
  'a TLS hello': () => ({ bytes: TLS_HELLO, statuses: BAD }),
  'the preface of HTTP/2': () => ({ bytes: Buffer.from(HTTP2_PREFACE, 'latin1'), statuses: BAD }),
  'HTTP/0.9': (_dice, signed) => ({
    bytes: Buffer.concat([Buffer.from(`POST ${PATH}\r\n\r\n`), signed.body]),
    statuses: BAD,
  }),
  noise: (dice) => ({
    bytes: Buffer.concat([dice.bytes(dice.between(1, 300)), Buffer.from('\r\n\r\n')]),
    statuses: REFUSED,
  }),
  'another protocol': (dice) => ({
    bytes: Buffer.from(
      dice.pick([
        'SSH-2.0-x\r\n',
        'EHLO x\r\n',
        '*1\r\n$4\r\nPING\r\n',
        '\0\0\0\u0012\0\u0012\0\0\r\n',
        '{"a":1}\r\n\r\n',
      ]),
    ),
    statuses: BAD,
  }),
};

const START_LINES: Readonly<Record<string, Malformer>> = {
  'another version': (dice, signed) => ({
    bytes: replaced(
      signed,
      'HTTP/1.1',
      dice.pick([
        'HTTP/2.0',
        'HTTP/1.2',
        'HTTP/1.10',
        'HTTP/9.9',
        'HTTP/',
        'http/1.1',
        'HTTP/1',
        'ICE/1.0',
        'RTSP/1.0',
      ]),
    ),
    statuses: REFUSED,
    // RTSP's is taken for HTTP's.
    mayPass: true,
  }),
  'HTTP/1.0': (_dice, signed) => ({
    bytes: replaced(signed, 'HTTP/1.1', 'HTTP/1.0'),
    statuses: REFUSED,
    mayPass: true,
  }),
  'a method that is none': (dice, signed) => ({
    bytes: replaced(signed, 'POST', dice.pick(['P0ST', 'POSTS', 'post', 'PO ST', '', 'POST\0', 'PRI'])),
    statuses: REFUSED,
  }),
  'a target that is none': (dice, signed) => ({
    bytes: replaced(
      signed,
      PATH,
      dice.pick([
        '',
        ' ',
        `${PATH}\0`,
        `${PATH} x`,
        `\\webhooks\\fraud`,
        `${PATH}#x`,
        `//connector.test${PATH}`,
        `http://[::1${PATH}`,
        `${PATH}\u0080`,
        `/${'a'.repeat(9000)}`,
      ]),
    ),
    statuses: [...REFUSED],
    mayPass: true,
  }),
  'empty lines before it': (_dice, signed) => ({
    bytes: Buffer.concat([Buffer.from('\r\n\r\n\r\n'), plainWebhook(signed)]),
    statuses: REFUSED,
    mayPass: true,
  }),
  'a space before it': (_dice, signed) => ({
    bytes: Buffer.concat([Buffer.from(' '), plainWebhook(signed)]),
    statuses: REFUSED,
  }),
};

const HEADERS: Readonly<Record<string, Malformer>> = {
  'a folded header': (dice, signed) => ({
    bytes: replaced(
      signed,
      dice.pick([': application', 'Host: ', 'Timestamp: ']),
      dice.pick([':\r\n application', 'Host:\r\n\t', 'a: b\r\n c\r\nTimestamp: ']),
    ),
    statuses: REFUSED,
    mayPass: true,
  }),
  'a folded proof': (_dice, signed) => ({
    bytes: replaced(signed, signed.signature, `${signed.signature.slice(0, 20)}\r\n ${signed.signature.slice(20)}`),
    statuses: REFUSED,
  }),
  NUL: (dice, signed) => ({
    bytes: replaced(signed, dice.pick(['Host', 'connector', 'json', signed.timestamp]), `a\0b`),
    statuses: REFUSED,
  }),
  'a bare CR or LF': (dice, signed) => ({
    bytes: replaced(signed, dice.pick(['\r\n', 'connector.test\r\n']), dice.pick(['\n', '\r', '\n\r', '\r\r\n'])),
    statuses: REFUSED,
  }),
  'a space before the colon': (dice, signed) => ({
    bytes: replaced(signed, dice.pick(['Content-Length:', 'Host:', 'X-ServiceWebhook-Signature:']), 'Content-Length :'),
    statuses: REFUSED,
  }),
  'a name that is none': (dice, signed) => ({
    bytes: replaced(
      signed,
      'Host: connector.test',
      dice.pick([': x', 'Ho st: x', 'H\u00f6st: x', '(): x', 'no colon', 'Host: x\r\n: y']),
    ),
    statuses: REFUSED,
  }),
  'a huge header': (dice, signed) => ({
    bytes: plainWebhook(signed, [['X-Huge', 'h'.repeat(dice.between(8000, 70_000))]]),
    statuses: BAD,
  }),
  'many headers': (dice, signed) => ({
    bytes: plainWebhook(
      signed,
      Array.from({ length: dice.between(100, 3000) }, (_, index): Header => [`a${String(index)}`, 'b']),
    ),
    statuses: REFUSED,
    mayPass: true,
  }),
  'two hosts': (_dice, signed) => ({
    bytes: plainWebhook(signed, [['Host', 'other.test']]),
    statuses: REFUSED,
    mayPass: true,
  }),
  'an upgrade': (dice, signed) => ({
    bytes: plainWebhook(signed, [
      ['Connection', 'Upgrade, HTTP2-Settings'],
      ['Upgrade', dice.pick(['h2c', 'websocket', 'TLS/1.0'])],
      ['HTTP2-Settings', ''],
    ]),
    statuses: REFUSED,
    mayPass: true,
  }),
  'options of a proxy': (dice, signed) => ({
    bytes: plainWebhook(signed, [
      [
        dice.pick(['X-Http-Method-Override', 'X-Original-Url', 'X-Forwarded-For', 'Forwarded', 'Accept-Version']),
        dice.pick(['GET', '/', '127.0.0.1', 'for=x', '9.9.9']),
      ],
    ]),
    statuses: REFUSED,
    mayPass: true,
  }),
};

const FRAMES: Readonly<Record<string, Malformer>> = {
  'a length and chunks': (dice, signed) => {
    const length: Header = ['Content-Length', dice.pick(['0', '4', String(signed.body.length)])];
    const both = dice.shuffled([CHUNKED, length]);
    return { bytes: framed(signed, both, chunked(dice, signed.body)), statuses: BAD };
  },
  'two lengths': (dice, signed) => ({
    bytes: framed(
      signed,
      dice.shuffled<Header>([
        lengthOf(signed.body),
        ['Content-Length', String(signed.body.length + dice.between(1, 9))],
      ]),
      signed.body,
    ),
    statuses: BAD,
  }),
  'a length that is none': (dice, signed) => {
    const length = String(signed.body.length);
    const texts = [
      `+${length}`,
      `-${length}`,
      `0x${length}`,
      `${length}.0`,
      `${length}, ${length}`,
      '',
      `${length} ${length}`,
      '1e2',
      `${length}a`,
      '184467440737095516160',
    ];
    return { bytes: framed(signed, [['Content-Length', dice.pick(texts)]], signed.body), statuses: REFUSED };
  },
  'no length at all': (_dice, signed) => ({ bytes: framed(signed, [], signed.body), statuses: REFUSED }),
  'a shorter length': (dice, signed) => ({
    bytes: framed(signed, [['Content-Length', String(dice.below(signed.body.length))]], signed.body),
    statuses: REFUSED,
  }),
  'a longer length': (dice, signed) => ({
    bytes: framed(
      signed,
      [['Content-Length', String(Math.min(MAX_BYTES, signed.body.length + dice.between(1, 99)))]],
      signed.body,
    ),
    statuses: REFUSED,
  }),
  'a coding that is none': (dice, signed) => ({
    bytes: framed(
      signed,
      [
        [
          'Transfer-Encoding',
          dice.pick([
            'xchunked',
            'identity',
            'chunked, chunked',
            'chunked, identity',
            'gzip',
            '\u000bchunked',
            'chunked\t',
            'chunked;q=1',
            '"chunked"',
            '',
          ]),
        ],
      ],
      chunked(dice, signed.body),
    ),
    statuses: REFUSED,
    // `chunked` that is named twice may be read as once.
    mayPass: true,
  }),
  'two codings': (dice, signed) => ({
    bytes: framed(
      signed,
      dice.shuffled<Header>([CHUNKED, ['Transfer-Encoding', dice.pick(['identity', 'gzip', 'chunked', 'x'])]]),
      chunked(dice, signed.body),
    ),
    statuses: REFUSED,
    mayPass: true,
  }),
  'a chunk of a wrong size': (dice, signed) => {
    const size = signed.body.length;
    const line = dice.pick([
      'zz',
      '',
      '-1',
      '+5',
      '0x5',
      ' ',
      'ffffffffffffffffff',
      'fffffffffffffff',
      `${size.toString(16)} `,
      `${size.toString(16)};${'e'.repeat(20_000)}`,
      (size - 1).toString(16),
      (size + 1).toString(16),
      `${size.toString(16)}\n`,
    ]);
    return {
      bytes: framed(signed, [CHUNKED], `${line}\r\n${signed.body.toString('latin1')}\r\n0\r\n\r\n`),
      statuses: REFUSED,
      mayPass: true,
    };
  },
  'chunks without an end': (dice, signed) => ({
    bytes: framed(signed, [CHUNKED], chunked(dice, signed.body).subarray(0, -dice.between(1, 5))),
    statuses: REFUSED,
  }),
  'chunks beyond the limit': (dice, signed) => ({
    bytes: framed(signed, [CHUNKED], chunked(dice, Buffer.alloc(MAX_BYTES + dice.between(1, 5000), 0x20))),
    statuses: [413],
  }),
  'a proof in the trailers': (dice, signed) => ({
    bytes: Buffer.concat([
      headBytes({ headers: [HOST, JSON_TYPE, CHUNKED, ['Trailer', 'X-ServiceWebhook-Signature']] }),
      chunked(dice, signed.body, proofOf(signed)),
    ]),
    statuses: [401],
  }),
  'another request in the body': (_dice, signed) => {
    const inner = plainWebhook(signed);
    return {
      bytes: Buffer.concat([headBytes({ headers: [HOST, JSON_TYPE, lengthOf(inner)] }), inner]),
      statuses: [401],
    };
  },
};

const KINDS: Readonly<Record<string, Malformer>> = { ...NO_HTTP, ...START_LINES, ...HEADERS, ...FRAMES };

/** Names of all kinds that `malformed` makes. */
export const MALFORMED_KINDS: readonly string[] = Object.keys(KINDS);

/** Something that is no proper request; what is behind it on the connection may be read or not. */
export function malformed(dice: Dice, next: NextId, endpoint: Endpoint, kind = dice.pick(MALFORMED_KINDS)): Request {
  const id = next('m');
  const { bytes, statuses, mayPass } = makeMalformed(kind, dice, signedNear(dice, reviewBody(dice, id), endpoint));
  if (mayPass !== true) return { kind, bytes, statuses, id: null, ends: true };
  return { kind, bytes, statuses: [200, ...statuses], id, ends: true };
}

function makeMalformed(kind: string, dice: Dice, signed: Signed): Malformed {
  const make = KINDS[kind];
  if (make === undefined) throw new RangeError(`no such kind: ${kind}`);
  return make(dice, signed);
}
