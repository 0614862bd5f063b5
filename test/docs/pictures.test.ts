import { globSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { runExplain } from '../../src/app/explain-command.ts';
import { readMapping } from '../../src/app/mapping.ts';
import { runProgram } from '../../src/cli/program.ts';
import { loadConfig } from '../../src/config/load.ts';
import { ownVersion } from '../../src/edges/system/package-info.ts';
import { type Terminal } from '../../src/edges/system/terminal.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { terminalPicture } from '../support/terminal-picture.ts';
import { pagesOfProse, ROOT } from './prose.ts';

const MOST_BYTES = 150_000;
const FOLDER = 'docs/pictures';
const textOf = (name: string): string => readFileSync(path.join(ROOT, name), 'utf8');
const pictures = globSync(`${FOLDER}/*`, { cwd: ROOT }).toSorted();

/** What is to be seen of a program, as lines. */
interface Shown {
  readonly title: string;
  readonly command: string;
  readonly lines: () => Promise<readonly string[]>;
}

/** Three mistakes: an address without a port, a time with a unit, a name that is misspelt. */
const MISTAKEN = {
  KAFKA_BROKERS: 'kafka-1.example.com',
  SCHEMA_REGISTRY_URL: 'https://registry.example.com',
  SERVICE_BASE_URL: 'https://service.example.com',
  SERVICE_USERNAME: 'shop',
  SERVICE_PASWORD: 'a-secret',
  WEBHOOK_SECRETS: 'at-least-24-bytes-of-a-secret',
  DRAIN_TIMEOUT_MS: '20s',
};

async function mistakes(): Promise<readonly string[]> {
  const said: string[] = [];
  const say = (line: string): void => void said.push(line);
  const terminal: Terminal = {
    env: MISTAKEN,
    isInteractive: false,
    say,
    complain: say,
    onStop: () => () => undefined,
    exit: (code) => {
      throw new Error(`exit ${String(code)}`);
    },
  };
  expect(await runProgram(['run'], terminal)).toBe(2);
  return said;
}

/** The record of docs/getting-started.md, explained as there. */
async function explained(): Promise<readonly string[]> {
  const [, record = ''] = /^echo '([^']+)' > payment\.json$/m.exec(textOf('docs/getting-started.md')) ?? [];
  const env = { SERVICE_BASE_URL: 'http://127.0.0.1:8090' };
  const { config } = loadConfig({ env, readFile: () => '', requires: 'MAPPING_' });
  const lines: string[] = [];
  const parts = {
    config,
    mapping: readMapping(config).mapping,
    flow: 'scoring',
    version: ownVersion(),
    clock: new ManualClock(),
    draw: () => 0,
    terminal: { say: (line: string) => void lines.push(line) },
    json: false,
  } as const;
  expect(await runExplain(Buffer.from(`${record}\n`), parts)).toBe(0);
  return lines;
}

const PRINTED: Readonly<Record<string, Shown>> = {
  'configuration-errors.svg': {
    title: 'What run says of a configuration with three mistakes',
    command: 'npx fraud-connector run --env-file .env',
    lines: mistakes,
  },
  'explain.svg': {
    title: 'What fraud-connector explain says of a payment',
    command: 'npx fraud-connector explain --flow scoring --env-file .env < payment.json',
    lines: explained,
  },
};

describe('docs/pictures', () => {
  test.each(pictures)('%s is shown by a page, with words for those who do not see it', (picture) => {
    const shown = pagesOfProse().filter((page) => {
      const link = path.relative(path.dirname(page.path), picture).replaceAll('.', '\\.');
      return new RegExp(`!\\[[^\\]]{10,}\\]\\(${link}\\)`).test(page.text);
    });
    expect(shown).not.toEqual([]);
  });

  test.each(pictures)('%s is small', (picture) => {
    expect(statSync(path.join(ROOT, picture)).size).toBeLessThanOrEqual(MOST_BYTES);
  });

  test.each(Object.entries(PRINTED))('%s shows what the program says', async (name, { title, command, lines }) => {
    const file = `${FOLDER}/${name}`;
    const drawn = terminalPicture([`$ ${command}`, ...(await lines())].join('\n'), title);
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(path.join(ROOT, file), drawn);
    expect(textOf(file), 'rewrite it: UPDATE_DOCS=1 npx vitest run test/docs').toBe(drawn);
  });
});
