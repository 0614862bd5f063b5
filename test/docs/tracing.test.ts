import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { OPTION_NAMES } from '../../src/config/options.ts';
import { TRACING_OPTIONS } from '../../src/config/tracing.ts';
import { ATTRIBUTES } from '../../src/edges/otel/attributes.ts';

const page = readFileSync(new URL('../../docs/tracing.md', import.meta.url), 'utf8');

test('docs/tracing.md lists what a span may say, as the code does', () => {
  const rows = Object.entries(ATTRIBUTES).map(([name, means]) => `| \`${name}\` | ${means} |`);
  expect(page).toContain(['| attribute | value |', '| --- | --- |', ...rows, ''].join('\n'));
});

test('docs/tracing.md names every variable of OpenTelemetry that is read, and no other as if it were', () => {
  const named = new Set([...page.matchAll(/\bOTEL_[A-Z_]*[A-Z]\b/g)].map(([name]) => name));
  expect(Object.keys(TRACING_OPTIONS).filter((name) => !named.has(name))).toEqual([]);
  const known: readonly string[] = OPTION_NAMES;
  expect([...named].filter((name) => !known.includes(name))).toEqual([]);
});
