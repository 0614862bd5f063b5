import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { type GuardFigures } from '../../bench/guard.ts';

const PROCESS = fileURLToPath(new URL('../../bench/guard-process.ts', import.meta.url));
/** It was 2.5 on 21 November 2026; red at half the speed. */
const MOST = 5;

test('scoring without Kafka and HTTP costs no more than five times the CPU of a loop that does the least', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [PROCESS]);
  const { connector, loop } = JSON.parse(stdout) as GuardFigures;
  expect(loop).toBeGreaterThan(0);
  expect(connector / loop).toBeLessThan(MOST);
}, 300_000);
