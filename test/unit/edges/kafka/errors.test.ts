import kafkajs from 'kafkajs';
import { describe, expect, test } from 'vitest';
import { describing, eachTopic } from '../../../../src/edges/kafka/each-topic.ts';
import {
  isConnectionCut,
  isMissingRight,
  kafkaErrorName,
  needing,
  withRights,
} from '../../../../src/edges/kafka/errors.ts';

const { KafkaJSNonRetriableError, KafkaJSNumberOfRetriesExceeded } = kafkajs;

function refused(type: string): Error {
  return Object.assign(new Error('a secret'), { name: 'KafkaJSProtocolError', type });
}

describe('a connection that was cut', () => {
  const cut = Object.assign(new Error('Closed connection'), { name: 'KafkaJSConnectionClosedError' });
  const reset = Object.assign(new Error('read ECONNRESET'), { name: 'KafkaJSConnectionError', code: 'ECONNRESET' });
  const given = new KafkaJSNumberOfRetriesExceeded(cut, { retryCount: 0, retryTime: 1 });

  test.each([cut, reset, given])('is told, also as the cause of what kafkajs says: $name', (error) => {
    expect(isConnectionCut(error)).toBe(true);
  });

  test.each([
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('timed out'), { name: 'KafkaJSRequestTimeoutError' }),
    refused('MESSAGE_TOO_LARGE'),
    'no error',
  ])('is not one that never was, or no answer: %s', (error) => {
    expect(isConnectionCut(error)).toBe(false);
  });
});

describe('the name of an error', () => {
  test('tells a refused login, of which kafkajs keeps the text only', () => {
    const login = Object.assign(new Error('a secret'), { name: 'KafkaJSSASLAuthenticationError' });
    expect(kafkaErrorName(login)).toBe('KafkaJSSASLAuthenticationError SASL_AUTHENTICATION_FAILED');
    const given = new KafkaJSNumberOfRetriesExceeded(login, { retryCount: 1, retryTime: 1 });
    expect(kafkaErrorName(given)).toBe('KafkaJSNumberOfRetriesExceeded SASL_AUTHENTICATION_FAILED');
  });

  test('tells the first of several errors in one', () => {
    const both = Object.assign(new Error('both'), { errors: [refused('TOPIC_AUTHORIZATION_FAILED'), new Error('x')] });
    expect(kafkaErrorName(both)).toBe('Error TOPIC_AUTHORIZATION_FAILED');
    const groups = Object.assign(new Error('x'), { groups: [{ error: refused('GROUP_AUTHORIZATION_FAILED') }] });
    expect(kafkaErrorName(groups)).toBe('Error GROUP_AUTHORIZATION_FAILED');
  });

  test('tells what right is missing, where that is known', () => {
    const rights = { topic: ['Describe', 'a', 'b'], group: ['Read', 'g'] } as const;
    const name = (type: string): string => kafkaErrorName(needing(refused(type), rights));
    expect(name('TOPIC_AUTHORIZATION_FAILED')).toBe(
      'KafkaJSProtocolError TOPIC_AUTHORIZATION_FAILED (missing ACL: Describe on topic a, b)',
    );
    expect(name('GROUP_AUTHORIZATION_FAILED')).toContain('(missing ACL: Read on group g)');
    expect(name('CLUSTER_AUTHORIZATION_FAILED')).toBe('KafkaJSProtocolError CLUSTER_AUTHORIZATION_FAILED');
    expect(name('NOT_CONTROLLER')).toBe('KafkaJSProtocolError NOT_CONTROLLER');
  });

  test('keeps what was said first of the rights that it needs', () => {
    const error = needing(refused('TOPIC_AUTHORIZATION_FAILED'), describing('a'));
    expect(kafkaErrorName(needing(error, describing('b')))).toContain('on topic a)');
  });

  test('of a crash, which is a text, is completed alike', () => {
    const name = `${new KafkaJSNonRetriableError('x').name} TOPIC_AUTHORIZATION_FAILED`;
    expect(withRights(name, { topic: ['Read', 'a'] })).toBe(`${name} (missing ACL: Read on topic a)`);
    expect(withRights('ECONNREFUSED', { topic: ['Read', 'a'] })).toBe('ECONNREFUSED');
    expect(isMissingRight(`${name} (missing ACL: Read on topic a)`)).toBe(true);
    expect(isMissingRight('KafkaJSSASLAuthenticationError SASL_AUTHENTICATION_FAILED')).toBe(false);
  });
});

async function ask(topic: string): Promise<string> {
  await Promise.resolve();
  if (topic.startsWith('secret')) throw refused('TOPIC_AUTHORIZATION_FAILED');
  if (topic === 'away') throw new Error('away');
  return topic.toUpperCase();
}

describe('questions about several topics', () => {
  test('name every one that may not be asked about, whatever else fails', async () => {
    const error: unknown = await eachTopic(['away', 'secret.b', 'open', 'secret.a'], ask).catch(
      (thrown: unknown) => thrown,
    );
    expect(kafkaErrorName(error)).toContain('(missing ACL: Describe on topic secret.a, secret.b)');
  });

  test('fail as one of them does, else answer in their order', async () => {
    await expect(eachTopic(['open', 'away'], ask)).rejects.toThrow('away');
    expect(await eachTopic(['b', 'a'], ask)).toEqual(['B', 'A']);
  });
});
