import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodePlan, encodePlan, hashOfParameters, type PlanParameters } from '../../../src/replay/plan.ts';

const TYPED: PlanParameters = { topic: 't', from: '-24h', to: 'latest', everyUpdate: false, transIds: [] };
const offsets = fc.bigInt({ min: 0n, max: 2n ** 48n - 1n });

describe('a plan in the metadata of a commit', () => {
  test('refuses offsets that do not fit', () => {
    const plan = { from: 0n, end: 2n ** 48n, seen: 2n ** 48n };
    expect(() => encodePlan(hashOfParameters(TYPED), plan)).toThrow(/offsets below/);
    expect(() => encodePlan(hashOfParameters(TYPED), plan)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });

  test.each(['', 'test', 'A'.repeat(31), 'A'.repeat(33), `${'A'.repeat(31)}=`])('takes %j for no plan', (text) => {
    expect(decodePlan(text)).toBeNull();
  });

  test('comes back as it was written, in 32 characters', () => {
    fc.assert(
      fc.property(offsets, offsets, offsets, (from, end, seen) => {
        const text = encodePlan(hashOfParameters(TYPED), { from, end, seen });
        expect(text).toMatch(/^[\w-]{32}$/);
        expect(decodePlan(text)).toEqual({ hash: hashOfParameters(TYPED), from, end, seen });
      }),
    );
  });
});

function of(...transIds: string[]): string {
  return hashOfParameters({ ...TYPED, transIds });
}

describe('the hash of what was typed', () => {
  test.each<[string, Partial<PlanParameters>]>([
    ['another topic', { topic: 'u' }],
    ['another start', { from: '-25h' }],
    ['another end', { to: '-1h' }],
    ['whole histories', { everyUpdate: true }],
    ['what a redrive asks for beside', { more: ['status_400'] }],
    ['one id', { transIds: ['a'] }],
  ])('is another one for %s', (_, change) => {
    expect(hashOfParameters({ ...TYPED, ...change })).not.toBe(hashOfParameters(TYPED));
  });

  test('does not look at the order of ids, nor at one given twice', () => {
    expect(of('a', 'b', 'a')).toBe(of('b', 'a'));
    expect(of('a,b')).not.toBe(of('a', 'b'));
  });
});
