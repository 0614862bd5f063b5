import { expect, test } from 'vitest';
import { connectionTrouble } from '../../../../src/app/doctor/connection-trouble.ts';

test.each([
  ['Error ECONNREFUSED'],
  ['timeout'],
  ['no answer within 5 s'],
  ['ConnectTimeoutError UND_ERR_CONNECT_TIMEOUT'],
  [''],
])('says nothing more of %j', (failed) => {
  expect(connectionTrouble('service', failed)).toBeNull();
});

test.each([
  ['Error UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'not trusted here', 'SERVICE_TLS_CA_FILE'],
  ['Error DEPTH_ZERO_SELF_SIGNED_CERT', 'not trusted here', 'SERVICE_TLS_CA_FILE'],
  ['Error CERT_HAS_EXPIRED', 'has expired', 'clock'],
  ['Error CERT_NOT_YET_VALID', 'not valid yet', 'clock'],
  ['Error ERR_TLS_CERT_ALTNAME_INVALID', 'another host name', 'SERVICE_BASE_URL'],
  ['Error ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'asks for a certificate', 'SERVICE_TLS_CERT_FILE'],
  ['Error ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', 'asks for a certificate', 'SERVICE_TLS_KEY_FILE'],
  ['Error ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'no TLS of version 1.2', 'TLS 1.2'],
  ['Error ERR_SSL_UNSUPPORTED_PROTOCOL', 'no TLS of version 1.2', 'TLS 1.2'],
  ['Error ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS', 'port of SERVICE_BASE_URL'],
  ['Error PROXY_407', 'user name or password', 'SERVICE_PROXY_URL'],
  ['Error PROXY_403', 'lets nobody through', 'SERVICE_BASE_URL'],
  ['Error PROXY_502', 'does not reach it', 'SERVICE_BASE_URL'],
  ['Error PROXY_ECONNREFUSED', 'does not open a tunnel', 'SERVICE_PROXY_URL'],
  ['Error PROXY_CERT_HAS_EXPIRED', 'does not open a tunnel', 'SERVICE_PROXY_URL'],
])('of %s it says what it means and where to mend it', (failed, text, mend) => {
  const trouble = connectionTrouble('service', failed);
  expect(trouble?.text).toContain(text);
  expect(trouble?.mend).toContain(mend);
});

test('of the registry it names the options of the registry', () => {
  const failed = 'The schema registry does not answer (Error SELF_SIGNED_CERT_IN_CHAIN).';
  expect(connectionTrouble('registry', failed)?.mend).toContain('SCHEMA_REGISTRY_TLS_CA_FILE');
  expect(connectionTrouble('registry', 'Error ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED')?.mend).not.toContain('_FILE');
});
