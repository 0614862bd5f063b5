import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { type ConnectorProcess } from '../support/connector-process.ts';
import { blockWith, pageNamed } from '../support/page-parts.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { headerTexts } from '../support/topic-log.ts';

const page = pageNamed('webhooks.md');
const folder = mkdtempSync(path.join(tmpdir(), 'webhook-trial-'));
let world: PaymentWorld;
let connector: ConnectorProcess;

beforeAll(async () => {
  world = await PaymentWorld.open({ ...inject('kafka'), env: { FLOWS: 'reviews' } });
  connector = await (await world.start()).ready();
  writeFileSync(path.join(folder, 'sign.mjs'), blockWith(page, 'createHmac'));
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What the trial of docs/webhooks.md prints. */
async function trial(secrets: string): Promise<string> {
  writeFileSync(path.join(folder, 'secrets.txt'), secrets);
  const block = blockWith(page, 'trial.json').replace(/^url=.*$/m, `url=${connector.webhookUrl}`);
  const PATH = `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const { stdout } = await promisify(execFile)('bash', ['-euc', block], { cwd: folder, env: { PATH } });
  return stdout.trim();
}

test('the trial of the page with another secret is answered 401', async () => {
  expect(await trial('another-secret-of-at-least-24-bytes\n')).toBe('401');
});

test('the trial of the page is answered 200, parked, and never a review', async () => {
  const log = await world.read(world.topics.reviews, world.letters(world.topics.reviews));
  expect(await trial(`${world.service.webhookSecret}\nthe-older-secret-of-24-bytes\n`)).toBe('200');
  const letter = await log.find(world.letters(world.topics.reviews), () => true);
  expect(headerTexts(letter)).toMatchObject({ 'dlq.reason': 'webhook_unrecognised', 'dlq.detail': '/type' });
  expect(log.of(world.topics.reviews)).toEqual([]);
});
