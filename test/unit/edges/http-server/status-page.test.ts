import { expect, test } from 'vitest';
import { statusPage } from '../../../../src/edges/http-server/status-page.ts';

const READY = { live: true, ready: true };

test('lets no text become markup', () => {
  const page = statusPage({ '<b>': '<script>', list: [{ a: '"&\'<i>' }], holds: ['<u>'] }, READY);
  expect(page).not.toMatch(/<script|<b>|<i>|<u>/);
  expect(page).toContain('&lt;script&gt;');
});

test('loads nothing and runs nothing', () => {
  expect(statusPage({ a: 1 }, READY)).not.toMatch(/<script|<link|<img|<form|url\(|@import|https?:/);
});

test('says first whether it is ready, then what holds it', () => {
  const page = statusPage(
    { phase: 'running', flows: [{ name: 'sync', inFlight: 3 }], holds: [{ cause: 'kafka', ageMs: 1200 }] },
    { live: true, ready: false },
  );
  expect(page).toContain('not ready');
  expect(page.indexOf('kafka')).toBeLessThan(page.indexOf('sync'));
  expect(page).toContain('<th>in flight</th>');
});

test.each([
  ['nothing', {}],
  [
    'values of every kind',
    { a: null, b: undefined, c: true, d: [], e: {}, f: [1, 'x'], g: { h: { i: [{ j: [1] }] } }, k: 2n },
  ],
  ['rows of different columns', { rows: [{ a: 1 }, { b: { c: [] } }] }],
])('shows %s', (_name, status) => {
  expect(statusPage(status, READY)).toMatch(/<\/main><\/body>\n<\/html>\n$/);
});
