import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectionTrouble, TROUBLE_TEXTS } from '../../src/app/doctor/connection-trouble.ts';
import { OPTION_NAMES, OPTIONS } from '../../src/config/options.ts';

const page = readFileSync(new URL('../../docs/security.md', import.meta.url), 'utf8');

function section(heading: string): string {
  const text = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`));
  if (text === undefined) throw new Error(`no section ${heading}`);
  return text;
}

test('docs/security.md says of each code of a connection what the doctor says, and leaves none out', () => {
  const rows = [...section('TLS to the service and the registry').matchAll(/^\| (`[A-Z][^|]+`) \| ([^|]+) \|$/gm)];
  const told = rows.flatMap(([, codes = '', text = '']) =>
    codes.split(', ').map((code) => ({ code: code.replaceAll('`', ''), text })),
  );
  for (const { code, text } of told)
    expect(`${code}: ${connectionTrouble('service', code)?.text ?? ''}`).toBe(`${code}: ${text}`);
  expect(rows.map(([, , text]) => text)).toEqual(TROUBLE_TEXTS);
});

test('docs/security.md says how to change every secret and every certificate but those of Kafka, which have a page', () => {
  const table = section('Secrets and certificates, and how to change them');
  const names = OPTION_NAMES.filter((name) => !name.startsWith('KAFKA_'));
  const secrets = names.filter((name) => OPTIONS[name].secret).map((name) => `${name}_FILE`);
  const certificates = names.filter((name) => name.includes('_TLS_'));
  expect(secrets.length + certificates.length).toBeGreaterThan(8);
  expect([...secrets, ...certificates].filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
});

test('docs/security.md names every path of the operations port', () => {
  const source = readFileSync(new URL('../../src/edges/http-server/ops.ts', import.meta.url), 'utf8');
  const paths = new Set([...source.matchAll(/'(\/[a-z]+)'/g)].map(([, path]) => path ?? ''));
  expect(paths.size).toBeGreaterThan(3);
  expect([...paths].filter((path) => !section('Ports and connections').includes(`\`${path}\``))).toEqual([]);
});
