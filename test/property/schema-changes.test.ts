import avsc from 'avsc';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FRAUD_REVIEW_SCHEMA, FRAUD_SCORE_SCHEMA } from '../../src/screening/avro.generated.ts';
import { LATER_DECISION, newerReview, SCHEMA_CHANGES, TODAY, versionsOf } from '../support/schema-changes.ts';

interface Shape {
  readonly type: unknown;
  readonly name?: string;
  readonly fields?: readonly { readonly name: string; readonly type: unknown; readonly default?: unknown }[];
  readonly symbols?: readonly string[];
  readonly items?: unknown;
  readonly default?: unknown;
}

type Value = Readonly<Record<string, unknown>>;

const typeOf = (schema: object): avsc.Type =>
  avsc.Type.forSchema(schema as avsc.Schema, { wrapUnions: 'never', omitRecordMethods: true } as object);

const SIMPLE: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  null: fc.constant(null),
  string: fc.string({ unit: 'grapheme' }),
  boolean: fc.boolean(),
  int: fc.integer(),
  // Avsc reads odd negative longs beyond -(2^52) one off; neither times nor offsets are there.
  long: fc.integer({ min: -(2 ** 52), max: 2 ** 53 - 2 }),
  double: fc.double({ noNaN: true, noDefaultInfinity: true }),
};

/** Values that can be written with a schema. */
function valuesOf(schema: unknown): fc.Arbitrary<unknown> {
  if (typeof schema === 'string') return SIMPLE[schema] ?? fc.constant(null);
  if (Array.isArray(schema)) return fc.oneof(...schema.map(valuesOf));
  const { type, fields = [], symbols = [], items } = schema as Shape;
  if (type === 'record') return fc.record(Object.fromEntries(fields.map((each) => [each.name, valuesOf(each.type)])));
  if (type === 'enum') return fc.constantFrom(...symbols);
  return type === 'array' ? fc.array(valuesOf(items), { maxLength: 3 }) : valuesOf(type);
}

/** Without the classes of the library, and without a sign of nought. */
function plain(value: unknown): Value {
  return JSON.parse(JSON.stringify(value)) as Value;
}

/** What a reader gets of a value that was written with another schema; throws where Avro refuses the pair. */
function read(reader: object, writer: object, value: unknown): Value {
  const [from, to] = [typeOf(writer), typeOf(reader)];
  return plain(to.fromBuffer(from.toBuffer(value), to.createResolver(from)));
}

function canRead(reader: object, writer: object): boolean {
  try {
    typeOf(reader).createResolver(typeOf(writer));
    return true;
  } catch {
    return false;
  }
}

/** By the rules of Avro, told once more: own fields as written, others by their defaults, symbols it does not know as `unknown`. */
function expectedOf(reader: object, value: Value): Value {
  const { fields = [] } = reader as Shape;
  const entries = Object.fromEntries(
    fields.map(({ name, type, default: otherwise }) => {
      const found = name in value ? value[name] : otherwise;
      const symbols = (type as Shape).symbols;
      return [name, symbols === undefined || symbols.includes(String(found)) ? found : 'unknown'];
    }),
  );
  return plain(entries);
}

const changes = SCHEMA_CHANGES.map((change) => [change.of, change.name, change] as const);

describe('a change of a schema', () => {
  test.each(changes)('%s: %s: readers of today get what Avro says', (of, _name, { newer, isReadByOlder }) => {
    expect(canRead(TODAY[of], newer)).toBe(isReadByOlder);
  });

  test.each(changes)('%s: %s: newer readers get of older records what Avro says', (of, _name, change) => {
    expect(canRead(change.newer, TODAY[of])).toBe(change.readsOlder);
  });

  test.each(changes.filter(([, , change]) => change.isReadByOlder && change.readsOlder))(
    '%s: %s: loses nothing that both schemas have',
    (of, _name, { newer }) => {
      fc.assert(
        fc.property(valuesOf(newer), valuesOf(TODAY[of]), (later, today) => {
          expect(read(TODAY[of], newer, later)).toEqual(expectedOf(TODAY[of], later as Value));
          expect(read(newer, TODAY[of], today)).toEqual(expectedOf(newer, today as Value));
        }),
        { numRuns: 50 },
      );
    },
  );
});

describe.each(['FraudReview', 'FraudScore'] as const)('versions of %s that follow one another', (of) => {
  const versions = versionsOf(of);

  test('are each read by each, older and newer', () => {
    expect(versions.length).toBeGreaterThan(4);
    const pair = fc.tuple(fc.nat(versions.length - 1), fc.constantFrom(...versions));
    const written = pair.chain(([at, reader]) =>
      fc.record({
        writer: fc.constant(versions[at] ?? {}),
        reader: fc.constant(reader),
        value: valuesOf(versions[at]),
      }),
    );
    fc.assert(
      fc.property(written, ({ writer, reader, value }) => {
        expect(read(reader, writer, value)).toEqual(expectedOf(reader, value as Value));
      }),
      { numRuns: 200 },
    );
  });
});

test('a decision that came later is unknown to a reader of today, and nothing else is', () => {
  fc.assert(
    fc.property(valuesOf(newerReview()), (value) => {
      const { decision } = value as Value;
      const seen = read(FRAUD_REVIEW_SCHEMA, newerReview(), value)['decision'];
      expect(seen).toBe(decision === LATER_DECISION ? 'unknown' : decision);
    }),
  );
});

test('every enum of the outputs has a default that is no approval', () => {
  for (const schema of [FRAUD_REVIEW_SCHEMA, FRAUD_SCORE_SCHEMA]) {
    const { fields = [] } = schema as Shape;
    const enums = fields.map(({ type }) => type as Shape).filter(({ symbols }) => symbols !== undefined);
    expect(enums.map((each) => each.default)).toEqual(['unknown']);
  }
});
