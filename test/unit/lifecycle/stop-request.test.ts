import { expect, test } from 'vitest';
import { StopRequest } from '../../../src/lifecycle/stop-request.ts';

test('keeps the reason of the first request and tells a later one that it is late', async () => {
  const stop = new StopRequest();
  expect(stop.reason).toBeNull();
  expect(stop.ask('SIGTERM')).toBe(true);
  expect(stop.ask('SIGINT')).toBe(false);
  expect(await stop.asked()).toBe('SIGTERM');
});
