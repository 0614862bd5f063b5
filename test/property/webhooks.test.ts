import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type WriteOutcome } from '../../src/engine/ports.ts';
import { pause } from '../../src/kernel/clock.ts';
import { createReviewsBridge } from '../../src/reviews/bridge.ts';
import { readEvent } from '../../src/reviews/parse.ts';
import { type WebhookRequest } from '../../src/reviews/ports.ts';
import {
  SIGNATURE_HEADER,
  type SignatureForm,
  TIMESTAMP_HEADER,
  type TimestampForm,
  verify,
  type VerifyOptions,
} from '../../src/reviews/verify.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';
import { NOW_MS, reviewBody, SECRET, sign } from '../support/webhooks.ts';

const SIGNATURE_FORMS = ['hex', 'base64'] as const satisfies readonly SignatureForm[];
const TIMESTAMP_FORMS = ['rfc3339', 'unix_s', 'unix_ms'] as const satisfies readonly TimestampForm[];
const OPTIONS: VerifyOptions = {
  signatureForms: SIGNATURE_FORMS,
  timestampForms: TIMESTAMP_FORMS,
  toleranceSeconds: 300,
};
const DEADLINE_MS = 3000;
const OTHER_SECRETS = ['another-secret-of-24-bytes', 'a-third-secret-of-24-bytes!'] as const;

interface Signed {
  readonly body: Buffer;
  readonly timestamp: string;
  readonly signature: string;
}

const timestampAt = (form: TimestampForm, ms: number): string => {
  if (form === 'unix_s') return String(Math.floor(ms / 1000));
  return form === 'unix_ms' ? String(ms) : new Date(ms).toISOString();
};
const signatureOf = (form: SignatureForm, body: Buffer, timestamp: string, secret: string = SECRET): string => {
  const hex = sign(body, timestamp, secret);
  return form === 'hex' ? hex : Buffer.from(hex, 'hex').toString('base64');
};
const headersOf = ({ signature, timestamp }: Pick<Signed, 'signature' | 'timestamp'>): string[] => [
  SIGNATURE_HEADER,
  signature,
  TIMESTAMP_HEADER,
  timestamp,
];

/** Within the window, also after a timestamp to the second has been cut. */
const times = fc.integer({ min: NOW_MS - 299_000, max: NOW_MS + 299_000 });
const bodies = fc
  .record({
    frg_trans_id: fc.string({ minLength: 1 }),
    trans_id: fc.string({ minLength: 1 }),
    decision: fc.constantFrom('good', 'probably_good', 'suspicious', 'bad', 'perhaps'),
    more: fc.jsonValue({ maxDepth: 2 }),
  })
  .map((data) => reviewBody(data));

const signed: fc.Arbitrary<Signed> = fc
  .tuple(bodies, times, fc.constantFrom(...SIGNATURE_FORMS), fc.constantFrom(...TIMESTAMP_FORMS))
  .map(([body, ms, signatureForm, timestampForm]) => {
    const timestamp = timestampAt(timestampForm, ms);
    return { body, timestamp, signature: signatureOf(signatureForm, body, timestamp) };
  });

const passes = ({ body, ...proof }: Signed, options: VerifyOptions = OPTIONS): boolean =>
  !('refuse' in verify({ rawHeaders: headersOf(proof), body }, [SECRET], options, NOW_MS));

/** One change of some bytes; where it stands is a share of their length, so that small ones stay small. */
const edits = fc.record({
  at: fc.nat(),
  do: fc.constantFrom('change', 'insert', 'remove', 'repeat', 'cut'),
  byte: fc.integer({ min: 1, max: 255 }),
});
type Edit = typeof edits extends fc.Arbitrary<infer T> ? T : never;

function edited(bytes: Buffer, edit: Edit): Buffer {
  const at = edit.at % (bytes.length + 1);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (edit.do) {
    case 'change':
      return Buffer.concat([before, Buffer.from([(after[0] ?? 0) ^ edit.byte]), after.subarray(1)]);
    case 'insert':
      return Buffer.concat([before, Buffer.from([edit.byte]), after]);
    case 'remove':
      return Buffer.concat([before, after.subarray(1)]);
    case 'repeat':
      return Buffer.concat([before, after.subarray(0, 1), after]);
    case 'cut':
      return Buffer.from(before);
  }
}

test('a webhook signed as the interface says passes, in every form', () => {
  const property = fc.property(signed, (webhook) => {
    expect(passes(webhook)).toBe(true);
  });
  fc.assert(property);
});

describe('a signed webhook never passes', () => {
  test('with any other body', () => {
    const property = fc.property(signed, fc.array(edits, { minLength: 1, maxLength: 4 }), (webhook, changes) => {
      const body = changes.reduce(edited, webhook.body);
      fc.pre(!body.equals(webhook.body));
      expect(passes({ ...webhook, body })).toBe(false);
    });
    fc.assert(property, { numRuns: 2000 });
  });

  test('with any other timestamp, within the window or not', () => {
    const changed = fc.tuple(signed, edits).map(([{ timestamp }, edit]) => edited(Buffer.from(timestamp), edit));
    const other = fc.tuple(times, fc.constantFrom(...TIMESTAMP_FORMS)).map(([ms, form]) => timestampAt(form, ms));
    const property = fc.property(signed, fc.oneof(changed, other), (webhook, replacement) => {
      const timestamp = replacement.toString('latin1');
      fc.pre(timestamp !== webhook.timestamp);
      expect(passes({ ...webhook, timestamp })).toBe(false);
    });
    fc.assert(property, { numRuns: 2000 });
  });

  test('with a signature of other bytes, or of the same bytes in a third form', () => {
    const property = fc.property(signed, edits, ({ body, timestamp, signature }, edit) => {
      const replacement = edited(Buffer.from(signature), edit).toString('latin1');
      // The one change that says the same: the case of hexadecimal digits.
      fc.pre(signature.length !== 64 || replacement.toLowerCase() !== signature);
      fc.pre(replacement !== signature);
      expect(passes({ body, timestamp, signature: replacement })).toBe(false);
    });
    fc.assert(property, { numRuns: 2000 });
  });

  test('with another letter at any place of its signature', () => {
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-_';
    const body = reviewBody();
    const timestamp = timestampAt('unix_s', NOW_MS);
    for (const form of SIGNATURE_FORMS) {
      const signature = signatureOf(form, body, timestamp);
      const others = Array.from(signature, (own, at) =>
        alphabet
          .split('')
          .map((letter) => (letter === own ? null : `${signature.slice(0, at)}${letter}${signature.slice(at + 1)}`)),
      );
      const passing = others.flat().filter((other) => other !== null && passes({ body, timestamp, signature: other }));
      // Hexadecimal digits may be written large.
      expect(passing.filter((other) => form === 'base64' || other?.toLowerCase() !== signature)).toEqual([]);
    }
  });

  test('with one of its headers missing, or there twice', () => {
    const property = fc.property(signed, fc.constantFrom(0, 2), fc.boolean(), ({ body, ...proof }, at, twice) => {
      const all = headersOf(proof);
      const rawHeaders = twice ? [...all, ...all.slice(at, at + 2)] : all.toSpliced(at, 2);
      expect(verify({ rawHeaders, body }, [SECRET], OPTIONS, NOW_MS)).toHaveProperty('refuse');
    });
    fc.assert(property);
  });

  test('outside of the window', () => {
    const away = fc.tuple(fc.integer({ min: 300_001, max: 10 ** 11 }), fc.constantFrom(-1, 1));
    const property = fc.property(away, bodies, fc.constantFrom(...SIGNATURE_FORMS), ([ms, side], body, form) => {
      const timestamp = timestampAt('unix_ms', NOW_MS + side * ms);
      const rawHeaders = headersOf({ timestamp, signature: signatureOf(form, body, timestamp) });
      expect(verify({ rawHeaders, body }, [SECRET], OPTIONS, NOW_MS)).toMatchObject({ refuse: 'outside_window' });
    });
    fc.assert(property);
  });
});

describe('the same bytes', () => {
  const anyBody = fc.oneof(
    bodies,
    fc.json().map((text) => Buffer.from(text)),
    // What begins as the rest of a timestamp would, or as spaces and a brace do.
    fc
      .tuple(fc.constantFrom('0', '000', '.5Z', 'Z', ':00Z', '+00:00', ' ', '\n{', '{', '{{'), fc.json())
      .map((parts) => Buffer.from(parts.join(''))),
  );
  const anywhere: VerifyOptions = { ...OPTIONS, toleranceSeconds: null };

  test.each(TIMESTAMP_FORMS.flatMap((timestampForm) => SIGNATURE_FORMS.map((form) => [timestampForm, form] as const)))(
    'pass with at most one cut between timestamp and body: %s, %s',
    (timestampForm, signatureForm) => {
      const property = fc.property(anyBody, times, (body, ms) => {
        const timestamp = timestampAt(timestampForm, ms);
        const signature = signatureOf(signatureForm, body, timestamp);
        const bytes = Buffer.concat([Buffer.from(timestamp), body]);
        const last = Math.min(bytes.length, 64);
        const passing = Array.from({ length: last + 1 }, (_, cut) => cut).filter((cut) =>
          passes({ signature, timestamp: bytes.toString('latin1', 0, cut), body: bytes.subarray(cut) }, anywhere),
        );
        const own = body[0] === 0x7b ? [timestamp.length] : passing.slice(0, 1);
        expect(passing).toEqual(own);
      });
      fc.assert(property, { numRuns: 300 });
    },
  );
});

test('any of up to three secrets is taken, and the first that fits is told', () => {
  const lists = fc.shuffledSubarray([SECRET, ...OTHER_SECRETS], { minLength: 1 });
  const property = fc.property(lists, fc.constantFrom(SECRET, ...OTHER_SECRETS), bodies, (secrets, used, body) => {
    const timestamp = timestampAt('unix_s', NOW_MS);
    const rawHeaders = headersOf({ timestamp, signature: sign(body, timestamp, used) });
    const verified = verify({ rawHeaders, body }, secrets, OPTIONS, NOW_MS);
    const secretIndex = secrets.indexOf(used);
    expect(verified).toMatchObject(secretIndex === -1 ? { refuse: 'bad_signature' } : { secretIndex });
  });
  fc.assert(property);
});

describe('reading a body is total', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.json(),
    fc.json().map((text) => `{"type":"txn_manual_review","data":${text}}`),
    fc.jsonValue().map((value) => JSON.stringify({ type: 'txn_manual_review', data: { decision: value } })),
    fc.constantFrom('[', '{"a":').chain((open) => fc.nat({ max: 50_000 }).map((depth) => open.repeat(depth))),
    fc.nat({ max: 50_000 }).map((depth) => `{"data":${'['.repeat(depth)}${']'.repeat(depth)}}`),
  );

  test('for any bytes', () => {
    const any = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      texts.map((text) => Buffer.from(text)),
    );
    const property = fc.property(any, (bytes) => {
      expect(['review', 'unrecognised', 'not_an_object']).toContain(readEvent(bytes).do);
    });
    fc.assert(property);
  });

  test('and keeps what it does not know as it came: no more, no less', () => {
    const names = fc.oneof(fc.string(), fc.constantFrom('__proto__', 'constructor', 'toString', '$body', '"', '\\'));
    const known = new Set(['frg_trans_id', 'trans_id', 'decision', 'reviewed_at']);
    const more = fc.dictionary(names, fc.jsonValue({ maxDepth: 3 }), { noNullPrototype: false });
    const property = fc.property(more, fc.constantFrom(undefined, 1, '\t'), (unknown, indent) => {
      const left = Object.entries(unknown).filter(([name]) => !known.has(name));
      const event = JSON.parse(reviewBody().toString()) as { data: object };
      const entries = [...Object.entries(event.data), ...left];
      const data = entries.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value, null, indent)}`);
      const reading = readEvent(Buffer.from(`{"type":"txn_manual_review","data":{${data.join(' , ')}}}`));
      const extra = reading.do === 'review' ? (JSON.parse(reading.extra) as object) : null;
      expect(Object.entries(extra ?? {})).toEqual(
        Object.entries(JSON.parse(`{${data.slice(4).join(',')}}`) as Record<string, unknown>),
      );
    });
    fc.assert(property);
  });
});

describe('the receiver', () => {
  const STATUSES = new Set([200, 400, 401, 503]);
  const outcomes = fc.constantFrom<WriteOutcome | 'throws' | 'late'>(
    { do: 'written', partition: 0, offset: 1n },
    { do: 'unavailable', error: 'Error' },
    { do: 'refused', why: 'too_large' },
    'throws',
    'late',
  );
  /** Few events, so that many come again. */
  const some = fc.record({
    body: fc.oneof(
      fc.constantFrom('a', 'b', 'c').map((id) => reviewBody({ trans_id: id })),
      fc.constantFrom('a', 'b').map((id) => reviewBody({ trans_id: id, decision: 'perhaps' })),
      fc.constantFrom(Buffer.from('{}'), Buffer.from('{'), Buffer.from('[]'), Buffer.alloc(0)),
    ),
    proof: fc.constantFrom('right', 'right', 'right', 'other', 'none', 'stale'),
    outcome: outcomes,
    rest: fc.boolean(),
  });

  test('answers every request once, counts it once, and says 200 only for what Kafka has and whose sender knew a secret', async () => {
    const property = fc.asyncProperty(fc.array(some, { minLength: 1, maxLength: 20 }), async (requests) => {
      const world = receiverWorld(requests.map(({ outcome }) => outcome));
      const ends: Promise<End>[] = [];
      for (const { body, proof, rest } of requests) {
        const timestamp = timestampAt('unix_s', NOW_MS - (proof === 'stale' ? 600_000 : 0));
        const signature = sign(body, timestamp, proof === 'other' ? OTHER_SECRETS[0] : SECRET);
        const rawHeaders = proof === 'none' ? [] : headersOf({ timestamp, signature });
        ends.push(world.endOf({ rawHeaders, body }, proof === 'right'));
        if (rest) await settled();
      }
      // What is not acknowledged in time ends by the writer's deadline, and who joined it by its own.
      for (let turn = 0; turn < 4; turn += 1) {
        await settled();
        world.clock.advance(DEADLINE_MS);
      }
      const all = await Promise.all(ends);
      expect(
        all.filter(({ status, isAuthentic }) => !STATUSES.has(status) || (status === 401) === isAuthentic),
      ).toEqual([]);
      expect(all.filter(({ status, isInKafka }) => status === 200 && !isInKafka)).toEqual([]);
      expect(world.counted()).toBe(requests.length);
      const authentic = new Set(requests.flatMap(({ proof, body }) => (proof === 'right' ? [body.toString()] : [])));
      expect(world.attempted.filter((text) => !authentic.has(text))).toEqual([]);
      expect(world.clock.pending).toBe(0);
    });
    await fc.assert(property, { numRuns: 100 });
  });
});

/** How a request ended. */
interface End {
  readonly status: number;
  readonly isAuthentic: boolean;
  /** At the moment of the answer. */
  readonly isInKafka: boolean;
}

/** A bridge whose writer gives these outcomes in turn, and acknowledges afterwards. Events are told apart by their bodies. */
function receiverWorld(outcomes: readonly (WriteOutcome | 'throws' | 'late')[]) {
  const clock = new ManualClock(NOW_MS);
  const left = [...outcomes];
  const attempted: string[] = [];
  const acknowledged = new Set<string>();
  let counted = 0;
  const answer = async (body: string): Promise<WriteOutcome> => {
    attempted.push(body);
    const outcome = left.shift() ?? { do: 'written', partition: 0, offset: 1n };
    if (outcome === 'throws') throw new Error('no');
    if (outcome === 'late') {
      await pause(clock, DEADLINE_MS);
      return { do: 'unavailable', error: 'not in time' };
    }
    if (outcome.do === 'written') acknowledged.add(body);
    return await Promise.resolve(outcome);
  };
  const bridge = createReviewsBridge({
    secrets: () => [SECRET],
    writer: { write: async ({ key }) => await answer(reviewBody({ trans_id: String(key) }).toString()) },
    encoder: { encode: (value) => Buffer.from(JSON.stringify(value)) },
    topic: 'fraud.reviews',
    account: 'eu',
    source: 'connector/eu',
    park: async ({ body }) => ((await answer(body.toString())).do === 'written' ? 'written' : 'dead_letter_topic'),
    clock,
    emit: (name) => {
      if (name === 'webhook') counted += 1;
    },
    options: { ...OPTIONS, toleranceSeconds: 300, publishTimeoutMs: DEADLINE_MS },
  });
  const endOf = async (request: WebhookRequest, isAuthentic: boolean): Promise<End> => {
    const { status } = await bridge.handle(request);
    return { status, isAuthentic, isInKafka: acknowledged.has(request.body.toString()) };
  };
  return { endOf, clock, attempted, counted: () => counted };
}
