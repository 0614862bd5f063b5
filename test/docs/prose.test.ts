import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { OPTION_NAMES } from '../../src/config/options.ts';
import { FAULTS } from '../../src/kernel/fault.ts';
import { PAYMENT_AUTHORIZED_SCHEMA } from '../../src/screening/avro.generated.ts';
import { helpOf } from '../support/command-help.ts';
import {
  anchorsOf,
  type Call,
  callsIn,
  linksIn,
  namesIn,
  pagesOfProse,
  pathsIn,
  proofsIn,
  ROOT,
  scriptsIn,
} from './prose.ts';

const pages = pagesOfProse();
const named = pages.map((page) => [page.path, page.text] as const);
const inRoot = (name: string): string => path.join(ROOT, name);
const textOf = (name: string): string => readFileSync(inRoot(name), 'utf8');

/** Variables that are no options of the connector. */
const OTHER_NAMES: ReadonlySet<string> = new Set([
  'FRAUD_CONNECTOR_CACHE_DIR',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'UPDATE_DOCS',
  // Refused, not ignored.
  'KAFKA_TLS_KEY_PASSWORD',
  'FLOODGATE_MAX_SHARE',
  'PARK_POSITIONS',
  // Of Node and of other programs.
  'NODE_EXTRA_CA_CERTS',
  'HTTPS_PROXY',
  // Set by Kubernetes for a service named kafka.
  'KAFKA_PORT',
  // Compatibility levels of a schema registry.
  'FULL_TRANSITIVE',
  'BACKWARD_TRANSITIVE',
  'FORWARD_TRANSITIVE',
]);

const KNOWN_NAMES: ReadonlySet<string> = new Set([
  ...OPTION_NAMES,
  ...OPTION_NAMES.map((option) => `${option}_FILE`),
  ...Object.keys(FAULTS),
  ...OTHER_NAMES,
]);

/** Codes of connections, which docs/security.md and docs/kafka-security.md explain. */
const CONNECTION_CODE =
  /^(PROXY_\w+|CERT_\w+|ERR_(SSL|TLS)_\w+|UNABLE_TO_\w+|\w+_SIGNED_CERT(_\w+)?|(TOPIC|GROUP)_AUTHORIZATION_FAILED|\w+_SASL_\w+|SASL_AUTHENTICATION_FAILED|OAUTH_TOKEN_\w+|PEER_\w+|AWS_MSK_IAM)$/;

/** A link that leads nowhere: its file is missing, or its file has no such heading. */
function isBroken(page: string, link: string): boolean {
  const [target = '', anchor] = link.split('#', 2);
  const file = target === '' ? page : path.join(path.dirname(page), target);
  if (!existsSync(inRoot(file))) return true;
  return anchor !== undefined && !anchorsOf(textOf(file)).has(anchor);
}

/** What is wrong with one use of the command line, in words; null: nothing. */
async function misuseOf({ words, flags }: Call): Promise<string | null> {
  const call = `fraud-connector ${words.join(' ')}`;
  const help = await helpOf(words);
  if (!help.startsWith(`Usage: ${call} `)) return call;
  const unknown = flags.filter((flag) => !new RegExp(`${flag}\\b`).test(help));
  return unknown.length === 0 ? null : `${call} ${unknown.join(' ')}`;
}

describe('prose', () => {
  test.each(named)('%s links to pages and headings that exist', (name, text) => {
    expect(linksIn(text).filter((link) => isBroken(name, link))).toEqual([]);
  });

  test.each(named)('%s names files that exist', (_name, text) => {
    expect(pathsIn(text).filter((file) => !existsSync(inRoot(file)))).toEqual([]);
  });

  test.each(named)('%s names options and faults that exist', (_name, text) => {
    expect(namesIn(text).filter((each) => !KNOWN_NAMES.has(each) && !CONNECTION_CODE.test(each))).toEqual([]);
  });

  test.each(named)('%s runs scripts that package.json has', (_name, text) => {
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Readonly<Record<string, string>> };
    expect(scriptsIn(text).filter((script) => !(script in scripts))).toEqual([]);
  });

  test.each(named)('%s calls commands, with flags, that the command line has', async (_name, text) => {
    const misuses = await Promise.all(callsIn(text).map(misuseOf));
    expect(misuses.filter((misuse) => misuse !== null)).toEqual([]);
  });

  test.each(named.flatMap(([name, text]) => proofsIn(text).map((proof) => [name, proof.file, proof.name] as const)))(
    '%s names a test that exists: %s, %s',
    (_page, file, name) => {
      const source = textOf(file);
      expect([`'${name}'`, `"${name}"`, `\`${name}\``].some((each) => source.includes(each))).toBe(true);
    },
  );
});

describe('README.md', () => {
  const readme = textOf('README.md');

  test('has at most 150 lines', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  test('maps every folder of src, and no other', () => {
    const mapped = [...readme.matchAll(/^\| `(src\/[\w-]+)` \|/gm)].map(([, folder]) => folder ?? '');
    const folders = readdirSync(inRoot('src')).filter((name) => statSync(inRoot(`src/${name}`)).isDirectory());
    expect(new Set(mapped)).toEqual(new Set(folders.map((name) => `src/${name}`)));
    expect(mapped).toHaveLength(folders.length);
  });

  test('shows what the demo prints, in the words of the demo', () => {
    const lines = textOf('src/app/demo/lines.ts') + textOf('src/app/demo/demo.ts');
    for (const words of [
      'What the screening service saw, against what the shops wrote:',
      'The shops are closed; waiting for what is on its way.',
      'linked to their payment',
      'Everything is as promised.',
    ]) {
      expect(readme).toContain(words);
      expect(lines).toContain(words);
    }
  });
});

test('docs/guarantees.md has a section with tests for each promise of README.md', () => {
  const promises = [...textOf('README.md').matchAll(/^(\d)\. /gm)].map(([, number]) => number);
  const sections = textOf('docs/guarantees.md').split(/^## /m).slice(1);
  expect(sections.map((section) => section[0])).toEqual(promises);
  expect(sections.filter((section) => proofsIn(section).length === 0)).toEqual([]);
});

test('docs/topics.md names every status and every header of a letter', () => {
  const page = textOf('docs/topics.md');
  const { fields } = PAYMENT_AUTHORIZED_SCHEMA as { fields: readonly { name: string; doc: string }[] };
  const listed = /One of ([a-z_, ]+)\./.exec(fields.find(({ name }) => name === 'status')?.doc ?? '');
  const statuses = (listed?.[1] ?? '').split(', ');
  expect(statuses).toHaveLength(7);
  const headers = textOf('src/dead-letters/letter.ts').match(/(?<=')dlq\.[a-z_.]+[a-z](?=')/g) ?? [];
  expect(headers.length).toBeGreaterThan(10);
  expect([...statuses, ...headers].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test.each(pages.filter((page) => page.path.startsWith('docs/decisions/')).map((page) => [page.path, page.text]))(
  '%s tells context, decision, alternatives, cost, and how we would know that it was wrong',
  (_name, text) => {
    const parts = [...text.matchAll(/^\*\*(.+?)\*\*/gm)].map(([, part]) => part?.replace(/\.$/, ''));
    expect(parts).toEqual(['Context', 'Decision', 'Alternatives', 'Cost', 'We would know it was wrong']);
  },
);
