import { choice, endpoint, flag, type Option, secret, text, textFile } from './kinds.ts';
import { type Values } from './values.ts';

type Name = Extract<keyof Values, `KAFKA_TLS${string}` | `KAFKA_SASL_${string}`>;

const WORD = { accepts: 'a text of printable characters', pattern: /^\P{Cc}{1,255}$/u, quotable: false };

/** How the brokers are reached safely, and how this client says who it is: rows of the table of options. */
export const KAFKA_SECURITY_OPTIONS: { readonly [N in Name]: Option<Values[N]> } = {
  KAFKA_TLS: flag({
    absent: false,
    doc: 'Brokers are spoken to in TLS (1.2 or newer), and have to show a certificate for the name they are reached by.',
  }),
  KAFKA_TLS_CA_FILE: textFile({
    doc: "Authorities whose certificates are believed, in PEM. None: this machine's. Read again when the file changes, as the next two are; it counts at the next connection.",
  }),
  KAFKA_TLS_CERT_FILE: textFile({
    doc: 'Certificate that is shown to brokers which ask for one, in PEM: its own first, then those that lead to its authority.',
  }),
  KAFKA_TLS_KEY_FILE: textFile({ doc: 'Private key of that certificate in PEM, not encrypted.' }),
  KAFKA_SASL_MECHANISM: choice({
    of: ['none', 'plain', 'scram-sha-256', 'scram-sha-512', 'oauthbearer'],
    absent: 'none',
    doc: 'How this client says who it is (docs/kafka-security.md). `plain` and `oauthbearer` show what they prove themselves with, so they want TLS.',
  }),
  KAFKA_SASL_USERNAME: text({ ...WORD, doc: 'For `plain` and `scram-sha-…`.' }),
  KAFKA_SASL_PASSWORD: secret({ doc: 'Belongs to `KAFKA_SASL_USERNAME`.' }),
  KAFKA_SASL_OAUTH_TOKEN_URL: endpoint({
    doc: 'For `oauthbearer`: where tokens are asked for (RFC 6749, section 4.4). https, or http to this machine.',
  }),
  KAFKA_SASL_OAUTH_CLIENT_ID: text({ ...WORD, doc: 'Who asks for tokens.' }),
  KAFKA_SASL_OAUTH_CLIENT_SECRET: secret({ doc: 'Belongs to `KAFKA_SASL_OAUTH_CLIENT_ID`.' }),
  KAFKA_SASL_OAUTH_SCOPE: text({ ...WORD, doc: 'The scope that is asked for. None: the one that the server gives.' }),
};
