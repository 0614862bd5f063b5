/**
 * The process that ends what another one leaves behind. Its standard input is a pipe from its parent: `child <pid>` and
 * `ended <pid>`, one a line. When the pipe closes, however the parent ended (SIGKILL runs no handler of its own, but the
 * kernel closes its pipes), the children named so far are killed with their process groups and the run's folder, the one
 * argument, is removed.
 *
 * Runs on its own, in a session of its own; nobody imports it.
 */
import { rm } from 'node:fs/promises';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const folder = process.argv[2];
const children = new Set<number>();

/** True as long as there was somebody to signal. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch {
    return false;
  }
}

// A signal that ends the parent must not end the guard first.
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);

for await (const line of createInterface({ input: process.stdin })) {
  const [word, text] = line.split(' ');
  const pid = Number(text);
  if (!Number.isSafeInteger(pid) || pid <= 1) continue;
  if (word === 'child') children.add(pid);
  else children.delete(pid);
}

for (const pid of children) {
  signal(-pid, 'SIGKILL');
  signal(pid, 'SIGKILL');
}
for (let turn = 0; turn < 100 && [...children].some((pid) => signal(pid, 0)); turn += 1) await sleep(50);
if (folder !== undefined) await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
