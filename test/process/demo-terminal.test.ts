import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { ROOT } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';

const HIDE_CURSOR = '\u001B[?25l';
const SHOW_CURSOR = '\u001B[?25h';
const LEAVE_SCREEN = '\u001B[?1049l';
const KEYS = 'poison record';
const CTRL_C = '\u0003';

let child: ChildProcess | null = null;

afterEach(() => {
  if (child !== null && child.exitCode === null) child.kill('SIGKILL');
});

/** The demo on a pseudo terminal, which `script` of util-linux makes. */
function startDemo() {
  const { brokers, registryUrl } = inject('kafka');
  const env = {
    PATH: process.env['PATH'] ?? '',
    TERM: 'xterm-256color',
    KAFKA_BROKERS: brokers.join(','),
    SCHEMA_REGISTRY_URL: registryUrl,
  };
  const command = `'${process.execPath}' '${ROOT}src/bin.mjs' demo --rate 20`;
  const started = spawn('script', ['-qec', command, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  child = started;
  let shown = '';
  started.stdout.on('data', (bytes: Buffer) => {
    shown += bytes.toString('utf8');
  });
  return {
    shown: () => shown,
    press: (key: string) => started.stdin.write(key),
    ended: once(started, 'exit').then(([code]) => code as number | null),
  };
}

describe.runIf(process.platform === 'linux')('the demo on a terminal', () => {
  test('draws a live picture, does what keys say, and gives the terminal back with exit code 0', async () => {
    const demo = startDemo();
    await eventually('the picture', () => demo.shown().includes(KEYS), 40_000);
    demo.press('p');
    await eventually('the answer to a key', () => demo.shown().includes('it becomes a dead letter'), 5_000);
    demo.press('q');
    expect(await demo.ended).toBe(0);
    const shown = demo.shown();
    expect(shown.split(HIDE_CURSOR)).toHaveLength(2);
    expect(shown.lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(shown.lastIndexOf(HIDE_CURSOR));
    const after = shown.slice(shown.lastIndexOf(LEAVE_SCREEN));
    expect(after).toMatch(/1 poison records\s+1 in a dead-letter topic/);
    expect(after).toContain('Everything is as promised.');
  });

  test('a second Ctrl-C ends it at once, exit code 1, and still gives the cursor back', async () => {
    const demo = startDemo();
    // A connector that does not run yet ends so soon that a second Ctrl-C finds nobody.
    await eventually('a connector that runs', () => /running.*, process/.test(demo.shown()), 40_000);
    demo.press(CTRL_C);
    await eventually('the end', () => demo.shown().includes('shops are closed'), 5_000);
    demo.press(CTRL_C);
    expect(await demo.ended).toBe(1);
    const shown = demo.shown();
    expect(shown.lastIndexOf(SHOW_CURSOR)).toBeGreaterThan(shown.lastIndexOf(HIDE_CURSOR));
    expect(shown).toContain(LEAVE_SCREEN);
  });
});
