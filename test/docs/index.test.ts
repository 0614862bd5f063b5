import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { linksIn, pagesOfProse, ROOT } from './prose.ts';

const INDEX = 'docs/README.md';
const pages = new Map(pagesOfProse().map((page) => [page.path, page.text]));

/** The pages that a page links to. */
function linkedFrom(page: string): readonly string[] {
  const targets = linksIn(pages.get(page) ?? '').map((link) => link.split('#', 1)[0] ?? '');
  return targets.map((target) => path.join(path.dirname(page), target)).filter((target) => pages.has(target));
}

test('docs/README.md has a link to every page of docs and to every decision', () => {
  const linked = new Set(linkedFrom(INDEX));
  const missing = [...pages.keys()].filter((page) => page.startsWith('docs/') && page !== INDEX && !linked.has(page));
  expect(missing, 'add a row where its readers look').toEqual([]);
});

test('every page is led to by another one besides the index', () => {
  const led = new Set([...pages.keys()].filter((page) => page !== INDEX).flatMap(linkedFrom));
  const alone = [...pages.keys()].filter((page) => page.startsWith('docs/') && page !== INDEX && !led.has(page));
  expect(alone, 'link it from a neighbour').toEqual([]);
});

test('docs/architecture.md has every promise of README.md, in its order', () => {
  const promises = [...(pages.get('README.md') ?? '').matchAll(/^(\d)\. /gm)].map(([, number]) => number);
  const kept = [...(pages.get('docs/architecture.md') ?? '').matchAll(/^\| (\d)\. /gm)].map(([, number]) => number);
  expect(kept).toEqual(promises);
});

test('docs/architecture.md names every folder of src and every edge', () => {
  const text = pages.get('docs/architecture.md') ?? '';
  const folders = ['src', 'src/edges'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { withFileTypes: true }).filter((each) => each.isDirectory()),
  );
  expect(folders.map(({ name }) => name).filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([]);
});

test('docs/glossary.md has each word once', () => {
  const rows = (pages.get('docs/glossary.md') ?? '').match(/^\| (?!word|---).+? \|/gm) ?? [];
  const words = rows.flatMap((row) => row.replaceAll(/[|`]/g, '').split(',')).map((word) => word.trim());
  expect(words.filter((word, at) => words.indexOf(word) !== at)).toEqual([]);
  expect(words.length).toBeGreaterThan(60);
});

test('docs/upgrade.md names the format of the map and the protocol of the group that the code has', () => {
  const text = pages.get('docs/upgrade.md') ?? '';
  const [, version] = /const VERSION = (\d+);/.exec(codeOf('src/engine/offset-map.ts')) ?? [];
  const [, protocol] = /const PROTOCOL = '([\w-]+)';/.exec(codeOf('src/edges/kafka/assigner.ts')) ?? [];
  const [, subscription] = /const SUBSCRIPTION_VERSION = (\d+);/.exec(codeOf('src/edges/kafka/assigner.ts')) ?? [];
  const [, claim] = /const CLAIM_VERSION = (\d+);/.exec(codeOf('src/edges/kafka/assigner.ts')) ?? [];
  expect([version, protocol, subscription, claim].every((each) => each !== undefined)).toBe(true);
  expect(text).toContain(`\`fsc${version ?? ''}\``);
  expect(text).toContain(`\`${protocol ?? ''}\``);
  expect(text).toContain(`the subscription, version ${subscription ?? ''}, our claim version ${claim ?? ''}`);
});

function codeOf(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}
