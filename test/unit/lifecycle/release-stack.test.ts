import { expect, test } from 'vitest';
import { ReleaseStack } from '../../../src/lifecycle/release-stack.ts';

test('releases in reverse order of opening, whatever fails on the way, and names what failed', async () => {
  const stack = new ReleaseStack();
  const released: string[] = [];
  for (const what of ['log', 'broker', 'server'])
    stack.push(what, async () => {
      await Promise.resolve();
      released.push(what);
      if (what === 'broker') throw new RangeError('text that must not be kept');
    });
  expect(await stack.release()).toEqual([{ what: 'broker', error: 'RangeError' }]);
  expect(released).toEqual(['server', 'broker', 'log']);
});

test('releases nothing twice', async () => {
  const stack = new ReleaseStack();
  let times = 0;
  stack.push('once', async () => {
    await Promise.resolve();
    times += 1;
  });
  await stack.release();
  expect(await stack.release()).toEqual([]);
  expect(times).toBe(1);
});
