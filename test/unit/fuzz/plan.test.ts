import { expect, test } from 'vitest';
import { ENDPOINT } from '../../fuzz/campaign.ts';
import { readArguments } from '../../fuzz/arguments.ts';
import { MALFORMED_KINDS } from '../../fuzz/malformed.ts';
import { type Manner, planOf } from '../../fuzz/plan.ts';

const plans = (manner: Manner, count = 600) =>
  Array.from({ length: count }, (_, index) => planOf(7, index, manner, ENDPOINT));

test('the same seed and index make the same bytes, another seed or index others', () => {
  for (const manner of ['orderly', 'wild'] as const) {
    expect(planOf(7, 3, manner, ENDPOINT)).toEqual(planOf(7, 3, manner, ENDPOINT));
    expect(planOf(7, 3, manner, ENDPOINT).bytes).not.toEqual(planOf(7, 4, manner, ENDPOINT).bytes);
    expect(planOf(7, 3, manner, ENDPOINT).bytes).not.toEqual(planOf(8, 3, manner, ENDPOINT).bytes);
  }
});

test('an orderly connection has an answer for each of its requests', () => {
  for (const { open, answers, requests } of plans('orderly')) expect([open, answers.length]).toEqual([false, requests]);
});

test('wild connections are of every kind', () => {
  const kinds = new Set(plans('wild', 4000).map(({ kind }) => kind));
  expect([...MALFORMED_KINDS, 'havoc', 'a tunnel', 'no host'].filter((kind) => !kinds.has(kind))).toEqual([]);
});

test('only what the sender has signed may be written, and a 200 needs such an id', () => {
  for (const { answers, mayBeWritten } of [...plans('orderly'), ...plans('wild')])
    for (const { statuses, id } of answers) {
      expect(statuses.includes(200)).toBe(id !== null);
      expect(id === null || mayBeWritten.includes(id)).toBe(true);
    }
  const ids = plans('orderly').flatMap(({ mayBeWritten }) => mayBeWritten);
  expect(ids.filter((id) => !/^[vp]-/.test(id))).toEqual([]);
});

test.each([
  [['--requests', 'many'], '--requests must be'],
  [['--seed', '-1'], 'seed'],
  [['flood'], 'no such attack'],
  [['slow', 'broker'], 'one attack'],
  [['--soon'], 'soon'],
])('arguments are refused with the usage: %j', (args, expected) => {
  expect(readArguments(args, 7)).toContain(expected);
  expect(readArguments(args, 7)).toContain('npm run fuzz');
});

test('arguments have defaults, a made-up seed among them', () => {
  expect(readArguments([], 7)).toMatchObject({ attack: 'requests', requests: 100_000, seed: 7, only: false });
  expect(readArguments(['slow'], 7)).toEqual({ attack: 'slow', sockets: 10_000, seconds: 30, rate: 100 });
  expect(readArguments(['broker', '--events', '50'], 7)).toMatchObject({ attack: 'broker', events: 50 });
});
