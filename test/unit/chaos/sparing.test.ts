import { expect, test } from 'vitest';
import { type Act } from '../../chaos/acts.ts';
import { type Field, spared } from '../../chaos/sparing.ts';

const kill: Act = { do: 'kill', connector: 2, downMs: 0 };
const field = (changes: Partial<Field> = {}): Field => ({
  connectors: 4,
  isBusy: () => false,
  isAtWork: (connector) => connector <= 3,
  ...changes,
});

test('strikes whom it was meant for', () => {
  expect(spared(kill, field())).toEqual(kill);
});

test.each([
  ['is busy', { isBusy: (target: string) => target === 'connector 2' }, 3],
  ['is not at work', { isAtWork: (connector: number) => connector === 1 || connector === 3 }, 3],
  ['and the next are busy', { isBusy: (target: string) => /[23]$/u.test(target), isAtWork: () => true }, 4],
])('strikes the next one that is there, where it %s', (_, changes, connector) => {
  expect(spared(kill, field(changes))).toEqual({ ...kill, connector });
});

test.each([
  ['nobody is there', { isAtWork: () => false }],
  ['one alone is there', { isAtWork: (connector: number) => connector === 2 }],
  ['all others are busy', { isBusy: (target: string) => target !== 'connector 2' }],
])('strikes nobody where %s', (_, changes) => {
  expect(spared(kill, field(changes))).toBeNull();
});

test('strikes a node unless another one is away', () => {
  const node: Act = { do: 'kill_node', node: 1, downMs: 0 };
  expect(spared(node, field({ isAtWork: () => false }))).toEqual(node);
  expect(spared(node, field({ isBusy: (target) => target === 'nodes' }))).toBeNull();
});
