import { expect, test } from 'vitest';
import { lifetimeMs, readSessionToken } from '../../../../src/edges/screening-api/token.ts';

const NOW = Date.UTC(2026, 0, 1);
const jwt = (claims: unknown): string =>
  `e30.${Buffer.from(typeof claims === 'string' ? claims : JSON.stringify(claims)).toString('base64url')}.sig`;
const body = (value: unknown): Buffer => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));

test.each([
  '',
  '<html>',
  'null',
  '[]',
  '{}',
  { sessionToken: '' },
  { sessionToken: 7 },
  { sessionToken: 'a b' },
  { sessionToken: 'a\r\nb' },
  { sessionToken: 'ä' },
  { sessionToken: 'x'.repeat(8_193) },
])('finds no token in %j', (answer) => {
  expect(readSessionToken(body(answer))).toBeNull();
});

test('finds the token', () => {
  expect(readSessionToken(body({ sessionToken: 'a.b-c_d~!', more: 1 }))).toBe('a.b-c_d~!');
});

test.each([
  ['a day, whatever it says', jwt({ exp: NOW / 1_000 + 1_000_000 }), 86_400_000],
  ['what it says', jwt({ exp: NOW / 1_000 + 600 }), 600_000],
  ['a minute when it has expired by our clock', jwt({ exp: NOW / 1_000 - 600 }), 60_000],
  ['an hour when it does not say', jwt({}), 3_600_000],
  ['an hour when exp is a text', jwt({ exp: 'never' }), 3_600_000],
  ['an hour when it is no JWT', 'opaque', 3_600_000],
  ['an hour when its claims are broken', jwt('{'), 3_600_000],
  ['an hour when its claims are null', jwt(null), 3_600_000],
])('lives %s', (_name, token, life) => {
  expect(lifetimeMs(token, NOW)).toBe(life);
});
