import { createRequire } from 'node:module';
import { nameOf } from '../../kernel/fault.ts';

/** Names of network errors and broker's answers are upper case with underscores; nothing else is let through. */
const STABLE = /^[A-Z][A-Z0-9_]{2,60}$/;

/**
 * What may be shown of an error of kafkajs: the class of the outermost, and the broker's or the system's own name for the
 * cause. The class alone lies: it calls lost connections not retriable.
 */
export function kafkaErrorName(error: unknown): string {
  const code = causeCode(error);
  const name = code === null ? nameOf(error) : `${nameOf(error)} ${code}`;
  const rights = error instanceof Error ? (needed.get(error) ?? {}) : {};
  return withRights(name, rights);
}

/** An operation of Kafka's authorizer, and the resources that it is to be allowed on. */
export type Right = readonly [operation: string, ...names: readonly string[]];

/** The rights that a request needs. */
export interface Rights {
  readonly topic?: Right;
  readonly group?: Right;
  readonly cluster?: Right;
}

const REFUSALS: readonly (readonly [code: string, of: keyof Rights])[] = [
  ['TOPIC_AUTHORIZATION_FAILED', 'topic'],
  ['GROUP_AUTHORIZATION_FAILED', 'group'],
  ['CLUSTER_AUTHORIZATION_FAILED', 'cluster'],
];
const needed = new WeakMap<Error, Rights>();

/** Whether an error of this name means that a right is missing. */
export function isMissingRight(name: string): boolean {
  return REFUSALS.some(([code]) => name.includes(code));
}

/** Remembers what an operation that failed needed, so that the name of a refusal says what is missing. Answers the error. */
export function needing(error: unknown, rights: Rights): unknown {
  if (error instanceof Error && !needed.has(error)) needed.set(error, rights);
  return error;
}

/** The name of an error, with what was needed where a right is missing: `… TOPIC_AUTHORIZATION_FAILED (missing ACL: Read on topic a)`. */
export function withRights(name: string, rights: Rights): string {
  const kind = REFUSALS.find(([code]) => name.endsWith(code))?.[1];
  const [operation, ...names] = (kind === undefined ? undefined : rights[kind]) ?? [];
  if (kind === undefined || operation === undefined) return name;
  return `${name} (missing ACL: ${[operation, 'on', kind, names.join(', ')].join(' ').trimEnd()})`;
}

const CUT: ReadonlySet<unknown> = new Set(['KafkaJSConnectionClosedError', 'ECONNRESET', 'EPIPE']);

/** Whether an open connection was closed in place of an answer. */
export function isConnectionCut(error: unknown): boolean {
  for (let at: unknown = error; at instanceof Error; at = Reflect.get(at, 'cause') ?? Reflect.get(at, 'originalError'))
    if (CUT.has(at.name) || CUT.has(Reflect.get(at, 'code'))) return true;
  return false;
}

/** The broker's (`type`) or the system's (`code`) name for what went wrong, from the innermost cause that has one. */
export function causeCode(error: unknown): string | null {
  let found: string | null = null;
  let at: unknown = error;
  for (let depth = 0; depth < 8 && at instanceof Error; depth += 1) {
    found = stable(Reflect.get(at, 'type')) ?? stable(Reflect.get(at, 'code')) ?? REFUSED_LOGINS[at.name] ?? found;
    at = Reflect.get(at, 'cause') ?? Reflect.get(at, 'originalError') ?? firstOf(at);
  }
  return found;
}

/** kafkajs keeps only the text of a refused authentication. */
const REFUSED_LOGINS: Readonly<Record<string, string>> = {
  KafkaJSSASLAuthenticationError: 'SASL_AUTHENTICATION_FAILED',
};

/** Of several errors in one: all were met in one request, and are of one kind as a rule. */
function firstOf(error: Error): unknown {
  const errors: unknown = Reflect.get(error, 'errors');
  const groups: unknown = Reflect.get(error, 'groups');
  if (Array.isArray(errors)) return errors[0];
  return Array.isArray(groups) ? Reflect.get(Object(groups[0]) as object, 'error') : undefined;
}

interface BrokerError {
  readonly code: number;
  /** The name Kafka's protocol has for it. */
  readonly type: string;
  readonly message: string;
}

let brokerErrors: readonly BrokerError[] | null = null;

/** The name of the broker's answer that kafkajs has this text for; null: none of its texts. */
export function brokerErrorOf(text: string): string | null {
  return knownErrors().find(({ message }) => message === text)?.type ?? null;
}

/** The name of an error code that a broker has answered. */
export function nameOfAnswer(code: number): string {
  return knownErrors().find((known) => known.code === code)?.type ?? `ERROR_${String(code)}`;
}

function knownErrors(): readonly BrokerError[] {
  brokerErrors ??= readErrors();
  return brokerErrors;
}

function readErrors(): readonly BrokerError[] {
  try {
    const { errorCodes } = createRequire(import.meta.url)('kafkajs/src/protocol/error') as {
      readonly errorCodes: readonly BrokerError[];
    };
    return errorCodes;
  } catch {
    return [];
  }
}

function stable(value: unknown): string | null {
  return typeof value === 'string' && STABLE.test(value) ? value : null;
}
