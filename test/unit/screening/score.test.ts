import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readScore } from '../../../src/screening/score.ts';

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
    ['frg_trans_id', 12],
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
  const { reading } = readScore(JSON.parse('{"fraugster_approved":1,"__proto__":{"a":1}}') as Record<string, unknown>);
  expect(reading.extra).toBe('{"__proto__":{"a":1}}');
});

test('approves nothing but a 1, and loses no field', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...Object.keys(answer()), 'more', '__proto__'), fc.jsonValue()),
      (any) => {
        const { reading, unrecognised } = readScore(any);
        expect(reading.decision === 'approve').toBe(any['fraugster_approved'] === 1);
        const extra = JSON.parse(reading.extra) as Record<string, unknown>;
        const lost = unrecognised.filter((field) => Object.hasOwn(any, field) && !Object.hasOwn(extra, field));
        expect(lost).toEqual([]);
        expect(Object.hasOwn(extra, 'more')).toBe(Object.hasOwn(any, 'more'));
      },
    ),
  );
});
