import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OauthTokens, readToken } from '../../../../src/edges/kafka/oauth-token.ts';
import { causeCode } from '../../../../src/edges/kafka/errors.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { TokenServer } from '../../../support/token-server.ts';

let server: TokenServer;
beforeEach(async () => {
  server = await TokenServer.open();
});
afterEach(async () => {
  await server.close();
});

function tokensOf(over: { readonly scope?: string | null } = {}): { tokens: OauthTokens; clock: ManualClock } {
  const clock = new ManualClock();
  const { scope = null } = over;
  const endpoint = { url: server.url, clientId: server.client, clientSecret: () => secret, scope, userAgent: 'test' };
  return { tokens: new OauthTokens(endpoint, clock), clock };
}

let secret = '';
beforeEach(() => {
  ({ secret } = server);
});

async function codeOf(asked: Promise<string>): Promise<string | null> {
  return await asked.then(
    () => 'a token',
    (error: unknown) => causeCode(error),
  );
}

describe('there is no token', () => {
  test.each<[what: string, answer: TokenServer['answer'], code: string]>([
    ['the client is refused', { status: 401, body: '{"error":"invalid_client"}' }, 'OAUTH_TOKEN_REFUSED'],
    ['the scope is refused', { status: 400, body: '{"error":"invalid_scope"}' }, 'OAUTH_TOKEN_REFUSED'],
    ['it is sent elsewhere', { status: 302, body: '' }, 'OAUTH_TOKEN_REFUSED'],
    ['the server is ill', { status: 503, body: '' }, 'OAUTH_TOKEN_UNREACHABLE'],
    ['it asks for patience', { status: 429, body: '' }, 'OAUTH_TOKEN_UNREACHABLE'],
    ['the answer is a page', { status: 200, body: '<html>' }, 'OAUTH_TOKEN_UNUSABLE'],
    ['the answer has none', { status: 200, body: '{"expires_in":1}' }, 'OAUTH_TOKEN_UNUSABLE'],
    [
      'it would end the message that it stands in',
      { status: 200, body: JSON.stringify({ access_token: 'a\u0001b' }) },
      'OAUTH_TOKEN_UNUSABLE',
    ],
    ['the answer does not end', { status: 200, body: 'x'.repeat(100_000) }, 'OAUTH_TOKEN_UNUSABLE'],
  ])('where %s', async (_, answer, code) => {
    server.answer = answer;
    expect(await codeOf(tokensOf().tokens.token())).toBe(code);
  });

  test('where nobody is there', async () => {
    const { tokens } = tokensOf();
    await server.close();
    expect(await codeOf(tokens.token())).toBe('OAUTH_TOKEN_UNREACHABLE');
    server = await TokenServer.open();
  });

  test('and what is said of it holds nothing of the secret or the answer', async () => {
    server.answer = { status: 400, body: 'canary-of-the-answer' };
    const error = await tokensOf()
      .tokens.token()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    const shown = `${String(error)} ${JSON.stringify(error)} ${String(Reflect.get(Object(error), 'cause'))}`;
    expect(shown).not.toContain('canary');
    expect(shown).not.toContain(secret);
  });
});

test('asks as the client that it is, for the scope that it is to ask for', async () => {
  server.client = 'me & you';
  server.secret = secret = 'a:b+c';
  server.answer = { status: 200, body: '{"access_token":"t"}' };
  await tokensOf({ scope: 'kafka.read kafka.write' }).tokens.token();
  await tokensOf().tokens.token();
  expect(server.requests.map(({ client }) => client)).toEqual(['me+%26+you:a%3Ab%2Bc', 'me+%26+you:a%3Ab%2Bc']);
  expect(server.requests.map(({ form }) => form.toString())).toEqual([
    'grant_type=client_credentials&scope=kafka.read+kafka.write',
    'grant_type=client_credentials',
  ]);
  expect(server.requests[0]?.contentType).toBe('application/x-www-form-urlencoded');
});

test('a token is shown until 80 % of its life, then another one; those who ask at once share one request', async () => {
  server.lifeSeconds = 1000;
  const { tokens, clock } = tokensOf();
  const [one, same] = await Promise.all([tokens.token(), tokens.token()]);
  expect(same).toBe(one);
  clock.advance(799_000);
  expect(await tokens.token()).toBe(one);
  expect(server.requests).toHaveLength(1);
  clock.advance(2000);
  await tokens.token();
  expect(server.requests).toHaveLength(2);
});

test('a token of a short life is renewed while 15 s are left, or half of it', async () => {
  for (const [lifeSeconds, renewedMs] of [
    [60, 45_000],
    [20, 10_000],
  ] as const) {
    server.lifeSeconds = lifeSeconds;
    server.requests.length = 0;
    const { tokens, clock } = tokensOf();
    await tokens.token();
    clock.advance(renewedMs - 1);
    await tokens.token();
    expect(server.requests).toHaveLength(1);
    clock.advance(1);
    await tokens.token();
    expect(server.requests).toHaveLength(2);
  }
});

test('while the server is away a token is shown as long as it is good, and asked for anew every 5 s', async () => {
  server.lifeSeconds = 1000;
  const { tokens, clock } = tokensOf();
  const token = await tokens.token();
  server.answer = { status: 503, body: '' };
  clock.advance(900_000);
  for (let n = 0; n < 3; n += 1) expect(await tokens.token()).toBe(token);
  expect(server.requests).toHaveLength(2);
  clock.advance(5000);
  expect(await tokens.token()).toBe(token);
  expect(server.requests).toHaveLength(3);
  clock.advance(95_000);
  expect(await codeOf(tokens.token())).toBe('OAUTH_TOKEN_UNREACHABLE');
  server.answer = null;
  expect(await codeOf(tokens.token())).toBe('a token');
});

test('a token that was refused is not shown again, and a secret that has changed counts at the next request', async () => {
  const { tokens } = tokensOf();
  const token = await tokens.token();
  server.secret = 'another-secret';
  tokens.drop('not the one that is shown');
  expect(await tokens.token()).toBe(token);
  tokens.drop(token);
  expect(await codeOf(tokens.token())).toBe('OAUTH_TOKEN_REFUSED');
  secret = 'another-secret';
  expect(await codeOf(tokens.token())).toBe('a token');
});

test('a life that is not told, or told in words, is five minutes', () => {
  for (const life of [{}, { expires_in: 'soon' }, { expires_in: -1 }, { expires_in: null }])
    expect(readToken(Buffer.from(JSON.stringify({ access_token: 't', ...life })))?.lifeMs).toBe(300_000);
  expect(readToken(Buffer.from('{"access_token":"t","expires_in":"3600"}'))?.lifeMs).toBe(3_600_000);
});
