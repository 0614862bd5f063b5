import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { membersOf } from '../../../src/screening/members.ts';
import { readScore as readAnswer, type ReadScore, type ScoreReading } from '../../../src/screening/score.ts';

/** Reads what an answer with this text is parsed to. */
function readText(text: string): ReadScore {
  return readAnswer(JSON.parse(text) as Record<string, unknown>, Buffer.from(text));
}

const readScore = (value: Readonly<Record<string, unknown>>): ReadScore => readText(JSON.stringify(value));

const answer = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  frg_trans_id: 'F1',
  fraugster_approved: 1,
  score: 0.25,
  is_liable: false,
  liability_reason: 'high_amount',
  validation: { ok: false, errors: [{ datapoint: 'ip', msg: 'Invalid IP' }] },
  evidence: { signals: [{ category: 'user', id: 's1', related_to: ['ip'], type: 'bad' }] },
  frg_device_id: 'D1',
  ...changes,
});

test('reads a whole answer and leaves nothing over', () => {
  expect(readScore(answer())).toEqual({
    unrecognised: [],
    reading: {
      frg_trans_id: 'F1',
      decision: 'approve',
      decision_code: 1,
      score: 0.25,
      is_liable: false,
      liability_reason: 'high_amount',
      validation_ok: false,
      validation_errors: [{ datapoint: 'ip', msg: 'Invalid IP' }],
      signals: [{ category: 'user', id: 's1', related_to: ['ip'], type: 'bad' }],
      frg_device_id: 'D1',
      extra: '{}',
    },
  });
});

test.each([
  [0, 'decline'],
  [1, 'approve'],
  [2, 'manual_review'],
  [3, 'custom'],
])('reads decision %i as %s', (code, decision) => {
  const { reading } = readScore(answer({ fraugster_approved: code }));
  expect([reading.decision, reading.decision_code]).toEqual([decision, code]);
});

describe('impossible values', () => {
  test.each([
    ['1', null],
    [true, null],
    [1.5, null],
    [4, 4],
    [-1, -1],
    [{}, null],
  ])('takes decision %j for unknown and keeps it as it came', (code, number) => {
    const { reading, unrecognised } = readScore(answer({ fraugster_approved: code }));
    expect(reading).toMatchObject({ decision: 'unknown', decision_code: number });
    expect(JSON.parse(reading.extra)).toEqual({ fraugster_approved: code });
    expect(unrecognised).toEqual(['fraugster_approved']);
  });

  test('takes a missing decision for unknown', () => {
    const { reading, unrecognised } = readScore({});
    expect([reading.decision, reading.extra, unrecognised]).toEqual(['unknown', '{}', ['fraugster_approved']]);
  });

  test.each([
    ['score', '0.5'],
    ['score', 1.01],
    ['score', -0.01],
    ['is_liable', 'yes'],
    ['liability_reason', 7],
    ['frg_trans_id', 1.5],
    ['frg_device_id', ['D1']],
    ['frg_device_id', 'half \ud800'],
    ['evidence', { signals: [{ id: '\udfff' }] }],
    ['validation', { ok: 'no' }],
    ['validation', { ok: false, errors: 'many' }],
    ['validation', { errors: [{ datapoint: 7 }] }],
    ['evidence', []],
    ['evidence', { signals: [null] }],
    ['evidence', { signals: [{ related_to: 'ip' }] }],
  ])('keeps %s %j aside and names the field', (field, value) => {
    const { reading, unrecognised } = readScore(answer({ [field]: value }));
    expect(unrecognised).toEqual([field]);
    expect(JSON.parse(reading.extra)).toEqual({ [field]: value });
    expect(reading.decision).toBe('approve');
  });
});

test('keeps fields that the score has not, nested ones with all around them', () => {
  const evidence = { signals: [{ category: 'user', id: 's1', type: 'bad', weight: 3 }] };
  const { reading, unrecognised } = readScore(answer({ rule_hits: [{ rule: 7 }], evidence, error_msg: null }));
  expect(JSON.parse(reading.extra)).toEqual({ rule_hits: [{ rule: 7 }], evidence });
  expect(reading.signals).toEqual([{ category: 'user', id: 's1', related_to: [], type: 'bad' }]);
  expect(unrecognised).toEqual([]);
});

test('keeps a field named __proto__ as a field', () => {
  const { reading } = readText('{"fraugster_approved":1,"__proto__":{"a":1}}');
  expect(reading.extra).toBe('{"__proto__":{"a":1}}');
});

test('keeps numbers in extra as they were written', () => {
  const { reading } = readText('{"fraugster_approved":1,"rule_hits":[12345678901234567890, 1.10],"limit":1e400}');
  expect(reading.extra).toBe('{"rule_hits":[12345678901234567890, 1.10],"limit":1e400}');
});

test('reads an answer behind a byte order mark', () => {
  expect(readAnswer({ more: 1 }, Buffer.from('\uFEFF{"more":1}')).reading.extra).toBe('{"more":1}');
});

describe('one bad part costs only itself', () => {
  const signal = { category: 'user', id: 's1', related_to: ['ip'], type: 'bad' };

  test('a signal with a numeric id keeps its digits, and its neighbours keep all', () => {
    const evidence = { signals: [signal, { ...signal, id: 7 }] };
    const { reading, unrecognised } = readScore(answer({ evidence }));
    expect(reading.signals).toEqual([signal, { ...signal, id: '7' }]);
    expect([unrecognised, JSON.parse(reading.extra)]).toEqual([['evidence'], { evidence }]);
  });

  test.each<[string, unknown, unknown]>([
    ['a category that is no text', { ...signal, category: 7 }, { ...signal, category: null }],
    ['a name in related_to that is no text', { ...signal, related_to: ['ip', 7] }, signal],
    ['related_to that is no list', { ...signal, related_to: 'ip' }, { ...signal, related_to: [] }],
  ])('a signal with %s', (_, given, read) => {
    const evidence = { signals: [given, signal] };
    const { reading, unrecognised } = readScore(answer({ evidence }));
    expect(reading.signals).toEqual([read, signal]);
    expect([unrecognised, JSON.parse(reading.extra)]).toEqual([['evidence'], { evidence }]);
  });

  test('a signal that is no object is left out of the list', () => {
    const { reading } = readScore(answer({ evidence: { signals: [null, 7, signal] } }));
    expect(reading.signals).toEqual([signal]);
    expect(JSON.parse(reading.extra)).toEqual({ evidence: { signals: [null, 7, signal] } });
  });

  test('a message that is no text does not hide that the validation failed', () => {
    const validation = {
      ok: false,
      errors: [
        { datapoint: 'ip', msg: 7 },
        { datapoint: 'cust_id', msg: 'Null string' },
      ],
    };
    const { reading, unrecognised } = readScore(answer({ validation }));
    expect([reading.validation_ok, reading.validation_errors]).toEqual([
      false,
      [
        { datapoint: 'ip', msg: null },
        { datapoint: 'cust_id', msg: 'Null string' },
      ],
    ]);
    expect([unrecognised, JSON.parse(reading.extra)]).toEqual([['validation'], { validation }]);
  });

  test('an ok that is no boolean does not hide the errors', () => {
    const { reading } = readScore(
      answer({ validation: { ok: 'no', errors: [{ datapoint: 'ip', msg: 'Invalid IP' }] } }),
    );
    expect([reading.validation_ok, reading.validation_errors]).toEqual([
      null,
      [{ datapoint: 'ip', msg: 'Invalid IP' }],
    ]);
  });
});

test('takes an empty text for none, and finds nothing odd about it', () => {
  const empty = {
    frg_trans_id: '',
    liability_reason: '',
    frg_device_id: '',
    error_msg: '',
    evidence: { signals: [{ category: '', id: 's1', related_to: [], type: '' }] },
    validation: { ok: true, errors: [{ datapoint: '', msg: '' }] },
  };
  const { reading, unrecognised } = readScore(answer(empty));
  expect(reading).toMatchObject({
    frg_trans_id: null,
    liability_reason: null,
    frg_device_id: null,
    signals: [{ category: null, id: 's1', related_to: [], type: null }],
    validation_errors: [{ datapoint: null, msg: null }],
    extra: '{}',
  });
  expect(unrecognised).toEqual([]);
});

test('reads a numeric id of the transaction as its digits, as webhooks do, and keeps it as it came', () => {
  const { reading, unrecognised } = readScore(answer({ frg_trans_id: 12 }));
  expect([reading.frg_trans_id, reading.extra, unrecognised]).toEqual(['12', '{"frg_trans_id":12}', ['frg_trans_id']]);
});

/** Null, an absent field and whatever is empty are the same: nothing was said. */
function said(value: unknown): unknown {
  if (value === null || value === '') return undefined;
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(said);
  const fields = Object.entries(value).map(([name, field]) => [name, said(field)] as const);
  const told = fields.filter(([, field]) => field !== undefined);
  return told.length === 0 ? undefined : Object.fromEntries(told);
}

/** What a reader of the record can say the answer was, of one of its fields. */
const TOLD: Readonly<Record<string, (reading: ScoreReading) => unknown>> = {
  error_msg: () => undefined,
  frg_trans_id: (reading) => reading.frg_trans_id,
  fraugster_approved: (reading) => reading.decision_code,
  score: (reading) => reading.score,
  is_liable: (reading) => reading.is_liable,
  liability_reason: (reading) => reading.liability_reason,
  validation: (reading) =>
    reading.validation_ok === null && reading.validation_errors === null
      ? undefined
      : { ok: reading.validation_ok, errors: reading.validation_errors },
  evidence: (reading) => (reading.signals === null ? undefined : { signals: reading.signals }),
  frg_device_id: (reading) => reading.frg_device_id,
};

describe('whatever object the service answers', () => {
  const numbers = ['12345678901234567890', '1e400', '-0.10', '1.0'];
  const number = fc.constantFrom(...numbers).map((digits) => `@${digits}`);
  const word = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('', 'ip', 'half \ud800'));
  const odd = fc.oneof(fc.jsonValue(), number, fc.boolean(), fc.integer({ min: -1, max: 4 }), word);
  const mostly = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.oneof({ weight: 6, arbitrary: value }, { weight: 1, arbitrary: odd });
  const object = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> =>
    mostly(fc.record({ ...fields, more: odd }, { requiredKeys: [] }));
  const list = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => mostly(fc.array(item, { maxLength: 3 }));
  const signals = list(object({ category: word, id: mostly(word), related_to: list(word), type: word }));
  const errors = list(object({ datapoint: word, msg: mostly(word) }));
  const answers = fc.record(
    {
      ...Object.fromEntries(Object.keys(TOLD).map((name) => [name, odd])),
      score: mostly(fc.double({ min: 0, max: 1, noNaN: true })),
      validation: object({ ok: fc.boolean(), errors }),
      evidence: object({ signals }),
      more: odd,
      ['__proto__']: odd,
    },
    { requiredKeys: [] },
  );
  /** As text, with numbers that JavaScript cannot hold. */
  const texts = answers.map((any) =>
    numbers.reduce((all, digits) => all.replaceAll(`"@${digits}"`, digits), JSON.stringify(any)),
  );

  test('everything in it is in a field or, unchanged, in extra', () => {
    fc.assert(
      fc.property(texts, (whole) => {
        const { reading } = readText(whole);
        const kept = membersOf(reading.extra);
        const given = JSON.parse(whole) as Record<string, unknown>;
        const members = [...membersOf(whole)];
        expect(members.filter(([name, member]) => kept.has(name) && kept.get(name) !== member)).toEqual([]);
        const told = members.flatMap(([name]) => (kept.has(name) ? [] : [[name, said(TOLD[name]?.(reading))]]));
        expect(told).toEqual(told.map(([name]) => [name, said(given[String(name)])]));
        expect([...kept.keys()].filter((name) => !Object.hasOwn(given, name))).toEqual([]);
        expect(reading.extra.isWellFormed()).toBe(true);
      }),
    );
  });

  test('nothing but a 1 is an approval', () => {
    fc.assert(
      fc.property(texts, (whole) => {
        const given = JSON.parse(whole) as Record<string, unknown>;
        expect(readText(whole).reading.decision === 'approve').toBe(given['fraugster_approved'] === 1);
      }),
    );
  });
});
