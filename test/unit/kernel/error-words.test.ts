import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { errorWords } from '../../../src/kernel/error-words.ts';
import { Fault, nameOf } from '../../../src/kernel/fault.ts';

describe('of a text about an error', () => {
  test.each([
    '',
    'topic missing',
    'group payments-EU is new: 4711 records would be sent',
    'card 4111111111111111 of alice@example.org',
    'SECRET_TOKEN ECONNREFUSED2 EU_PAYMENTS xKafkaJSError',
    'status_999',
  ])('nothing passes that is no class or code of the lists: %s', (text) => {
    expect(errorWords(text)).toBeNull();
  });

  test.each([
    [
      'Kafka at kafka-1.shop.example:9092: topics failed: KafkaJSConnectionError ECONNREFUSED.',
      'KafkaJSConnectionError ECONNREFUSED',
    ],
    [
      'KafkaJSProtocolError TOPIC_AUTHORIZATION_FAILED (missing ACL: Read on topic PAYMENTS)',
      'KafkaJSProtocolError TOPIC_AUTHORIZATION_FAILED',
    ],
    ['The schema registry does not answer (status 503).', 'status_503'],
    ['The registry did not answer for payments-value: timeout.', 'timeout'],
    ['TypeError UND_ERR_SOCKET', 'TypeError UND_ERR_SOCKET'],
    ['CERT_HAS_EXPIRED, then CERT_HAS_EXPIRED', 'CERT_HAS_EXPIRED'],
    ['PROXY_407', 'PROXY_407'],
    [nameOf(new Fault('KAFKA_FAILED', 'for customer 12')), 'Fault KAFKA_FAILED'],
  ])('its class and code pass: %s', (text, words) => {
    expect(errorWords(text)).toBe(words);
  });

  test('every word that passes is one of its own', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        for (const word of errorWords(text)?.split(' ') ?? [])
          expect(text.replaceAll('status ', 'status_')).toContain(word);
      }),
    );
  });
});

test('whatever a broker answers has a name that passes', () => {
  const { errorCodes } = createRequire(import.meta.url)('kafkajs/src/protocol/error') as {
    readonly errorCodes: readonly { readonly type: string }[];
  };
  expect(errorCodes.length).toBeGreaterThan(80);
  expect(errorCodes.map(({ type }) => type).filter((type) => errorWords(type) !== type)).toEqual([]);
});

test('whatever the Kafka client throws has a class that passes', () => {
  const classes = createRequire(import.meta.url)('kafkajs/src/errors') as Readonly<Record<string, unknown>>;
  const names = Object.keys(classes).filter((name) => name.startsWith('KafkaJS'));
  expect(names.length).toBeGreaterThan(25);
  expect(names.filter((name) => errorWords(name) !== name)).toEqual([]);
});
