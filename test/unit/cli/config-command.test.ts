import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runProgram } from '../../../src/cli/program.ts';
import { optionTable } from '../../../src/config/print.ts';
import { type Terminal } from '../../../src/edges/system/terminal.ts';

const RIGHT = {
  KAFKA_BROKERS: 'localhost:9092',
  SCHEMA_REGISTRY_URL: 'http://localhost:8081',
  SERVICE_BASE_URL: 'http://localhost:8090',
  SERVICE_USERNAME: 'shop',
  SERVICE_PASSWORD: 'canary-password',
  WEBHOOK_SECRETS: 'canary-secret-0123456789-0123456789',
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'config-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function run(argv: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const said: string[] = [];
  const complained: string[] = [];
  const terminal: Terminal = {
    env,
    isInteractive: false,
    say: (line) => said.push(line),
    complain: (line) => complained.push(line),
    onStop: () => () => undefined,
    exit: () => {
      throw new Error('exit');
    },
  };
  const code = await runProgram(argv, terminal);
  return { code, said, complained, output: [...said, ...complained].join('\n') };
}

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('refusals', () => {
  test('a file of variables that is not there is exit 2, whichever command it is for', async () => {
    for (const command of [['config', 'print'], ['run'], ['topics', 'check'], ['schemas', 'check'], ['check']]) {
      const { code, output } = await run([...command, '--env-file', join(folder, 'none')], RIGHT);
      expect(code).toBe(2);
      expect(output).toMatch(/--env-file: the file ".*none" cannot be read \(Error ENOENT\)/);
    }
  });

  test('`config print` of a wrong configuration prints what could be read, every problem, and is exit 2', async () => {
    const { code, said, complained } = await run(['config', 'print'], { OPS_PORT: 'x', ACCOUNT: 'shop' });
    expect(code).toBe(2);
    expect(said.join('\n')).toMatch(/^ACCOUNT +environment +shop$/m);
    expect(said.join('\n')).toMatch(/^OPS_PORT +wrong +9464$/m);
    expect(complained.join('\n')).toContain('wrong: OPS_PORT: "x" is not accepted');
    expect(complained.join('\n')).toContain('wrong: KAFKA_BROKERS: missing');
  });

  test('`config init` leaves a file as it is, and is exit 2', async () => {
    const path = file('.env', 'mine');
    const { code, output } = await run(['config', 'init', path]);
    expect(code).toBe(2);
    expect(output).toContain('is there already');
    expect(readFileSync(path, 'utf8')).toBe('mine');
    expect((await run(['config', 'init', join(folder, 'no', 'folder')])).code).toBe(2);
  });
});

test('`config print` shows where each value comes from, and no secret', async () => {
  const path = file('.env', 'ACCOUNT=from-file\nLOG_LEVEL=debug\nSERVICE_PASSWORD=canary-in-file\n');
  const { code, said, output } = await run(['config', 'print', '--env-file', path], { ...RIGHT, LOG_LEVEL: 'warn' });
  expect(code).toBe(0);
  expect(said.join('\n')).toMatch(/^ACCOUNT +env-file +from-file$/m);
  expect(said.join('\n')).toMatch(/^LOG_LEVEL +environment +warn$/m);
  expect(said.join('\n')).toMatch(/^SERVICE_PASSWORD +environment +\(set\)$/m);
  expect(output).not.toContain('canary');
});

test('the file of variables may be named before the command, too', async () => {
  const path = file('.env', 'ACCOUNT=from-file\n');
  const { said } = await run(['--env-file', path, 'config', 'print', '--json'], RIGHT);
  const { options, problems } = JSON.parse(said.join('\n')) as {
    options: { name: string; value: string; origin: string }[];
    problems: string[];
  };
  expect(problems).toEqual([]);
  expect(options.find(({ name }) => name === 'ACCOUNT')).toEqual({
    name: 'ACCOUNT',
    value: 'from-file',
    origin: 'env-file',
  });
});

test('`config docs` prints the table of the documentation', async () => {
  expect((await run(['config', 'docs'])).said.join('\n')).toBe(optionTable().trimEnd());
});

test('`config init` writes a file that only its owner can read, and that works once what is required is filled in', async () => {
  const path = join(folder, '.env');
  expect((await run(['config', 'init', path])).code).toBe(0);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  let text = readFileSync(path, 'utf8');
  for (const [name, value] of Object.entries(RIGHT)) text = text.replace(`\n${name}=\n`, `\n${name}=${value}\n`);
  writeFileSync(path, text);
  expect(await run(['config', 'print', '--env-file', path])).toMatchObject({ code: 0, complained: [] });
});
