import { type Dice } from './dice.ts';
import {
  chunked,
  type Endpoint,
  headBytes,
  hmacOf,
  HOST,
  type Header,
  JSON_TYPE,
  lengthOf,
  MAX_BYTES,
  PATH,
  proofOf,
  reviewBody,
  SIGNATURE,
  type Signed,
  signedNear,
  TIMESTAMP,
  timestampNear,
} from './wire.ts';

/** One request, and what may come of it. */
export interface Request {
  readonly kind: string;
  readonly bytes: Buffer;
  /** Any of these. */
  readonly statuses: readonly number[];
  /** Of what its sender has really signed and what may be written; null: nothing may. */
  readonly id: string | null;
  /** The answer ends the connection: what stands behind may be read or not. */
  readonly ends: boolean;
}

/** Names requests of one connection, each another. */
export type NextId = (mark: string) => string;

/** How the id of an event begins that the writer cannot write. */
export const UNWRITABLE = 'u';

const OPTIONAL: readonly Header[] = [
  ['Accept', '*/*'],
  ['User-Agent', 'made-up'],
  ['Connection', 'keep-alive'],
  ['Content-Encoding', 'identity'],
  ['Expect', '100-continue'],
  ['X-Empty', ''],
  ['X-Long', 'l'.repeat(900)],
  ['X-Servicewebhook-Signatur', 'near'],
];
const TYPES = ['application/json', 'Application/JSON; charset=utf-8', 'application/json;', 'application/json\t; a="b'];

/** The bytes of a request that HTTP/1.1 allows, in any of the ways to write it. */
function wireOf(dice: Dice, body: Buffer, proof: readonly Header[], method = 'POST', target = targetOf(dice)): Buffer {
  const isChunked = dice.chance(0.25);
  const optional = OPTIONAL.filter(() => dice.chance(0.15));
  const framing: Header = isChunked ? ['Transfer-Encoding', dice.cased('chunked')] : lengthOf(body);
  const type: Header = [JSON_TYPE[0], dice.pick(TYPES)];
  const all = [HOST, type, framing, ...proof, ...optional].map(([name, value]): Header => [
    dice.cased(name),
    // Node's parser takes no white space behind a coding.
    name !== 'Transfer-Encoding' && dice.chance(0.05) ? ` \t${value} \t` : value,
  ]);
  const headers = dice.chance(0.5) ? dice.shuffled(all) : all;
  return Buffer.concat([headBytes({ method, target, headers }), isChunked ? chunked(dice, body) : body]);
}

function targetOf(dice: Dice): string {
  return dice.chance(0.1) ? `${PATH}?${dice.pick(['', 'a=b', '?', '%zz', '/..;'])}` : PATH;
}

/** A webhook as its sender may send it. */
export function valid(dice: Dice, next: NextId, endpoint: Endpoint): Request {
  const id = next('v');
  const signed = signedNear(dice, reviewBody(dice, id), endpoint);
  return { kind: 'valid', bytes: wireOf(dice, signed.body, proofOf(signed)), statuses: [200], id, ends: false };
}

type Maker = (dice: Dice, next: NextId, endpoint: Endpoint) => Request;

/** Authentic, but not understood, or not to be written now. */
const ODD: Readonly<Record<string, Maker>> = {
  parked: (dice, next, endpoint) => {
    const id = next('p');
    const signed = signedNear(
      dice,
      reviewBody(dice, id, { decision: dice.pick(['perhaps', 7, null, ['bad']]) }),
      endpoint,
    );
    return { kind: 'parked', bytes: wireOf(dice, signed.body, proofOf(signed)), statuses: [200], id, ends: false };
  },
  unwritable: (dice, next, endpoint) => {
    if (endpoint.writesAll === true) return valid(dice, next, endpoint);
    const signed = signedNear(dice, reviewBody(dice, next(UNWRITABLE)), endpoint);
    const bytes = wireOf(dice, signed.body, proofOf(signed));
    return { kind: 'unwritable', bytes, statuses: [503], id: null, ends: false };
  },
  'no object': (dice, next, endpoint) => {
    const id = next('n');
    const text = dice.pick(['', '[]', `["${id}"]`, '{', `{"a":"${id}`, '{'.repeat(3000), `\ufeff{}`, 'null', '{}{}']);
    const signed = signedNear(dice, Buffer.from(text), endpoint);
    return {
      kind: 'no object',
      bytes: wireOf(dice, signed.body, proofOf(signed)),
      statuses: [400],
      id: null,
      ends: false,
    };
  },
};

/** A proof that proves nothing. The bytes say what must never be written. */
type Forgery = (
  dice: Dice,
  signed: Signed,
  endpoint: Endpoint,
) => { readonly body?: Buffer; readonly proof: readonly Header[]; readonly statuses?: readonly number[] };

const OTHER_SECRET = 'another-secret-of-24-bytes';

const FORGERIES: Readonly<Record<string, Forgery>> = {
  'no proof': () => ({ proof: [] }),
  'half a proof': (dice, signed) => ({ proof: [dice.pick(proofOf(signed))] }),
  'a header twice': (dice, signed) => ({ proof: dice.shuffled([...proofOf(signed), dice.pick(proofOf(signed))]) }),
  'another secret': (_dice, { body, timestamp }) => ({
    proof: [
      [SIGNATURE, hmacOf(OTHER_SECRET, timestamp, body).toString('hex')],
      [TIMESTAMP, timestamp],
    ],
  }),
  'a flipped bit of the body': (dice, signed) => {
    const body = Buffer.from(signed.body);
    const at = dice.below(body.length);
    body[at] = (body[at] ?? 0) ^ (1 << dice.below(8));
    return { body, proof: proofOf(signed) };
  },
  'a body with one byte more or less': (dice, signed) => ({
    body: dice.chance(0.5)
      ? signed.body.subarray(0, -1)
      : Buffer.concat([signed.body, Buffer.from(dice.pick([' ', '\n', '\0']))]),
    proof: proofOf(signed),
  }),
  'another digit of the signature': (dice, { body, timestamp }, { secrets }) => {
    const mac = hmacOf(dice.pick(secrets), timestamp, body);
    const at = dice.below(mac.length);
    mac[at] = (mac[at] ?? 0) ^ (1 << dice.below(8));
    return {
      proof: [
        [SIGNATURE, mac.toString(dice.chance(0.5) ? 'hex' : 'base64')],
        [TIMESTAMP, timestamp],
      ],
    };
  },
  'a signature in a form that is none': (dice, signed) => {
    const { signature, timestamp } = signed;
    const forms = [
      `sha256=${signature}`,
      `"${signature}"`,
      `${signature}, ${signature}`,
      `${signature}00`,
      signature.slice(1),
      `v1,${signature}`,
      '',
    ];
    return {
      proof: [
        [SIGNATURE, dice.pick(forms)],
        [TIMESTAMP, timestamp],
      ],
    };
  },
  'another time': (dice, { signature, timestamp }, { nowMs }) => {
    const other = timestampNear(dice, nowMs + dice.between(-290_000, 290_000));
    return {
      proof: [
        [SIGNATURE, signature],
        [TIMESTAMP, other === timestamp ? other.slice(0, -1) : other],
      ],
    };
  },
  'a time outside of the window': (dice, { body }, endpoint) => ({
    proof: proofOf(signedNear(dice, body, endpoint, dice.pick([-1, 1]) * dice.between(301_000, 10 ** 9))),
  }),
  'a time that is none': (dice, { body }, { secrets, nowMs }) => {
    const seconds = String(Math.floor(nowMs / 1000));
    const timestamp = dice.pick([
      '',
      'now',
      `+${seconds}`,
      `${seconds}.0`,
      `0x${seconds}`,
      `${seconds}, ${seconds}`,
      '2026-02-30T00:00:00Z',
    ]);
    return {
      proof: [
        [SIGNATURE, hmacOf(dice.pick(secrets), timestamp, body).toString('hex')],
        [TIMESTAMP, timestamp],
      ],
    };
  },
  'the same bytes cut elsewhere': (dice, { signature, timestamp, body }) => {
    const bytes = Buffer.concat([Buffer.from(timestamp), body]);
    const longer = timestamp.length + dice.between(1, 12);
    // A line end would be the end of the header.
    const isOneLine = !/[\r\n]/.test(bytes.toString('latin1', 0, longer));
    const at = isOneLine && dice.chance(0.5) ? longer : dice.below(timestamp.length);
    return {
      body: bytes.subarray(at),
      proof: [
        [SIGNATURE, signature],
        [TIMESTAMP, bytes.toString('latin1', 0, at)],
      ],
      statuses: [400, 401],
    };
  },
};

/** A whole request that is refused for its proof, after which its connection goes on. */
export function forged(dice: Dice, next: NextId, endpoint: Endpoint): Request {
  const name = dice.pick(Object.keys(FORGERIES));
  const forge: Forgery = FORGERIES[name] ?? (() => ({ proof: [] }));
  const signed = signedNear(dice, reviewBody(dice, next('x')), endpoint);
  const { body = signed.body, proof, statuses = [401] } = forge(dice, signed, endpoint);
  const bytes = wireOf(dice, body, proof);
  return { kind: name, bytes, statuses, id: null, ends: false };
}

/** A whole request that is authentic and not a review that can be written. */
export function odd(dice: Dice, next: NextId, endpoint: Endpoint): Request {
  return (ODD[dice.pick(Object.keys(ODD))] ?? valid)(dice, next, endpoint);
}

/** A whole request, signed, that is refused for its head: its answer ends the connection. */
export function refused(dice: Dice, next: NextId, endpoint: Endpoint): Request {
  const signed = signedNear(dice, reviewBody(dice, next('x')), endpoint);
  const plain = [HOST, JSON_TYPE, lengthOf(signed.body), ...proofOf(signed)];
  const without = (name: string): Header[] => plain.filter(([own]) => own !== name);
  const kinds: Readonly<Record<string, () => readonly [number, Buffer]>> = {
    'another path': () => [
      404,
      wireOf(
        dice,
        signed.body,
        proofOf(signed),
        'POST',
        dice.pick(['/', `${PATH}/`, '/webhooks', '//', '/%zz', `/x${PATH}`, PATH.toUpperCase(), '/webhooks/%66raud']),
      ),
    ],
    'an absolute path': () => [404, wireOf(dice, signed.body, proofOf(signed), 'POST', `http://connector.test${PATH}`)],
    'another method': () => [
      405,
      wireOf(
        dice,
        signed.body,
        proofOf(signed),
        dice.pick(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH', 'QUERY', 'PROPFIND', 'M-SEARCH']),
      ),
    ],
    'a method for the server': () => [405, headBytes({ method: 'OPTIONS', target: '*', headers: [HOST] })],
    'a tunnel': () => [405, headBytes({ method: 'CONNECT', target: 'example.test:443', headers: [HOST] })],
    'another type': () => [
      415,
      Buffer.concat([
        headBytes({
          headers: [
            ...without('Content-Type'),
            [
              'Content-Type',
              dice.pick([
                'text/plain',
                'application/jsonp',
                'application/json+x',
                '',
                'multipart/form-data; boundary=application/json',
              ]),
            ],
          ],
        }),
        signed.body,
      ]),
    ],
    'no type': () => [415, Buffer.concat([headBytes({ headers: without('Content-Type') }), signed.body])],
    'an encoding': () => [
      415,
      Buffer.concat([
        headBytes({
          headers: [...plain, ['Content-Encoding', dice.pick(['gzip', 'br', 'identity, gzip', 'deflate'])]],
        }),
        signed.body,
      ]),
    ],
    'a body that declares too much': () => [
      413,
      headBytes({
        headers: [
          ...without('Content-Length'),
          ['Content-Length', dice.pick([String(MAX_BYTES + 1), '99999999999', String(Number.MAX_SAFE_INTEGER)])],
        ],
      }),
    ],
    'no host': () => [400, Buffer.concat([headBytes({ headers: without('Host') }), signed.body])],
    'an expectation': () => [
      400,
      Buffer.concat([headBytes({ headers: [...plain, ['Expect', dice.pick(['tea', '200-ok'])]] }), signed.body]),
    ],
  };
  const kind = dice.pick(Object.keys(kinds));
  const [status, bytes] = kinds[kind]?.() ?? [0, Buffer.alloc(0)];
  return { kind, bytes, statuses: [status], id: null, ends: true };
}
