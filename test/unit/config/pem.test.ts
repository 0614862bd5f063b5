import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { authoritiesProblem, certificateProblem, keyProblem, readKeyPair } from '../../../src/config/pem.ts';
import { selfSigned } from '../../support/certificates.ts';

const UNTIL_MS = Date.UTC(2040, 0, 2, 3, 4, 5);
const GOOD = selfSigned({ untilMs: UNTIL_MS });
const OTHER = selfSigned();
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const ENCRYPTED = privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'canary' });
const WEAK = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const BROKEN = '-----BEGIN CERTIFICATE-----\ncanary\n-----END CERTIFICATE-----\n';

describe('refuses, and shows nothing of the texts', () => {
  test.each([
    ['a text that is none', 'canary', GOOD.key, 'certificate', 'no certificate in PEM'],
    ['one that is cut off', GOOD.certificate.slice(0, 300), GOOD.key, 'certificate', 'no certificate in PEM'],
    ['a key for a certificate', GOOD.key, GOOD.key, 'certificate', 'no certificate in PEM'],
    ['a certificate for a key', GOOD.certificate, GOOD.certificate, 'key', 'no private key in PEM'],
    ['a key that is encrypted', GOOD.certificate, ENCRYPTED, 'key', 'encrypted'],
    ['a key of another certificate', GOOD.certificate, OTHER.key, 'both', 'does not belong'],
    ['a weak key of another certificate', GOOD.certificate, WEAK, 'both', 'does not belong'],
    ['the chain before the own one', OTHER.certificate + GOOD.certificate, GOOD.key, 'both', 'the one to show'],
    ['a chain that is broken', GOOD.certificate + BROKEN, GOOD.key, 'both', 'one behind the first is broken'],
  ])('%s', (_name, certificate, key, of, problem) => {
    const read = readKeyPair(certificate, key);
    expect('problem' in read && [read.of, read.problem]).toEqual([of, expect.stringContaining(problem)]);
    expect(JSON.stringify(read)).not.toMatch(/canary|BEGIN|MII/);
  });

  test('each text by itself, where the two are looked at apart', () => {
    expect([certificateProblem('canary'), keyProblem('canary')]).toEqual([
      'holds no certificate in PEM',
      'holds no private key in PEM',
    ]);
    expect([certificateProblem(GOOD.certificate), keyProblem(OTHER.key)]).toEqual([null, null]);
  });

  test.each([
    ['a text that is none', 'canary', 'no certificate in PEM'],
    ['one that is cut off', GOOD.certificate.slice(0, 300), 'cannot be read: number 1'],
    ['a broken one behind a good one', GOOD.certificate + BROKEN, 'cannot be read: number 2'],
    ['a key beside them', GOOD.certificate + GOOD.key, 'a private key'],
  ])('authorities: %s', (_name, authorities, problem) => {
    expect(authoritiesProblem(authorities)).toContain(problem);
    expect(authoritiesProblem(authorities)).not.toMatch(/canary|BEGIN|MII/);
  });
});

test.each([
  ['a certificate and its key', GOOD.certificate],
  ['one with others behind it', GOOD.certificate + OTHER.certificate],
  ['one with a text before it', `subject=hooks\n${GOOD.certificate}`],
  ['one with other line ends', GOOD.certificate.replaceAll('\n', '\r\n')],
])('takes %s, and knows when it expires', (_name, certificate) => {
  expect(readKeyPair(certificate, GOOD.key)).toEqual({ certificate, key: GOOD.key, expiresAtMs: UNTIL_MS });
});

test('takes one that has expired: a connection with it is better than none', () => {
  const untilMs = Date.UTC(2020, 0, 1);
  const { certificate, key } = selfSigned({ fromMs: Date.UTC(2019, 0, 1), untilMs });
  expect(readKeyPair(certificate, key)).toMatchObject({ expiresAtMs: untilMs });
});

test.each([
  ['one', GOOD.certificate],
  ['several, with texts between', `one\n${GOOD.certificate}\nother\n${OTHER.certificate}\n`],
])('takes the certificates of authorities: %s', (_name, authorities) => {
  expect(authoritiesProblem(authorities)).toBeNull();
});
