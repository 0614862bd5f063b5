import { Fault } from '../kernel/fault.ts';
import { type Config, type ConfigFiles, longestTimeoutMs, toConfig } from './config.ts';
import { KAFKA_SECURITY_RULES } from './kafka-security.ts';
import { isPrivateOnTheWire } from './kinds.ts';
import { isSecretName, OPTION_NAMES, OPTIONS } from './options.ts';
import { type ConfigSource, contentFileOf, type ReadValues, readValues, secretFileOf } from './read.ts';
import { type Rule } from './rule.ts';
import { REGISTRY_TLS, SERVICE_TLS, tlsRules, unusedRule, WEBHOOK_TLS } from './tls.ts';
import { TRACING_RULES, tracingWarnings } from './tracing.ts';
import { judgeUnknownNames } from './unknown-names.ts';
import { type OptionName, type SecretName, type Values } from './values.ts';

const TOPICS = ['TOPIC_CREATED', 'TOPIC_AUTHORIZED', 'TOPIC_REVIEWS', 'TOPIC_SCORES'] as const;

function attemptFits(name: 'SERVICE_TIMEOUT_MS' | 'SYNC_TIMEOUT_MS'): Rule {
  return {
    over: [name, 'KAFKA_SESSION_TIMEOUT_MS'],
    judge: (values) => {
      const longestMs = longestTimeoutMs(values.KAFKA_SESSION_TIMEOUT_MS);
      const givenMs = values[name];
      if (givenMs === null || givenMs <= longestMs) return null;
      const session = String(values.KAFKA_SESSION_TIMEOUT_MS);
      return `${name}: ${String(givenMs)} is more than 0.3 of KAFKA_SESSION_TIMEOUT_MS (${session}); give at most ${String(longestMs)}, or lengthen the session.`;
    },
  };
}

function topicsDiffer(values: Values): string | null {
  const names = TOPICS.map((option) => values[option]).filter((topic) => topic !== '');
  const letters = names.map((topic) => topic + values.TOPIC_DLQ_SUFFIX);
  const all = [...names, ...letters];
  const twice = all.find((topic, index) => all.indexOf(topic) !== index);
  if (twice !== undefined)
    return `TOPIC_*: ${JSON.stringify(twice)} would be two topics at once; give each a name of its own.`;
  const long = letters.find((topic) => topic.length > 249);
  return long === undefined
    ? null
    : `TOPIC_DLQ_SUFFIX: ${JSON.stringify(long)} is longer than the 249 characters of a topic name.`;
}

const RULES: readonly Rule[] = [
  attemptFits('SERVICE_TIMEOUT_MS'),
  attemptFits('SYNC_TIMEOUT_MS'),
  { over: [...TOPICS, 'TOPIC_DLQ_SUFFIX'], judge: topicsDiffer },
  ...KAFKA_SECURITY_RULES,
  {
    over: ['SERVICE_BASE_URL', 'SERVICE_ALLOW_HTTP'],
    judge: ({ SERVICE_BASE_URL: baseUrl, SERVICE_ALLOW_HTTP: allowed }) =>
      baseUrl === '' || allowed || isPrivateOnTheWire(baseUrl)
        ? null
        : 'SERVICE_BASE_URL: http to another machine would show credentials and payments; give https, or set SERVICE_ALLOW_HTTP=true.',
  },
  {
    over: ['SCHEMA_REGISTRY_USERNAME', 'SCHEMA_REGISTRY_PASSWORD'],
    judge: ({ SCHEMA_REGISTRY_USERNAME: user, SCHEMA_REGISTRY_PASSWORD: password }) =>
      (user === '') === (password === '')
        ? null
        : 'SCHEMA_REGISTRY_USERNAME and SCHEMA_REGISTRY_PASSWORD: one without the other; give both or none.',
  },
  {
    over: ['BUFFER_MAX_BYTES', 'RECORD_MAX_BYTES'],
    judge: ({ BUFFER_MAX_BYTES: buffer, RECORD_MAX_BYTES: record }) =>
      buffer >= record
        ? null
        : `BUFFER_MAX_BYTES: ${String(buffer)} is less than RECORD_MAX_BYTES (${String(record)}); give at least that.`,
  },
  {
    over: ['BATCH_MAX_BYTES', 'RECORD_MAX_BYTES'],
    judge: ({ BATCH_MAX_BYTES: batch, RECORD_MAX_BYTES: record }) =>
      batch >= record
        ? null
        : `BATCH_MAX_BYTES: ${String(batch)} is less than RECORD_MAX_BYTES (${String(record)}); give at least that.`,
  },
  ...tlsRules(WEBHOOK_TLS),
  ...tlsRules(SERVICE_TLS),
  unusedRule('SERVICE_BASE_URL', SERVICE_TLS),
  ...tlsRules(REGISTRY_TLS),
  unusedRule('SCHEMA_REGISTRY_URL', REGISTRY_TLS),
  ...TRACING_RULES,
  {
    over: ['FLOWS', 'WEBHOOK_PORT', 'OPS_PORT'],
    judge: ({ FLOWS: flows, WEBHOOK_PORT: webhook, OPS_PORT: ops }) =>
      flows.includes('reviews') && webhook === ops && ops !== 0
        ? `WEBHOOK_PORT and OPS_PORT: both are ${String(ops)}; give each its own.`
        : null,
  },
];

function brokenRules(read: ReadValues): readonly string[] {
  return RULES.filter((rule) => !rule.over.some((name) => read.refused.has(name)))
    .map((rule) => rule.judge(read.values))
    .filter((problem) => problem !== null);
}

function warningsOf({ values, origins }: ReadValues): readonly string[] {
  const warnings: string[] = [];
  const scoring = values.FLOWS.includes('scoring');
  const sync = values.FLOWS.includes('sync');
  if (scoring !== sync) {
    warnings.push('FLOWS: scoring and sync are not in one process, so a status update may overtake its transaction.');
    if (origins.KAFKA_GROUP_ID === 'default')
      warnings.push('KAFKA_GROUP_ID: one of scoring and sync alone wants a group id of its own.');
  } else if (sync && values.SYNC_SCORE_WAIT_MS === 0)
    warnings.push('SYNC_SCORE_WAIT_MS: 0 lets a status update overtake its transaction.');
  // Whatever the flows are: `replay` sends updates with the same configuration.
  if (dependsOnMemory(values))
    warnings.push(
      'SYNC_UNKNOWN_METHOD: an update without pmt_method is judged by the payment, which only the process that scored it remembers. After a restart or in a replay it counts as a card, and may become a dead letter. Write pmt_method into the updates, or set SYNC_UNKNOWN_METHOD=send.',
    );
  const registryUrl = values.SCHEMA_REGISTRY_URL;
  if (values.SCHEMA_REGISTRY_PASSWORD !== '' && registryUrl !== '' && !isPrivateOnTheWire(registryUrl))
    warnings.push('SCHEMA_REGISTRY_URL: http to another machine shows the password of the registry.');
  const proxyUrl = values.SERVICE_PROXY_URL;
  if (proxyUrl.includes('@') && !isPrivateOnTheWire(proxyUrl))
    warnings.push('SERVICE_PROXY_URL: http to another machine shows the password of the proxy.');
  if (values.WEBHOOK_SECRETS.some((secret) => Buffer.byteLength(secret) < SAFE_SECRET_BYTES))
    warnings.push(
      'WEBHOOK_SECRETS: one is shorter than 24 bytes and easier to guess; ask the service for a longer one. If it was cut at a comma, give it in the file of WEBHOOK_SECRETS_FILE.',
    );
  return warnings;
}

/** Whether the end of an update without `pmt_method` depends on what the process has scored. */
function dependsOnMemory(values: Values): boolean {
  const asksForMethod = values.SYNC_CHARGEBACK_PROTECTION || values.SYNC_DECLINE_REASON_REQUIRED === 'card';
  return asksForMethod && values.SYNC_CARD_METHODS.length > 0 && values.SYNC_UNKNOWN_METHOD === 'card';
}

/** A secret with fewer bytes is taken, since the service chooses it, with a warning. */
const SAFE_SECRET_BYTES = 24;

/** What other programs take a proxy from. Whoever sets one here may think that it is used. */
const PROXY_VARIABLES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'];

function proxyWarnings(env: Readonly<Record<string, string | undefined>>, { values }: ReadValues): readonly string[] {
  const calls = values.FLOWS.includes('scoring') || values.FLOWS.includes('sync');
  const given = PROXY_VARIABLES.find((name) => (env[name] ?? '') !== '');
  if (!calls || given === undefined || values.SERVICE_PROXY_URL !== '') return [];
  return [`${given}: not used; set SERVICE_PROXY_URL if the service is reached through a proxy.`];
}

/** Node's own switch. Anything but 1 was meant to turn the check off, or might be taken for it. */
function certificateCheckProblem(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const given = env['NODE_TLS_REJECT_UNAUTHORIZED'] ?? '';
  if (given === '' || given === '1') return [];
  return ['NODE_TLS_REJECT_UNAUTHORIZED: certificates are always checked here; leave it out, or set it to 1.'];
}

/** What was read, and everything that is to be said of it. */
export interface JudgedConfig {
  readonly read: ReadValues;
  /** A line each: the option, what is wrong (never a secret's value), what is accepted. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Reads a configuration and judges it as a whole; throws nothing. */
export function judgeConfig(source: ConfigSource): JudgedConfig {
  const { env, envFile } = source;
  const read = readValues(source);
  const all = { ...envFile?.values, ...env };
  const unknown = judgeUnknownNames(all, read.values.CONFIG_STRICT);
  const problems = [
    ...(envFile?.problems ?? []),
    ...read.refused.values(),
    ...brokenRules(read),
    ...unknown.problems,
    ...certificateCheckProblem(all),
  ];
  const warnings = [
    ...(envFile?.warnings ?? []),
    ...warningsOf(read),
    ...tracingWarnings(read.values),
    ...proxyWarnings(env, read),
    ...unknown.warnings,
  ];
  return { read, problems, warnings };
}

function filesOf(source: ConfigSource): ConfigFiles {
  const secrets = new Map<SecretName, string>();
  const texts = new Map<OptionName, string>();
  for (const name of OPTION_NAMES) {
    const path = OPTIONS[name].fromFile ? contentFileOf(source, name) : null;
    const secretPath = isSecretName(name) ? secretFileOf(source, name) : undefined;
    if (path !== null) texts.set(name, path);
    if (isSecretName(name) && secretPath !== undefined) secrets.set(name, secretPath);
  }
  return { secrets, texts };
}

/**
 * The configuration that an environment describes, or ONE `Fault` CONFIG_INVALID whose message has a line for every
 * problem: the option, what is wrong (never a secret's value), what is accepted.
 */
export function loadConfig(source: ConfigSource): { readonly config: Config; readonly warnings: readonly string[] } {
  const { read, problems, warnings } = judgeConfig(source);
  if (problems.length > 0) {
    const count = problems.length === 1 ? 'One option is' : `${String(problems.length)} options are`;
    throw new Fault(
      'CONFIG_INVALID',
      [`${count} missing or wrong:`, ...problems.map((line) => `  ${line}`)].join('\n'),
    );
  }
  return { config: toConfig(read.values, filesOf(source)), warnings };
}
