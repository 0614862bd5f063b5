import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readLetter } from '../../../src/dead-letters/read-letter.ts';
import { decodeClaim } from '../../../src/edges/kafka/assigner.ts';
import { unframe } from '../../../src/edges/schema-registry/framing.ts';
import { createReading, type Decoding, typeOf } from '../../../src/edges/schema-registry/reading.ts';
import { decodeMap } from '../../../src/engine/offset-map.ts';
import { type OffsetRange } from '../../../src/engine/tracker.ts';
import { isLetterCode } from '../../../src/kernel/outcome.ts';
import { decodePlan, hashOfParameters } from '../../../src/replay/plan.ts';
import {
  AUTHORIZED,
  CLAIMS,
  CREATED,
  LETTERS,
  MAPS,
  PLACE,
  PLANS,
  REVIEW_VALUE,
  SCORE,
  SPANS,
} from '../../fixtures/upgrade/inputs.ts';
import { type Written, writtenBy, type WrittenRecord } from '../../fixtures/upgrade/written-by.ts';

const FOLDER = new URL('../../fixtures/upgrade/', import.meta.url);
const VERSIONS = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
const now = await writtenBy(new URL('../../../', import.meta.url));

const read = (file: string): Written => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')) as Written;
const bytes = (hex: string | null | undefined): Buffer => Buffer.from(hex ?? '', 'hex');

/** As ranges come back: those that touch are one. */
function merged(ranges: Iterable<OffsetRange>): readonly OffsetRange[] {
  const whole: OffsetRange[] = [];
  for (const { from, length } of ranges) {
    const last = whole.at(-1);
    if (last !== undefined && last.from + last.length === from)
      whole.splice(-1, 1, { from: last.from, length: last.length + length });
    else whole.push({ from, length });
  }
  return whole;
}

/** A value that was written with one schema, as another one reads it. */
function decoded(hex: string | undefined, writer: unknown, reader: unknown): Decoding {
  const framed = unframe(bytes(hex));
  if (framed.do !== 'framed') throw new RangeError(framed.detail);
  const reading = createReading(reader as object, typeOf(writer as object));
  if (typeof reading !== 'function') throw new RangeError(reading.detail);
  return reading(framed.payload);
}

const ofLetters = ({ letters, pointers, parkedWebhook }: Written): readonly (readonly [string, WrittenRecord])[] => [
  ...Object.entries(letters),
  ...Object.entries(pointers).map(([name, record]) => [`pointer ${name}`, record] as const),
  ['webhook', parkedWebhook],
];

test('there is a version to compare with', () => {
  expect(VERSIONS).toContain('c1745b7.json');
});

describe.each(VERSIONS)('what version %s has left', (file) => {
  const then = read(file);

  test.each(Object.entries(MAPS))(
    'is read: the map %s',
    (name, { clusterHash, offset, timestampMs, nonce, ranges }) => {
      const found = decodeMap(then.maps[name] ?? '', { clusterHash, offset });
      expect(found).toMatchObject({ do: 'map', timestampMs, nonce });
      const whole = merged(ranges);
      const came = found.do === 'map' ? found.ranges : [];
      // What had no room counts as unfinished.
      expect(came).toEqual(whole.slice(0, came.length));
      expect(came.length < whole.length).toBe(['cut_short', 'small_broker'].includes(name));
    },
  );

  test('is believed in its own cluster alone, and at its own offset', () => {
    const map = then.maps['one'] ?? '';
    expect(decodeMap(map, { clusterHash: 'other', offset: 41n })).toEqual({ do: 'ignored', why: 'mirrored' });
    expect(decodeMap(map, { clusterHash: PLACE.clusterHash, offset: 42n })).toEqual({
      do: 'ignored',
      why: 'mirrored',
    });
  });

  test.each(Object.entries(PLANS))('is resumed: the %s', (name, parameters) => {
    const plans = (then.plans[name] ?? []).map((metadata) => {
      const map = decodeMap(metadata, PLACE);
      return map.do === 'map' ? decodePlan(map.nonce) : null;
    });
    expect(plans).toMatchObject(SPANS);
    for (const plan of plans) expect(plan?.hash).toBe(hashOfParameters(parameters));
  });

  test('is understood in the group: what each member owned, and on what they agree', () => {
    expect(then.claims.map((claim) => decodeClaim(Buffer.from(claim)))).toEqual(CLAIMS);
    expect(then.protocol).toBe(now.protocol);
  });

  test.each(Object.entries(LETTERS))('is read: the letter %s, and its pointer', (name, { record, letter }) => {
    for (const written of [then.letters[name], then.pointers[name]]) {
      const facts = readLetter({ headers: written?.headers ?? {} });
      expect(facts).toMatchObject({ reason: letter.reason, stage: letter.stage, account: 'default' });
      expect(facts?.source).toMatchObject({ topic: record.topic, partition: record.partition });
    }
    expect(readLetter({ headers: then.pointers[name]?.headers ?? {} })?.isWithheld).toBe(true);
    expect(bytes(then.letters[name]?.value)).toEqual(record.value ?? Buffer.alloc(0));
  });

  test('is read: the letter of a webhook', () => {
    expect(readLetter({ headers: then.parkedWebhook.headers })).toMatchObject({
      reason: 'webhook_unrecognised',
      source: { do: 'webhook' },
    });
  });

  test.each([
    ['FraudScore', SCORE],
    ['FraudReview', REVIEW_VALUE],
    ['PaymentAuthorized', AUTHORIZED],
    ['PaymentCreated', CREATED],
  ])('is read: a value of %s', (name, sample) => {
    const value = decoded(then.values[name], then.schemas[name], now.schemas[name]);
    expect(value).toMatchObject({ do: 'value', value: sample });
  });
});

describe.each(VERSIONS)('version %s can be gone back to, since this one writes of the same', (file) => {
  const then = read(file);

  test.each(['maps', 'plans', 'groups', 'protocol', 'claims'] as const)('the same %s, byte for byte', (what) => {
    expect(now[what]).toEqual(then[what]);
  });

  test.each(ofLetters(then))('letters with the same headers, perhaps with more: %s', (name, before) => {
    const after = new Map(ofLetters(now)).get(name);
    expect(after).toMatchObject(before);
  });

  test('letters whose reasons it has, perhaps with more', () => {
    expect(then.reasons.filter((reason) => !isLetterCode(reason))).toEqual([]);
  });

  test.each(['score', 'review'] as const)(
    'records with the same key, id and headers, perhaps with more: %s',
    (what) => {
      const { value: _, ...before } = then[what];
      expect(now[what]).toMatchObject(before);
    },
  );

  test.each(Object.keys(then.schemas))('values of %s that it can read with its own schema', (name) => {
    const before = decoded(then.values[name], then.schemas[name], then.schemas[name]);
    expect(decoded(now.values[name], now.schemas[name], then.schemas[name])).toEqual(before);
  });
});
