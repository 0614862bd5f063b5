import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { ROOT } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld } from '../support/payment-world.ts';

const CTRL_C = '\u0003';
const CLEAR = '\r\u001B[2K';
const UPDATES = 300;

let world: PaymentWorld;
let child: ChildProcess | null = null;
beforeEach(async () => {
  world = await PaymentWorld.open({ ...inject('kafka'), env: { FLOWS: 'sync' } });
});
afterEach(async () => {
  if (child !== null && child.exitCode === null) child.kill('SIGKILL');
  await world.close();
});

/** A replay on a pseudo terminal, which `script` of util-linux makes. */
function startReplay(args: string) {
  const env = { PATH: process.env['PATH'] ?? '', TERM: 'xterm-256color', ...world.env };
  const command = `exec '${process.execPath}' '${ROOT}src/bin.mjs' replay ${args}`;
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

describe.runIf(process.platform === 'linux')('a replay on a terminal', () => {
  test('draws one bar in one line; Ctrl-C lets what is under way end, and says how to go on', async () => {
    const records = Array.from({ length: UPDATES }, (_, index) => {
      const id = `tx-${String(index)}`;
      return { key: id, value: { trans_id: id, status: 'payment_pending', ts: '2026-03-01T09:30:00Z' } };
    });
    await world.send(world.topics.authorized, ...records);
    const replay = startReplay('--id bar --rate 50');
    await eventually('a bar', () => /Sending {2}.*█.*\d+ of 300 {2}\d+\/s {2}.* left/.test(replay.shown()), 40_000);
    replay.press(CTRL_C);
    expect(await replay.ended).toBe(1);
    const shown = replay.shown();
    expect(shown).toContain('Stopping: what is under way may end.');
    expect(shown).toMatch(
      /Resume it with: fraud-connector replay --id bar --topic \S+ --from earliest --to latest\r?\n/,
    );
    expect(shown).toContain('Replay bar of');
    expect(shown).toContain('was stopped before its end.');
    // Each line but the bar stands alone, and no event is in between that is not a warning or the audit.
    for (const line of shown.split('\n')) expect(line.slice(line.lastIndexOf(CLEAR) + 1)).not.toMatch(/█.*\r?$/);
    const events = [...shown.matchAll(/"event":"(\w+)"/g)].map(([, event]) => event);
    expect(new Set(events)).toEqual(new Set(['audit']));
    const { updates } = world.service.ledger().summary();
    expect(updates).toBeGreaterThan(0);
    expect(updates).toBeLessThan(UPDATES);
  });
});
