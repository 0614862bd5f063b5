import { Buffer } from 'node:buffer';
import { type AuthenticationProviderArgs, type Mechanism, type SASLOptions } from 'kafkajs';
import { type OauthTokens } from './oauth-token.ts';

/** Who this client says it is. What it proves that with is asked at each authentication, so that a changed one counts. */
export type KafkaSasl =
  | {
      readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
      readonly username: string;
      readonly password: () => string;
    }
  | { readonly mechanism: 'oauthbearer'; readonly tokens: Pick<OauthTokens, 'token' | 'drop'> };

/**
 * The same as kafkajs wants it. It reads user name and password anew at each authentication of the object that it was
 * given, so a getter is enough; the way with tokens is our own.
 */
export function saslOptions(sasl: KafkaSasl): SASLOptions | Mechanism {
  if (sasl.mechanism === 'oauthbearer') {
    const { tokens } = sasl;
    return {
      mechanism: 'oauthbearer',
      authenticationProvider: (args) => ({
        authenticate: async () => {
          await showToken(tokens, args);
        },
      }),
    };
  }
  const { mechanism, username, password } = sasl;
  return {
    mechanism,
    username,
    get password() {
      return password();
    },
  } as SASLOptions;
}

/** Between the parts of the message (RFC 7628, section 3.1), and the client's answer to a refusal. */
const SEPARATOR = '\u0001';
const LENGTH_BYTES = 4;

/**
 * SASL OAUTHBEARER (RFC 7628). A broker that refuses a token says so in an answer that looks like success, and waits for
 * one more message before it fails; kafkajs takes the first for the end, and meets a closed connection later.
 */
async function showToken(
  tokens: Pick<OauthTokens, 'token' | 'drop'>,
  { saslAuthenticate }: AuthenticationProviderArgs,
): Promise<void> {
  const token = await tokens.token();
  const response = { decode: (raw: Buffer): Buffer => raw, parse: (raw: Buffer): Buffer => raw };
  const say = async (text: string): Promise<Buffer | void> =>
    await saslAuthenticate({ request: { encode: () => withLength(text) }, response });
  try {
    const answer = await say(`n,,${SEPARATOR}auth=Bearer ${token}${SEPARATOR}${SEPARATOR}`);
    if (answer !== undefined && answer.length > LENGTH_BYTES) await say(SEPARATOR);
    else return;
  } catch (error) {
    if (isRefusal(error)) tokens.drop(token);
    throw error;
  }
  tokens.drop(token);
  throw refused();
}

function withLength(text: string): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeInt32BE(Buffer.byteLength(text));
  return Buffer.concat([length, Buffer.from(text)]);
}

const REFUSED = 'SASL_AUTHENTICATION_FAILED';

function isRefusal(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, 'type') === REFUSED;
}

function refused(): Error {
  return Object.assign(new Error('A broker has refused a token.'), { type: REFUSED, retriable: false });
}
