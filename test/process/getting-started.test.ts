import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { freePorts } from '../../src/sandbox/broker/ports.ts';
import { type Environment, ROOT } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';

function typedIn(step: string): string {
  return [...step.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, each]) => each ?? '').join('');
}

/** What is to be typed in each step of docs/getting-started.md, by the number of its heading. */
function blocksOf(text: string): ReadonlyMap<number, string> {
  const steps = text.split(/^## /m).slice(1);
  return new Map(steps.map((step) => [Number.parseInt(step, 10), typedIn(step)]));
}

const page = readFileSync(path.join(ROOT, 'docs/getting-started.md'), 'utf8');
const blocks = blocksOf(page);
const kafka = inject('kafka');
const children = new Set<ChildProcess>();
let folder = '';
let env: Environment = {};
/** The ports of the page, and those that are free here. */
let ports: readonly (readonly [string, string])[] = [];

function here(text: string): string {
  return ports.reduce((each, [shown, free]) => each.replaceAll(new RegExp(`\\b${shown}\\b`, 'g'), free), text);
}

function block(step: number): string {
  return here(blocks.get(step) ?? '');
}

/** An address of the sandbox that the page gives. */
function place(name: string): string {
  const [, url] = new RegExp(`\`(http://[^\`]+/sandbox/${name}\\?[^\`]+)\``).exec(page) ?? [];
  return here(url ?? '');
}

/** What a block prints; rejects where one of its lines fails. */
async function typed(text: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    execFile('bash', ['-euc', text], { cwd: folder, env, encoding: 'utf8' }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${text}failed:\n${stdout}${stderr}`));
    });
  });
}

interface Standing {
  readonly said: () => string;
  readonly end: () => Promise<number | null>;
}

/** Types a block into a terminal of its own, which stays open until Ctrl-C. */
function standing(text: string): Standing {
  const child = spawn('bash', ['-euc', `exec ${text}`], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      said += bytes.toString('utf8');
    });
  const ended = new Promise<number | null>((resolve) => {
    child.once('close', (code) => {
      children.delete(child);
      resolve(code);
    });
  });
  return {
    said: () => said,
    end: async () => {
      child.kill('SIGINT');
      return await ended;
    },
  };
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'getting-started-'));
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'));
  mkdirSync(path.join(folder, 'bin'));
  // The checkout's own command; that npx finds it there is a test of its own.
  const npx = path.join(folder, 'bin', 'npx');
  writeFileSync(npx, `#!/bin/sh\nshift\nexec '${process.execPath}' '${ROOT}src/bin.mjs' "$@"\n`);
  chmodSync(npx, 0o755);
  const [webhook = 0, ops = 0, sandbox = 0] = await freePorts(3);
  ports = [
    ['8080', String(webhook)],
    ['9464', String(ops)],
    ['8090', String(sandbox)],
  ];
  const own = `started-${randomUUID().slice(0, 8)}`;
  env = {
    PATH: [path.join(folder, 'bin'), path.dirname(process.execPath), process.env['PATH'] ?? ''].join(path.delimiter),
    // A Kafka of its own in the page; here the one of all tests, with names of its own.
    KAFKA_BROKERS: kafka.brokers.join(','),
    SCHEMA_REGISTRY_URL: kafka.registryUrl,
    KAFKA_GROUP_ID: own,
    TOPIC_CREATED: `${own}.created`,
    TOPIC_AUTHORIZED: `${own}.authorized`,
    TOPIC_REVIEWS: `${own}.reviews`,
    TOPIC_SCORES: `${own}.scores`,
    WEBHOOK_PORT: String(webhook),
    OPS_PORT: String(ops),
  };
});

afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

describe('docs/getting-started.md', () => {
  test('has at most 100 lines', () => {
    expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(100);
  });

  test('leads from a record to its score and its review, typed as it stands', async () => {
    const sandbox = standing(block(2));
    await eventually('the sandbox is ready', () => sandbox.said().includes('is ready'));

    const explained = await typed(block(3));
    expect(explained).toContain('✓ would be sent');
    expect(explained).toContain('bill_ad_ctry: Invalid country');

    const checked = await typed(block(4));
    expect(checked).toContain(`✓ created ${env['TOPIC_CREATED'] ?? ''}: 12 partitions`);
    expect(checked).toContain('schema of');
    expect(checked).not.toContain('✗');

    const connector = standing(block(5));
    await eventually('the connector runs', () => connector.said().includes('"event":"ready"'));
    await typed(block(6));
    for (const [url, answers] of [
      [place('ledger'), ['"scored":1', '"decision":2']],
      [place('activity'), ['"status":"delivered"', '"httpStatus":200']],
    ] as const)
      await eventually(`${url} shows ${answers.join(', ')}`, async () => {
        const said = await (await fetch(url)).text();
        return answers.every((each) => said.includes(each));
      });

    expect(await connector.end()).toBe(0);
    expect(await sandbox.end()).toBe(0);
  });
});
