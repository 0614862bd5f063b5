import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { type WebhookResult } from '../../src/kernel/emit.ts';
import { replyTo, STATUS_OF } from '../../src/reviews/reply.ts';
import { type VerifyOptions, verify } from '../../src/reviews/verify.ts';
import { retryDelayMs } from '../../src/sandbox/service/webhooks.ts';
import { blockWith, pageNamed, tableIn } from '../support/page-parts.ts';
import { NOW_MS, reviewBody, SECRET, signedHeaders } from '../support/webhooks.ts';

const page = pageNamed('webhooks.md');
const TIMESTAMP = '2026-01-01T00:00:00Z';
const HEX = blockWith(page, '287f3e83').trim();
const [BASE64 = '', UNIX = ''] = blockWith(page, 'KH8+g5sl').trim().split('\n');

const folder = mkdtempSync(path.join(tmpdir(), 'webhooks-page-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** What a block of the page prints, in a folder where the page's `sign.mjs` is. */
async function shell(block: string): Promise<string> {
  writeFileSync(path.join(folder, 'sign.mjs'), blockWith(page, 'createHmac'));
  const PATH = `${path.dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const { stdout } = await promisify(execFile)('bash', ['-euc', block], { cwd: folder, env: { PATH } });
  return stdout;
}

test('the worked signature is what node and openssl print', async () => {
  await shell(blockWith(page, '> body.json'));
  expect(readFileSync(path.join(folder, 'secrets.txt'), 'utf8')).toBe(SECRET);
  expect(readFileSync(path.join(folder, 'body.json'))).toEqual(reviewBody());
  expect((await shell(blockWith(page, 'openssl'))).trim().split('\n')).toEqual([HEX, HEX]);
});

test('each worked signature is one that the connector takes, and one of the vectors', () => {
  const options: VerifyOptions = {
    signatureForms: ['hex', 'base64'],
    timestampForms: ['rfc3339', 'unix_s', 'unix_ms'],
    toleranceSeconds: 300,
  };
  const vectors = readFileSync(new URL('../fixtures/webhooks/signatures.json', import.meta.url), 'utf8');
  const worked = [
    [HEX, TIMESTAMP, 'hex', 'rfc3339'],
    [BASE64, TIMESTAMP, 'base64', 'rfc3339'],
    [UNIX, '1767225600', 'hex', 'unix_s'],
  ] as const;
  for (const [signature, timestamp, signatureForm, timestampForm] of worked) {
    const rawHeaders = signedHeaders(reviewBody(), timestamp).with(1, signature);
    const verified = verify({ rawHeaders, body: reviewBody() }, [SECRET], options, NOW_MS);
    expect(verified).toMatchObject({ signatureForm, timestampForm });
    expect(vectors).toContain(`"${signature}"`);
  }
});

/** Of the table of answers: the status that stands for each result. */
function told(): Readonly<Record<string, number>> {
  const of: Record<string, number> = {};
  for (const [statuses = '', , results = ''] of tableIn(page, 'status')) {
    const numbers = (statuses.match(/\b\d{3}\b/g) ?? []).map(Number);
    const names = [...results.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);
    expect([1, names.length]).toContain(numbers.length);
    for (const [at, name] of names.entries()) of[name] = (numbers.length === 1 ? numbers[0] : numbers[at]) ?? 0;
  }
  return of;
}

test('the table of answers has every result, with the status that it is answered with', () => {
  expect(told()).toEqual(STATUS_OF);
  const later = (Object.keys(STATUS_OF) as WebhookResult[]).filter((result) => replyTo(result).headers['retry-after']);
  expect(later).toEqual(['unavailable']);
  expect(page).toContain(`\`Retry-After: ${String(replyTo('unavailable').headers['retry-after'])}\``);
});

test('the gaps between attempts are those of a sender that multiplies them', () => {
  const gaps = /they are ([^.]+ and [\d.]+ days)/.exec(page)?.[1]?.split(/, | and /) ?? [];
  const seconds = { s: 1, min: 60, h: 3600, days: 86_400 } as const;
  const asTold = gaps.map((gap) => {
    const [count, unit] = gap.split(' ');
    return Number(count) * (seconds[unit as keyof typeof seconds] ?? Number.NaN);
  });
  expect(asTold).toHaveLength(8);
  for (const [retry, gap] of asTold.entries()) {
    const real = retryDelayMs(retry, 1) / 1000;
    expect(Math.abs(gap - real) / real).toBeLessThan(0.1);
  }
});
