import { expect, test } from 'vitest';
import { tlsFailureOf, tlsOptions } from '../../../../src/edges/http-server/tls.ts';

test('no version before 1.2 is spoken, whatever the defaults of Node and of OpenSSL', () => {
  expect(tlsOptions({ certificate: '', key: '' })).toMatchObject({
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
  });
});

test.each([
  ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', 'certificate_refused'],
  ['ERR_SSL_SSL/TLS_ALERT_UNKNOWN_CA', 'certificate_refused'],
  ['ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED', 'certificate_refused'],
  ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'certificate_refused'],
  ['ERR_SSL_UNSUPPORTED_PROTOCOL', 'no_common_version'],
  ['ERR_SSL_NO_SHARED_CIPHER', 'no_common_version'],
  ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'no_common_version'],
  ['ERR_SSL_HTTP_REQUEST', 'plain_http'],
  ['ERR_TLS_HANDSHAKE_TIMEOUT', 'too_slow'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', 'other'],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', 'other'],
  ['HPE_INVALID_METHOD', null],
  ['ERR_HTTP_REQUEST_TIMEOUT', null],
  ['ECONNRESET', null],
  [undefined, null],
])('of a connection that ended with %s it says %s', (code, why) => {
  expect(tlsFailureOf(code)).toBe(why);
});
