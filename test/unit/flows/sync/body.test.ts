import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bodyBytes, toBody, toFragment } from '../../../../src/flows/sync/body.ts';
import { toWireUpdate, type UpdateFields } from '../../../../src/screening/status-update.ts';
import { RULES } from './builders.ts';

const FIXTURES = new URL('../../../fixtures/sync/', import.meta.url);
const FIELDS: UpdateFields = [['status', 'error']];

interface Golden {
  readonly why: string;
  readonly events: readonly Record<string, unknown>[];
  /** The body, as text. */
  readonly body: string;
}

const goldens = JSON.parse(readFileSync(new URL('bodies.json', FIXTURES), 'utf8')) as readonly Golden[];

function bodyOf(ids: readonly string[]): Buffer {
  return toBody(ids.map((id) => toFragment(id, FIELDS)));
}

describe('the body of a batch', () => {
  test.each(goldens)('is, byte for byte, as agreed: $why', ({ events, body }) => {
    const fragments = events.map((event) => {
      const update = toWireUpdate(event, { ...RULES, scored: { httpStatus: 200, latencyMs: 31, paymentMethod: null } });
      return toFragment(String(event['trans_id']), update.do === 'send' ? update.fields : []);
    });
    expect(toBody(fragments).toString()).toBe(body);
  });

  test('of nothing is an empty object', () => {
    expect(toBody([]).toString()).toBe('{}');
  });

  test.each([
    ['a name of the prototype', '__proto__', '"__proto__"'],
    ['a method of the prototype', 'constructor', '"constructor"'],
    ['a number', '10', '"10"'],
    ['white space', ' ', '" "'],
    ['quotes and backslashes', 'a"b\\c', String.raw`"a\"b\\c"`],
    ['line ends and NUL', 'a\r\n\0', String.raw`"a\r\n\u0000"`],
    ['an emoji', '💳', '"💳"'],
    ['half a surrogate pair', '\ud83d', String.raw`"\ud83d"`],
    ['500 characters', 'x'.repeat(500), `"${'x'.repeat(500)}"`],
  ])('keeps an id that is %s', (_, id, key) => {
    expect(bodyOf([id]).toString()).toBe(`{${key}:{"status":"error"}}`);
  });

  test('keeps the order of ids that look like numbers', () => {
    expect(bodyOf(['10', '9', '1']).toString()).toMatch(/^\{"10":.*"9":.*"1":/);
  });

  test('gives back every id, and is as long as was reckoned', () => {
    const ids = fc.uniqueArray(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', '10', '9', '\udfff')),
    );
    const law = fc.property(ids, (given) => {
      const fragments = given.map((id) => toFragment(id, FIELDS));
      const body = toBody(fragments);
      const parsed = JSON.parse(body.toString()) as object;
      expect(new Set(Object.keys(parsed))).toEqual(new Set(given));
      const total = fragments.reduce((sum, fragment) => sum + fragment.length, 0);
      expect(body).toHaveLength(bodyBytes(given.length, total));
    });
    fc.assert(law);
  });
});
