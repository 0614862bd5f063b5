import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type VerifyOptions, verify } from '../../../src/reviews/verify.ts';
import { NOW_MS, reviewBody, SECRET, sign, signedHeaders } from '../../support/webhooks.ts';

const OPTIONS: VerifyOptions = {
  signatureForms: ['hex', 'base64'],
  timestampForms: ['rfc3339', 'unix_s', 'unix_ms'],
  toleranceSeconds: 300,
};

interface Vector {
  readonly name: string;
  readonly secrets: readonly string[];
  readonly nowMs: number;
  readonly timestamp: string;
  readonly signature: string;
  readonly body: string;
  readonly signatureForm: string;
  readonly timestampForm: string;
  readonly secretIndex: number;
}

const { vectors } = JSON.parse(
  readFileSync(new URL('../../fixtures/webhooks/signatures.json', import.meta.url), 'utf8'),
) as { readonly vectors: readonly Vector[] };

const BODY = reviewBody();
const TIMESTAMP = '2026-01-01T00:00:00Z';

function check(rawHeaders: readonly string[], body: Buffer = BODY, options: VerifyOptions = OPTIONS) {
  return verify({ rawHeaders, body }, [SECRET], options, NOW_MS);
}

function headers(signature: string, timestamp: string): string[] {
  return ['X-ServiceWebhook-Signature', signature, 'X-ServiceWebhook-Timestamp', timestamp];
}

describe('refuses as a bad signature', () => {
  const good = sign(BODY, TIMESTAMP);
  const base64 = Buffer.from(good, 'hex').toString('base64');
  test.each([
    ['one that is missing', ['X-ServiceWebhook-Timestamp', TIMESTAMP]],
    ['one that is there twice', [...headers(good, TIMESTAMP), 'x-servicewebhook-signature', good]],
    ['an empty one', headers('', TIMESTAMP)],
    ['one of another secret', signedHeaders(BODY, TIMESTAMP, 'another-secret-of-24-bytes')],
    ['one of another body', signedHeaders(reviewBody({ decision: 'bad' }))],
    ['one of another timestamp', headers(sign(BODY, '2026-01-01T00:00:01Z'), TIMESTAMP)],
    ['one that is cut', headers(good.slice(0, 62), TIMESTAMP)],
    ['one with something after it', headers(`${good}00`, TIMESTAMP)],
    ['one with what hexadecimal has not', headers(`${good.slice(0, 62)}zz`, TIMESTAMP)],
    ['one with a prefix', headers(`sha256=${good}`, TIMESTAMP)],
    ['one in quotes', headers(`"${good}"`, TIMESTAMP)],
    ['one with a line end', headers(`${good}\n`, TIMESTAMP)],
    ['base64 without padding', headers(base64.slice(0, -1), TIMESTAMP)],
    ['base64 of the alphabet for URLs', headers(`${base64.slice(0, 40)}-_${base64.slice(42)}`, TIMESTAMP)],
    ['base64 of its hexadecimal text', headers(Buffer.from(good).toString('base64'), TIMESTAMP)],
    ['two in one header', headers(`${good}, ${good}`, TIMESTAMP)],
  ])('%s', (_name, rawHeaders) => {
    expect(check(rawHeaders)).toEqual({ refuse: 'bad_signature' });
  });

  test('base64 whose last letter carries bits that say nothing', () => {
    const last = base64[42] ?? '';
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
    const twin = `${base64.slice(0, 42)}${alphabet[alphabet.indexOf(last) + 1] ?? ''}=`;
    expect(Buffer.from(twin, 'base64')).toEqual(Buffer.from(good, 'hex'));
    expect(check(headers(twin, TIMESTAMP))).toEqual({ refuse: 'bad_signature' });
  });

  test('a form that is switched off', () => {
    expect(check(headers(good, TIMESTAMP), BODY, { ...OPTIONS, signatureForms: ['base64'] })).toEqual({
      refuse: 'bad_signature',
    });
    expect(check(headers(base64, TIMESTAMP), BODY, { ...OPTIONS, signatureForms: ['hex'] })).toEqual({
      refuse: 'bad_signature',
    });
  });

  test('everything, while there is no secret', () => {
    expect(verify({ rawHeaders: signedHeaders(BODY), body: BODY }, [], OPTIONS, NOW_MS)).toEqual({
      refuse: 'bad_signature',
    });
  });

  test('two bodies that differ only in bytes that are no UTF-8', () => {
    const one = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const other = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xfe]), Buffer.from('"}')]);
    expect(check(signedHeaders(one), one)).not.toHaveProperty('refuse');
    expect(check(signedHeaders(one), other)).toEqual({ refuse: 'bad_signature' });
  });
});

describe('refuses as a bad timestamp, though the signature over it is right', () => {
  test.each([
    ['an empty one', ''],
    ['a day without a time', '2026-01-01'],
    ['a time without a zone', '2026-01-01T00:00:00'],
    ['a day that is not', '2026-02-30T00:00:00Z'],
    ['second 61', '2025-12-31T23:59:61Z'],
    ['24 o’clock', '2025-12-31T24:00:00Z'],
    ['an exponent', '1767225.6e3'],
    ['hexadecimal', '0x69558680'],
    ['a sign', '+1767225600'],
    ['a fraction of UNIX seconds', '1767225600.0'],
    ['nine digits', '176722560'],
    ['eleven digits', '17672256000'],
    ['something after it', '1767225600abc'],
    ['a line end', '1767225600\n'],
    ['digits of another script', '١٧٦٧٢٢٥٦٠٠'],
    ['no number', 'NaN'],
  ])('%s', (_name, timestamp) => {
    expect(check(headers(sign(BODY, timestamp), timestamp))).toEqual({ refuse: 'bad_timestamp' });
  });

  test('one that is missing, or there twice', () => {
    const [name, signature] = signedHeaders(BODY);
    expect(check([name!, signature!])).toEqual({ refuse: 'bad_timestamp' });
    expect(check([...signedHeaders(BODY), 'x-servicewebhook-timestamp', TIMESTAMP])).toEqual({
      refuse: 'bad_timestamp',
    });
  });

  test.each([
    ['rfc3339', TIMESTAMP],
    ['unix_s', '1767225600'],
    ['unix_ms', '1767225600000'],
  ] as const)('the form %s when it is switched off', (form, timestamp) => {
    const timestampForms = OPTIONS.timestampForms.filter((other) => other !== form);
    expect(check(signedHeaders(BODY, timestamp), BODY, { ...OPTIONS, timestampForms })).toEqual({
      refuse: 'bad_timestamp',
    });
    expect(check(signedHeaders(BODY, timestamp), BODY, { ...OPTIONS, timestampForms: [form] })).not.toHaveProperty(
      'refuse',
    );
  });
});

describe('refuses what is outside the window', () => {
  test.each([
    ['a second too old', '2025-12-31T23:54:59Z', 'rfc3339', 301_000],
    ['a millisecond too old', '1767225299999', 'unix_ms', 300_001],
    ['a second too far ahead', '2026-01-01T00:05:01Z', 'rfc3339', -301_000],
    ['a millisecond too far ahead', '1767225900001', 'unix_ms', -300_001],
  ])('%s, and says how it was signed and how far off it was', (_name, timestamp, timestampForm, skewMs) => {
    expect(check(signedHeaders(BODY, timestamp))).toEqual({
      refuse: 'outside_window',
      signatureForm: 'hex',
      timestampForm,
      secretIndex: 0,
      skewMs,
    });
  });

  test('and tells nobody about the window who does not know the secret', () => {
    expect(check(signedHeaders(BODY, '2020-01-01T00:00:00Z', 'another-secret-of-24-bytes'))).toEqual({
      refuse: 'bad_signature',
    });
  });

  test('unless there is none', () => {
    expect(
      check(signedHeaders(BODY, '2020-01-01T00:00:00Z'), BODY, { ...OPTIONS, toleranceSeconds: null }),
    ).not.toHaveProperty('refuse');
  });
});

test.each(['', ' ', '[]', '"{"', 'null', '\u00a0{}', '\ufeff{}', '\v{}', 'x{}'])(
  'refuses an authentic body that does not begin as an object: %j',
  (text) => {
    const body = Buffer.from(text);
    expect(check(signedHeaders(body), body)).toEqual({ refuse: 'not_an_object' });
  },
);

test.each(vectors)('takes a webhook signed elsewhere: $name', (vector) => {
  const body = Buffer.from(vector.body, 'base64');
  const rawHeaders = headers(vector.signature, vector.timestamp);
  const verified = verify({ rawHeaders, body }, vector.secrets, OPTIONS, vector.nowMs);
  expect(verified).toMatchObject({
    body,
    signature: vector.signature,
    timestamp: vector.timestamp,
    signatureForm: vector.signatureForm,
    timestampForm: vector.timestampForm,
    secretIndex: vector.secretIndex,
  });
});

test('does not take the secret as base64, with or without the prefix that some services use', () => {
  const secret = 'whsec_bWFkZS11cC1zZWNyZXQtMDEyMzQ1Njc4OQ==';
  const decoded = Buffer.from(secret.slice('whsec_'.length), 'base64').toString();
  const rawHeaders = signedHeaders(BODY, TIMESTAMP, decoded);
  expect(verify({ rawHeaders, body: BODY }, [secret], OPTIONS, NOW_MS)).toEqual({ refuse: 'bad_signature' });
});

describe('law', () => {
  const timestamps = fc.constantFrom(TIMESTAMP, '2026-01-01T00:00:00.123456789+00:00', '1767225600', '1767225600123');
  const bodies = fc.oneof(
    fc.json().map((text) => `{"a":${text}}`),
    fc.constantFrom('{}', ' {}', '\n\t{"type":1}', '{"1767225600":0}'),
    // What begins as the rest of a timestamp would.
    fc.tuple(fc.constantFrom('0', '00', '123', '.5Z', 'Z', ':00Z', '+00:00'), fc.json()).map((parts) => parts.join('')),
  );

  test('the same bytes cut elsewhere never pass', () => {
    fc.assert(
      fc.property(timestamps, bodies, fc.nat({ max: 200 }), (timestamp, text, at) => {
        const body = Buffer.from(text);
        const wire = Buffer.concat([Buffer.from(timestamp), body]);
        const cut = at % (wire.length + 1);
        fc.pre(cut !== timestamp.length);
        const signature = sign(body, timestamp);
        const recut = headers(signature, wire.subarray(0, cut).toString('latin1'));
        const options = { ...OPTIONS, toleranceSeconds: null };
        const original = check(headers(signature, timestamp), body, options);
        const spliced = check(recut, Buffer.from(wire.subarray(cut)), options);
        // Only one cut of the same bytes may pass, and it is the sender's own if that one passes.
        expect('refuse' in original ? true : 'refuse' in spliced).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('no change of a byte, of signature, timestamp or body, passes', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 1, max: 255 }), (where, change) => {
        const body = Buffer.from(BODY);
        body[where % body.length]! ^= change;
        expect(check(signedHeaders(BODY), body)).toHaveProperty('refuse');
        const mac = Buffer.from(sign(BODY, TIMESTAMP), 'hex');
        mac[where % mac.length]! ^= change;
        expect(check(headers(mac.toString('hex'), TIMESTAMP))).toEqual({ refuse: 'bad_signature' });
      }),
    );
  });

  test('no headers or body make it throw', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string()),
        fc.uint8Array(),
        fc.string(),
        fc.string(),
        (list, bytes, signature, timestamp) => {
          expect(check([...list, ...headers(signature, timestamp)], Buffer.from(bytes))).toHaveProperty('refuse');
        },
      ),
    );
  });
});
