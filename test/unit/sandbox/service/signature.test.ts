import { expect, test } from 'vitest';
import { signWebhook } from '../../../../src/sandbox/service/signature.ts';

const SECRET = 'a secret as it is shown in the web account';
const BODY = Buffer.from('{"type":"txn_manual_review","data":{}}');

test('signs the timestamp and then the body, as OpenSSL does', () => {
  expect(signWebhook(SECRET, '2017-07-21T17:32:28Z', BODY)).toBe(
    'e08c4c492d2a059133ab63cec2302d03bdda6a7e43f1dd475272bdccaa998022',
  );
});

test('another timestamp, body or secret gives another signature', () => {
  const signatures = [
    signWebhook(SECRET, '2017-07-21T17:32:28Z', BODY),
    signWebhook(SECRET, '2017-07-21T17:32:29Z', BODY),
    signWebhook(SECRET, '2017-07-21T17:32:28Z', Buffer.from('{}')),
    signWebhook(`${SECRET} `, '2017-07-21T17:32:28Z', BODY),
  ];
  expect(new Set(signatures).size).toBe(4);
});
