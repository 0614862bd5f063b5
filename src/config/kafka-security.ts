import { hostOf, isLoopback } from './loopback.ts';
import { type Rule } from './rule.ts';
import { type TlsFiles, type TlsOptions, tlsFilesOf, tlsRules } from './tls.ts';
import { type OptionName, type SaslMechanism, type Values } from './values.ts';

/** TLS towards the brokers. */
export const KAFKA_TLS = {
  authorities: 'KAFKA_TLS_CA_FILE',
  certificate: 'KAFKA_TLS_CERT_FILE',
  key: 'KAFKA_TLS_KEY_FILE',
} as const satisfies TlsOptions;

/** Who this client says it is, and how it proves that. */
export type KafkaSasl =
  | {
      readonly mechanism: Exclude<SaslMechanism, 'oauthbearer'>;
      readonly username: string;
      readonly password: string;
    }
  | {
      readonly mechanism: 'oauthbearer';
      readonly tokenUrl: string;
      readonly clientId: string;
      readonly clientSecret: string;
      /** Null: none is asked for. */
      readonly scope: string | null;
    };

/** How the brokers are reached. */
export interface KafkaSecurity {
  /** Null: in plain text. */
  readonly tls: TlsFiles | null;
  /** Null: nobody says who they are, but perhaps by a certificate. */
  readonly sasl: KafkaSasl | null;
}

/** What checked values say of it. `paths`: where the value of each option was read. */
export function kafkaSecurityOf(values: Values, paths: ReadonlyMap<OptionName, string>): KafkaSecurity {
  return { tls: values.KAFKA_TLS ? tlsFilesOf(values, paths, KAFKA_TLS) : null, sasl: saslOf(values) };
}

function saslOf(values: Values): KafkaSasl | null {
  const { KAFKA_SASL_MECHANISM: mechanism } = values;
  if (mechanism === 'none') return null;
  if (mechanism !== 'oauthbearer')
    return { mechanism, username: values.KAFKA_SASL_USERNAME, password: values.KAFKA_SASL_PASSWORD };
  return {
    mechanism,
    tokenUrl: values.KAFKA_SASL_OAUTH_TOKEN_URL,
    clientId: values.KAFKA_SASL_OAUTH_CLIENT_ID,
    clientSecret: values.KAFKA_SASL_OAUTH_CLIENT_SECRET,
    scope: values.KAFKA_SASL_OAUTH_SCOPE === '' ? null : values.KAFKA_SASL_OAUTH_SCOPE,
  };
}

const PASSWORD_OPTIONS = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD'] as const;
const TOKEN_OPTIONS = [
  'KAFKA_SASL_OAUTH_TOKEN_URL',
  'KAFKA_SASL_OAUTH_CLIENT_ID',
  'KAFKA_SASL_OAUTH_CLIENT_SECRET',
] as const;
const SCOPE = 'KAFKA_SASL_OAUTH_SCOPE';
const TLS_FILES = Object.values(KAFKA_TLS);
/** Mechanisms that show the broker, and whoever listens, what they prove themselves with. */
const SHOWING: ReadonlySet<string> = new Set<SaslMechanism>(['plain', 'oauthbearer']);

function offMachineInPlain({
  KAFKA_BROKERS: brokers,
  KAFKA_TLS: tls,
  KAFKA_ALLOW_PLAINTEXT: allowed,
}: Values): string | null {
  const off = tls || allowed ? undefined : brokers.find((broker) => !isLoopback(hostOf(broker)));
  if (off === undefined) return null;
  return `KAFKA_BROKERS: ${JSON.stringify(off)} is not on this machine and would be used without TLS; set KAFKA_TLS=true, or KAFKA_ALLOW_PLAINTEXT=true if the network is trusted.`;
}

function shownInPlain({
  KAFKA_SASL_MECHANISM: mechanism,
  KAFKA_TLS: tls,
  KAFKA_ALLOW_PLAINTEXT: allowed,
}: Values): string | null {
  if (tls || allowed || !SHOWING.has(mechanism)) return null;
  const what = mechanism === 'plain' ? 'the password' : 'the token';
  return `KAFKA_SASL_MECHANISM: ${mechanism} without TLS shows ${what} on the network; set KAFKA_TLS=true, or KAFKA_ALLOW_PLAINTEXT=true if the network is trusted.`;
}

function filesWithoutTls(values: Values): string | null {
  const given = values.KAFKA_TLS ? [] : TLS_FILES.filter((name) => values[name] !== null);
  return given.length === 0
    ? null
    : `${given.join(', ')}: KAFKA_TLS is off, so nothing would be checked by it; set KAFKA_TLS=true, or leave it out.`;
}

function orFile(name: OptionName): string {
  return name === 'KAFKA_SASL_PASSWORD' || name === 'KAFKA_SASL_OAUTH_CLIENT_SECRET'
    ? `${name} (or ${name}_FILE)`
    : name;
}

function credentialsFit(values: Values): string | null {
  const { KAFKA_SASL_MECHANISM: mechanism } = values;
  const needed: readonly OptionName[] =
    mechanism === 'none' ? [] : mechanism === 'oauthbearer' ? TOKEN_OPTIONS : PASSWORD_OPTIONS;
  const missing = needed.filter((name) => values[name] === '').map(orFile);
  if (missing.length > 0)
    return `KAFKA_SASL_MECHANISM: ${mechanism} needs ${missing.join(', ')}; give what is missing.`;
  const all: readonly OptionName[] = [...PASSWORD_OPTIONS, ...TOKEN_OPTIONS, SCOPE];
  const others = all.filter(
    (name) => !needed.includes(name) && !(name === SCOPE && mechanism === 'oauthbearer') && values[name] !== '',
  );
  return others.length === 0
    ? null
    : `${others.join(', ')}: not used, because KAFKA_SASL_MECHANISM is ${mechanism}; set the mechanism, or leave it out.`;
}

/** What has to be true of how the brokers are reached. */
export const KAFKA_SECURITY_RULES: readonly Rule[] = [
  { over: ['KAFKA_BROKERS', 'KAFKA_TLS', 'KAFKA_ALLOW_PLAINTEXT'], judge: offMachineInPlain },
  { over: ['KAFKA_SASL_MECHANISM', 'KAFKA_TLS', 'KAFKA_ALLOW_PLAINTEXT'], judge: shownInPlain },
  { over: ['KAFKA_TLS', ...TLS_FILES], judge: filesWithoutTls },
  { over: ['KAFKA_SASL_MECHANISM', ...PASSWORD_OPTIONS, ...TOKEN_OPTIONS, SCOPE], judge: credentialsFit },
  ...tlsRules(KAFKA_TLS),
];
