import kafkajs, { type LogEntry } from 'kafkajs';
import { type Emit } from '../../kernel/emit.ts';
import { brokerErrorOf } from './errors.ts';

const { logLevel } = kafkajs;

/**
 * What of kafkajs' log is passed on: the namespace and one of these beginnings, nothing that follows. Its texts and
 * payloads hold host names, topics and group members.
 */
const KNOWN: readonly (readonly [namespace: string, beginning: string])[] = [
  ['Consumer', 'Crash:'],
  ['ConsumerGroup', 'Consumer group received unsubscribed topics'],
  ['Runner', 'The coordinator is not aware of this member, re-joining the group'],
  ['Connection', 'Connection error'],
  ['Connection', 'Connection timeout'],
  ['Connection', 'Failed to authenticate'],
  ['BrokerPool', 'Failed to connect to seed broker'],
  ['BrokerPool', 'Failed to connect to broker'],
  ['RequestQueue', 'Response without match'],
  ['SaslAuthenticator-PLAIN', 'SASL PLAIN authentication failed'],
  ['SaslAuthenticator-SCRAM-SHA-256', 'SASL SCRAM SHA256 authentication failed'],
  ['SaslAuthenticator-SCRAM-SHA-512', 'SASL SCRAM SHA512 authentication failed'],
];

/** Said by the source or the writer in their own words, or the daily course of a group. */
const SILENT: ReadonlySet<string> = new Set([
  'Producer',
  'Runner',
  'Connection',
  'Consumer',
  'Cluster',
  'Admin',
  'BrokerPool',
]);

/** Told when kafkajs says that a consumer has crashed: long before its event, which waits for the disconnect. */
export type CrashListener = (errorName: string) => void;

/** The class of the error in kafkajs' line about a crash, and its text, which goes no further than its name is known. */
const CRASH = /^Crash: ([A-Za-z]{1,60}): ?(.*)$/s;

/** Takes kafkajs' log: passes on what is on the list, by name only, and an error of an unlisted kind as `unlisted`. */
export function createLogSink(emit: Emit, onCrash: CrashListener): (entry: LogEntry) => void {
  return ({ namespace, level, log }) => {
    if (level > logLevel.WARN) return;
    // Of a failed connection it passes the error itself on as the message.
    const text: unknown = log.message;
    const said = typeof text === 'string' ? text : '';
    const crash = namespace === 'Consumer' ? CRASH.exec(said) : null;
    if (crash !== null) onCrash(nameOfCrash(crash[1] ?? '', crash[2] ?? ''));
    const message = toKnown(namespace, said);
    if (message !== null) emit('kafka_log', { severity: level === logLevel.ERROR ? 'error' : 'warn', message });
  };
}

function nameOfCrash(errorClass: string, text: string): string {
  const code = brokerErrorOf(text);
  return code === null ? errorClass : `${errorClass} ${code}`;
}

function toKnown(namespace: string, message: string): string | null {
  const known = KNOWN.find(([of, beginning]) => of === namespace && message.startsWith(beginning));
  if (known !== undefined) return `${known[0]}: ${known[1].replace(/:$/, '')}`;
  return SILENT.has(namespace) ? null : `${namespace.replace(/\d+$/, '').trim()}: unlisted`;
}
