import { expect, test } from 'vitest';
import { ExchangeCounts } from '../../../src/kernel/exchange-counts.ts';

const kind = { method: 'GET', template: '/x', origin: 'https://one.example' };

test('a server that answers with every status there is fills no memory', () => {
  const counts = new ExchangeCounts(kind);
  for (let status = 100; status < 600; status += 1) for (const _ of [1, 2]) counts.ended(status, 5);
  const { ends } = counts.report();
  expect(ends.size).toBeLessThanOrEqual(33);
  expect([...ends.values()].reduce((sum, { count }) => sum + count, 0)).toBe(1000);
  expect(ends.get('_OTHER')?.count).toBeGreaterThan(900);
});

test('the milliseconds of a request are counted as seconds', () => {
  const counts = new ExchangeCounts(kind);
  counts.ended(200, 1500);
  expect(counts.report().ends.get(200)).toMatchObject({ sum: 1.5, count: 1 });
});

test.each([
  ['https://one.example', 'one.example', 443],
  ['http://one.example', 'one.example', 80],
  ['http://user:pw@127.0.0.1:8081', '127.0.0.1', 8081],
  ['https://[::1]:9', '[::1]', 9],
])('%s is told by its host and port alone', (origin, host, port) => {
  expect(new ExchangeCounts({ ...kind, origin }).report()).toMatchObject({ host, port });
});
