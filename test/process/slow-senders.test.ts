import { expect, test } from 'vitest';
import { runSlow } from '../fuzz/slow.ts';

test('webhooks come through while slow senders hold on to every connection there is', async () => {
  const { sent, answers, lost, crowd } = await runSlow({ sockets: 500, rate: 100, seconds: 4, maxConnections: 200 });
  expect(answers).toEqual({ 200: sent });
  expect(lost).toBe(0);
  // The crowd was there, and more of it than there are places.
  expect(crowd.cut).toBeGreaterThan(300);
});
