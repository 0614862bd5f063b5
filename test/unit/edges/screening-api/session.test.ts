import { describe, expect, test } from 'vitest';
import { Session } from '../../../../src/edges/screening-api/session.ts';
import { type Exchange } from '../../../../src/resilience/ports.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const NOW = Date.UTC(2026, 0, 1);
const answer = (status: number, body = '', retryAfterMs: number | null = null): Exchange => ({
  do: 'answer',
  status,
  retryAfterMs,
  body: Buffer.from(body),
  latencyMs: 1,
});
const granted = (token: string): Exchange => answer(200, JSON.stringify({ sessionToken: token }));
const jwt = (exp: number, id: string): string =>
  `${id}.${Buffer.from(JSON.stringify({ exp })).toString('base64url')}.s`;

class Desk {
  readonly clock = new ManualClock(NOW);
  readonly asked: string[] = [];
  readonly results: string[] = [];
  credentials = { username: 'shop', password: 'päss:word' };
  answers: Exchange[] = [];
  readonly session = new Session({
    request: async (authorization) => {
      this.asked.push(authorization);
      return await Promise.resolve(this.answers.shift() ?? granted(`t${this.asked.length}`));
    },
    credentials: () => this.credentials,
    clock: this.clock,
    draw: () => 0.5,
    emit: (_event, fields) => this.results.push(JSON.stringify(fields)),
  });
}

describe('a refused login', () => {
  test.each([401, 403])('with %i holds for 30 s, doubling to 15 min', async (status) => {
    const desk = new Desk();
    for (const waitMs of [30_000, 60_000, 120_000, 240_000, 480_000, 900_000, 900_000]) {
      desk.answers = [answer(status)];
      const asked = desk.asked.length;
      const held = { do: 'no_session', why: 'credentials_refused', retryMs: waitMs };
      expect(await desk.session.acquire()).toEqual(held);
      expect(await desk.session.acquire()).toEqual(held);
      desk.clock.advance(waitMs - 1);
      expect(await desk.session.acquire()).toMatchObject({ do: 'no_session', retryMs: 1 });
      expect(desk.asked.length).toBe(asked + 1);
      desk.clock.advance(1);
    }
    expect(desk.results.every((result) => result === '{"result":"refused"}')).toBe(true);
    expect(await desk.session.acquire()).toMatchObject({ do: 'token' });
  });

  test('is followed by a login as soon as somebody says that the password has changed, if it has', async () => {
    const desk = new Desk();
    desk.answers = [answer(401)];
    await desk.session.acquire();
    desk.session.credentialsMayHaveChanged();
    expect(desk.asked).toHaveLength(1);
    desk.credentials = { username: 'shop', password: 'new' };
    desk.session.credentialsMayHaveChanged();
    await settled();
    expect(desk.asked).toHaveLength(2);
    expect(desk.session.current()).not.toBeNull();
    // Nothing was refused since: the token is used on.
    desk.credentials = { username: 'shop', password: 'newer' };
    desk.session.credentialsMayHaveChanged();
    expect(desk.asked).toHaveLength(2);
  });

  test('is tried again at once when the password has changed', async () => {
    const desk = new Desk();
    desk.answers = [answer(401)];
    await desk.session.acquire();
    desk.credentials = { username: 'shop', password: 'new' };
    expect(await desk.session.acquire()).toMatchObject({ do: 'token' });
    expect(desk.asked).toEqual([
      `Basic ${Buffer.from('shop:päss:word').toString('base64')}`,
      `Basic ${Buffer.from('shop:new').toString('base64')}`,
    ]);
  });
});

describe('a failed login', () => {
  test.each([
    ['without an answer', { do: 'failed', why: 'connect', ambiguous: false } as const, 'service_down', 100],
    ['with 503', answer(503), 'service_down', 100],
    ['with 429 and Retry-After', answer(429, '', 5_000), 'service_down', 5_500],
    ['with HTML', answer(200, '<html>'), 'service_refuses', 100],
    ['without a token', answer(200, '{}'), 'service_refuses', 100],
    ['with a token no header can carry', granted('a b'), 'service_refuses', 100],
    ['with 404', answer(404), 'service_refuses', 100],
    ['with a redirect', answer(302), 'service_refuses', 100],
  ])('%s waits', async (_name, exchange, why, retryMs) => {
    const desk = new Desk();
    desk.answers = [exchange];
    expect(await desk.session.acquire()).toEqual({ do: 'no_session', why, retryMs });
    expect(desk.results).toEqual(['{"result":"failed"}']);
    desk.clock.advance(retryMs);
    expect(await desk.session.acquire()).toMatchObject({ do: 'token' });
  });

  test('waits longer each time', async () => {
    const desk = new Desk();
    for (const waitMs of [100, 200, 400]) {
      desk.answers = [answer(500)];
      expect(await desk.session.acquire()).toMatchObject({ retryMs: waitMs });
      desk.clock.advance(waitMs);
    }
  });
});

test('is one for all who wait', async () => {
  const desk = new Desk();
  const grants = await Promise.all(Array.from({ length: 500 }, async () => await desk.session.acquire()));
  expect(grants.every((grant) => grant.do === 'token' && grant.token === 't1')).toBe(true);
  expect(desk.asked.length).toBe(1);
});

describe('a token', () => {
  test('is used as it is up to about 80 % of its life, then while a new one is fetched', async () => {
    const desk = new Desk();
    const first = jwt(NOW / 1_000 + 1_000, 'a');
    desk.answers = [granted(first)];
    await desk.session.acquire();
    desk.clock.advance(759_999);
    expect(desk.session.current()).toBe(first);
    expect(desk.asked.length).toBe(1);
    desk.clock.advance(1);
    expect(desk.session.current()).toBe(first);
    expect(desk.session.current()).toBe(first);
    expect(desk.asked.length).toBe(2);
    await settled();
    expect(desk.session.current()).toBe('t2');
    expect(desk.asked.length).toBe(2);
  });

  test('is not used beyond its life', async () => {
    const desk = new Desk();
    desk.answers = [granted(jwt(NOW / 1_000 + 1_000, 'a'))];
    await desk.session.acquire();
    desk.clock.advance(1_000_000);
    expect(desk.session.current()).toBeNull();
    expect(await desk.session.acquire()).toEqual({ do: 'token', token: 't2' });
  });

  test('that is over by our clock is used for a minute, then replaced: the service has the last word', async () => {
    const desk = new Desk();
    const past = jwt(NOW / 1_000 - 3_600, 'past');
    desk.answers = [granted(past)];
    expect(await desk.session.acquire()).toEqual({ do: 'token', token: past });
    desk.clock.advance(40_000);
    expect(desk.session.current()).toBe(past);
    expect(desk.asked.length).toBe(1);
    desk.clock.advance(20_000);
    expect(desk.session.current()).toBeNull();
    expect(await desk.session.acquire()).toEqual({ do: 'token', token: 't2' });
  });

  test('stays in use while the service refuses new ones, and lives on', async () => {
    const desk = new Desk();
    const first = jwt(NOW / 1_000 + 1_000, 'a');
    desk.answers = [granted(first), answer(503)];
    await desk.session.acquire();
    desk.clock.advance(900_000);
    expect(await desk.session.acquire()).toEqual({ do: 'token', token: first });
    expect(await desk.session.acquire()).toEqual({ do: 'token', token: first });
    expect(desk.asked.length).toBe(2);
  });

  test('is forgotten only while it is the current one', async () => {
    const desk = new Desk();
    await desk.session.acquire();
    desk.session.refused('t0', false);
    expect(desk.session.current()).toBe('t1');
    desk.session.refused('t1', false);
    expect(desk.session.current()).toBeNull();
    expect(await desk.session.acquire()).toEqual({ do: 'token', token: 't2' });
    desk.session.refused('t1', false);
    expect(desk.session.current()).toBe('t2');
  });
});

test('logs in at most twice at once, then every 10 s', async () => {
  const desk = new Desk();
  const use = async (): Promise<string> => {
    const grant = await desk.session.acquire();
    if (grant.do !== 'token') return grant.why;
    desk.session.refused(grant.token, false);
    return 'token';
  };
  expect([await use(), await use(), await use()]).toEqual(['token', 'token', 'service_refuses']);
  desk.clock.advance(9_999);
  expect(await use()).toBe('service_refuses');
  desk.clock.advance(1);
  expect([await use(), await use()]).toEqual(['token', 'sessions_displace_each_other']);
});

/** Logs in and is refused at once. */
async function displaced(desk: Desk): Promise<void> {
  const grant = await desk.session.acquire();
  if (grant.do === 'token') desk.session.refused(grant.token, false);
}

describe('a service where a login ends the older token, and somebody else who logs in', () => {
  test('are named after three young tokens were refused, and logins are 60 s apart from then on', async () => {
    const desk = new Desk();
    await displaced(desk);
    await displaced(desk);
    desk.clock.advance(10_000);
    await displaced(desk);
    const held = { do: 'no_session', why: 'sessions_displace_each_other', retryMs: 60_000 };
    expect(await desk.session.acquire()).toEqual(held);
    desk.clock.advance(59_999);
    expect(await desk.session.acquire()).toMatchObject({ do: 'no_session', retryMs: 1 });
    desk.clock.advance(1);
    expect(await desk.session.acquire()).toMatchObject({ do: 'token' });
    expect(desk.asked).toHaveLength(4);
  });

  test('are not what a token was that had lived for ten minutes, nor refusals of one token by many requests', async () => {
    const desk = new Desk();
    for (let n = 0; n < 4; n += 1) {
      const grant = await desk.session.acquire();
      desk.clock.advance(600_000);
      if (grant.do === 'token') for (let each = 0; each < 500; each += 1) desk.session.refused(grant.token, false);
    }
    expect(await desk.session.acquire()).toMatchObject({ do: 'token' });
  });

  test('are forgotten when ten minutes have passed since the first of three', async () => {
    const desk = new Desk();
    for (const waitMs of [10_000, 10_000, 10_000]) {
      await displaced(desk);
      desk.clock.advance(waitMs);
    }
    desk.clock.advance(60_000);
    const grant = await desk.session.acquire();
    expect(grant).toMatchObject({ do: 'token' });
    desk.clock.advance(600_000);
    if (grant.do === 'token') desk.session.refused(grant.token, false);
    expect(await desk.session.acquire()).toMatchObject({ do: 'token' });
  });
});
