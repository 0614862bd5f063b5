import { describe, expect, test } from 'vitest';
import { saslOptions } from '../../../../src/edges/kafka/sasl.ts';

type Provider = Extract<
  ReturnType<typeof saslOptions>,
  { readonly authenticationProvider: unknown }
>['authenticationProvider'];
type Sasl = Parameters<Provider>[0]['saslAuthenticate'];

/** A broker's side of SASL: what it answers to each message, as bytes or as an error. */
async function authenticate(
  answers: readonly (string | Error)[],
): Promise<{ readonly said: string[]; readonly dropped: string[]; readonly error: unknown }> {
  const said: string[] = [];
  const dropped: string[] = [];
  const left = [...answers];
  const tokens = {
    token: async () => await Promise.resolve('a.b.c'),
    drop: (value: string) => {
      dropped.push(value);
    },
  };
  const options = saslOptions({ mechanism: 'oauthbearer', tokens });
  const provider = Reflect.get(options, 'authenticationProvider') as Provider;
  const saslAuthenticate: Sasl = async ({ request, response }) => {
    const bytes = await request.encode();
    expect(bytes.readInt32BE(0)).toBe(bytes.length - 4);
    said.push(bytes.subarray(4).toString());
    const answer = left.shift() ?? '';
    if (answer instanceof Error) throw answer;
    return response?.parse(await response.decode(Buffer.concat([Buffer.alloc(4), Buffer.from(answer)])));
  };
  const args = { host: 'h', port: 1, logger: undefined as never, saslAuthenticate };
  const error: unknown = await provider(args)
    .authenticate()
    .catch((thrown: unknown) => thrown);
  return { said, dropped, error };
}

const REFUSAL = Object.assign(new Error('invalid'), { type: 'SASL_AUTHENTICATION_FAILED' });
const FIRST = 'n,,\u0001auth=Bearer a.b.c\u0001\u0001';

describe('a token', () => {
  test('that the broker refuses in its answer is an error, after the word that it waits for', async () => {
    const { said, dropped, error } = await authenticate(['{"status":"invalid_token"}', REFUSAL]);
    expect(said).toEqual([FIRST, '\u0001']);
    expect(error).toBe(REFUSAL);
    expect(dropped).toEqual(['a.b.c']);
  });

  test('that is refused is an error also where the broker does not fail after all', async () => {
    const { dropped, error } = await authenticate(['{"status":"invalid_token"}', '']);
    expect(error).toMatchObject({ type: 'SASL_AUTHENTICATION_FAILED' });
    expect(dropped).toEqual(['a.b.c']);
  });

  test('is kept where the connection broke', async () => {
    const { dropped, error } = await authenticate([new Error('reset')]);
    expect(error).toMatchObject({ message: 'reset' });
    expect(dropped).toEqual([]);
  });

  test('is shown once where it is taken', async () => {
    expect(await authenticate([''])).toEqual({ said: [FIRST], dropped: [], error: undefined });
  });
});

test('a password is asked for each time that it is shown', () => {
  let password = 'old';
  const options = saslOptions({ mechanism: 'scram-sha-512', username: 'u', password: () => password });
  expect(Reflect.get(options, 'password')).toBe('old');
  password = 'new';
  expect(Reflect.get(options, 'password')).toBe('new');
});
