import { expect, test } from 'vitest';
import { Sessions } from '../../../../src/sandbox/service/sessions.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
const RIGHT = basic('shop:secret');

function setUp(change: { readonly onePerUser?: boolean } = {}) {
  const clock = new ManualClock();
  const sessions = new Sessions({
    user: 'shop',
    password: 'secret',
    lifetimeMs: 60_000,
    onePerUser: false,
    clock,
    ...change,
  });
  const login = (): string => `SessionToken ${sessions.login(RIGHT)}`;
  return { clock, sessions, login };
}

test.each([
  undefined,
  '',
  'Basic',
  basic('shop:wrong'),
  basic('shop'),
  basic('shop:secret '),
  `Bearer ${RIGHT.slice(6)}`,
])('refuses a login with %j', (authorization) => {
  expect(setUp().sessions.login(authorization)).toBeNull();
});

test('a token holds until it expires, and says when in its claims', () => {
  const { clock, sessions, login } = setUp();
  const header = login();
  const claims = JSON.parse(Buffer.from(header.split('.')[1] ?? '', 'base64url').toString()) as { exp: number };
  expect(claims.exp * 1_000).toBe(clock.nowMs() + 60_000);
  clock.advance(59_999);
  expect(sessions.holds(header)).toBe(true);
  clock.advance(1);
  expect(sessions.holds(header)).toBe(false);
});

test('holds only a header as the spec writes it', () => {
  const { sessions, login } = setUp();
  const header = login();
  expect(sessions.holds(undefined)).toBe(false);
  expect(sessions.holds(header.replace('SessionToken', 'Bearer'))).toBe(false);
  expect(sessions.holds(`${header}x`)).toBe(false);
});

test('tokens of one user live side by side, unless a login is to end the older one', () => {
  const several = setUp();
  const [first, second] = [several.login(), several.login()];
  expect(first).not.toBe(second);
  expect([several.sessions.holds(first), several.sessions.holds(second)]).toEqual([true, true]);

  const one = setUp({ onePerUser: true });
  const [older, newer] = [one.login(), one.login()];
  expect([one.sessions.holds(older), one.sessions.holds(newer)]).toEqual([false, true]);
});

test('all tokens can be ended at once', () => {
  const { sessions, login } = setUp();
  const headers = [login(), login()];
  sessions.expireAll();
  expect(headers.map((header) => sessions.holds(header))).toEqual([false, false]);
});

test('odd tokens: one looks expired and works, one is no JWT and works, one never works', () => {
  const { sessions, clock } = setUp();
  const past = sessions.login(RIGHT, 'past') ?? '';
  const claims = JSON.parse(Buffer.from(past.split('.')[1] ?? '', 'base64url').toString()) as { exp: number };
  expect(claims.exp * 1_000).toBeLessThan(clock.nowMs());
  const opaque = sessions.login(RIGHT, 'opaque') ?? '';
  expect(opaque).toMatch(/^[0-9a-f]{64}$/u);
  const dead = sessions.login(RIGHT, 'dead') ?? '';
  expect([past, opaque, dead].map((token) => sessions.holds(`SessionToken ${token}`))).toEqual([true, true, false]);
});

test('one token can be ended, and the others live', () => {
  const { sessions, login } = setUp();
  const [first, second] = [login(), login()];
  sessions.end(first);
  expect([sessions.holds(first), sessions.holds(second)]).toEqual([false, true]);
});
