import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { FollowedTls } from '../../../src/app/followed-tls.ts';
import { SERVICE_TLS } from '../../../src/config/tls.ts';
import { Authority } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const AUTHORITY = new Authority('One');
const OTHER = new Authority('Two');
const FIRST = pairOf(60);
const SECOND = pairOf(90);

let folder: string;
let clock: ManualClock;
let said: string[];
let end: (() => void) | null;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tls-'));
  clock = new ManualClock(NOW_MS);
  said = [];
  end = null;
});
afterEach(() => {
  end?.();
  rmSync(folder, { recursive: true });
});

function pairOf(days: number): { certificate: string; key: string } {
  const untilMs = NOW_MS + days * DAY_MS;
  const { certificate, key } = AUTHORITY.issue({ name: 'connector', fromMs: Date.UTC(2025, 0, 1), untilMs });
  return { certificate, key };
}

/** In one step, as renewals do. */
function put(name: string, text: string): { path: string; text: string } {
  const path = join(folder, name);
  writeFileSync(`${path}.next`, text);
  renameSync(`${path}.next`, path);
  return { path, text };
}

async function follow(): Promise<FollowedTls> {
  const tls = new FollowedTls(SERVICE_TLS, {
    authorities: put('ca', AUTHORITY.certificate),
    certificate: put('crt', FIRST.certificate),
    key: put('key', FIRST.key),
  });
  end = tls.follow({ clock, emit: (event, fields) => said.push(`${event} ${Object.values(fields).join(' ')}`) });
  for (let steps = 0; steps < 10; steps += 1) await step();
  return tls;
}

/** Half a second passes; the reading of a file takes several turns. */
async function step(): Promise<void> {
  clock.advance(500);
  for (let turn = 0; turn < 20; turn += 1) await settled();
}

/** Lets half a second pass until so many things were said. */
async function until(count: number): Promise<void> {
  await eventually('the files were read', async () => {
    await step();
    return said.length >= count;
  });
}

test('authorities that are no good are told once, and the last good ones stay', async () => {
  const tls = await follow();
  const before = tls.now();
  for (const [text, why] of [
    ['canary', 'refused'],
    [FIRST.key, 'refused'],
    ['\n', 'empty'],
  ] as const) {
    said.length = 0;
    put('ca', text);
    await until(1);
    expect(said).toEqual([`secret_reload_failed SERVICE_TLS_CA_FILE ${why}`]);
  }
  rmSync(join(folder, 'ca'));
  await until(2);
  expect(said.at(-1)).toBe('secret_reload_failed SERVICE_TLS_CA_FILE unreadable');
  expect(tls.now()).toBe(before);
});

test('a pair that does not fit is told, and the last good one stays', async () => {
  const tls = await follow();
  const before = tls.now();
  put('crt', SECOND.certificate);
  await until(1);
  expect(said).toEqual([expect.stringMatching(/^secret_reload_failed SERVICE_TLS_(CERT|KEY)_FILE refused$/)]);
  expect(tls.now()).toBe(before);
});

test('what is good is in use from then on, each by itself', async () => {
  const tls = await follow();
  expect(tls.now()).toMatchObject({ authorities: AUTHORITY.certificate, pair: FIRST });
  put('ca', `${AUTHORITY.certificate}${OTHER.certificate}`);
  await until(1);
  expect(tls.now().authorities).toContain(OTHER.certificate.trim());
  put('crt', SECOND.certificate);
  put('key', SECOND.key);
  await until(3);
  expect(said).toEqual(['CA', 'CERT', 'KEY'].map((name) => `secret_reloaded SERVICE_TLS_${name}_FILE`));
  expect(tls.now().pair?.expiresAtMs).toBe(NOW_MS + 90 * DAY_MS);
  expect(tls.now().authorities).toContain(OTHER.certificate.trim());
});

test('the same in other words is no change, and says nothing', async () => {
  const tls = await follow();
  const before = tls.now();
  put('ca', `${AUTHORITY.certificate}\n\n`);
  for (let steps = 0; steps < 20; steps += 1) await step();
  expect([said, tls.now() === before]).toEqual([[], true]);
});

test('that our certificate expires is told from two weeks before', async () => {
  await follow();
  clock.advance(50 * DAY_MS);
  expect(said).toContain('certificate_expiring SERVICE_TLS_CERT_FILE 10');
});

test('what is not given is not followed', () => {
  const tls = new FollowedTls(SERVICE_TLS, { authorities: null, certificate: null, key: null });
  tls.follow({ clock, emit: () => said.push('said') })();
  expect([tls.now(), clock.pending]).toEqual([{ authorities: null, pair: null }, 0]);
});
