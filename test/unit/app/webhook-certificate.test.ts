import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { daysLeft } from '../../../src/app/followed-certificate.ts';
import { followWebhookCertificate, readWebhookCertificate } from '../../../src/app/webhook-certificate.ts';
import { type KeyPair } from '../../../src/config/pem.ts';
import { type MadeCertificate, selfSigned } from '../../support/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const CERT = 'WEBHOOK_TLS_CERT_FILE';
const KEY = 'WEBHOOK_TLS_KEY_FILE';

/** Valid from 2025 on; `days` are those from now. */
function lasting(days: number): MadeCertificate {
  return selfSigned({ fromMs: Date.UTC(2025, 0, 1), untilMs: NOW_MS + days * DAY_MS });
}

const FIRST = lasting(60);
const SECOND = lasting(90);

function configured({ certificate, key }: MadeCertificate, flows: readonly string[] = ['reviews']): KeyPair | null {
  const tls = { certificate, key, certificateFile: '/crt', keyFile: '/key' };
  const config = { flows: new Set(flows), webhook: { tls } };
  return readWebhookCertificate(config as unknown as Parameters<typeof readWebhookCertificate>[0]);
}

describe('at the start', () => {
  test('takes a pair that fits, and looks at none where no webhooks are taken', () => {
    expect(configured(FIRST)?.expiresAtMs).toBe(NOW_MS + 60 * DAY_MS);
    expect(configured({ certificate: 'x', key: 'y' }, ['scoring'])).toBeNull();
  });

  test.each([
    [DAY_MS, 1],
    [DAY_MS - 1, 0],
    [0, 0],
    [-1, -1],
  ])('%i ms before the end %i whole days are left', (leftMs, days) => {
    expect(daysLeft({ expiresAtMs: NOW_MS + leftMs }, NOW_MS)).toBe(days);
  });
});

describe('while it runs', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'certificate-'));
  });
  afterEach(() => {
    rig.end();
    rmSync(folder, { recursive: true });
  });

  /** In one step, as renewals do. */
  function put(file: 'crt' | 'key', text: string): void {
    writeFileSync(join(folder, 'next'), text);
    renameSync(join(folder, 'next'), join(folder, file));
  }

  function putBoth({ certificate, key }: MadeCertificate): void {
    put('crt', certificate);
    put('key', key);
  }

  interface Rig {
    readonly clock: ManualClock;
    readonly shown: string[];
    readonly said: string[];
    readonly end: () => void;
    /** Lets half a second pass until it is so; never more than `limitMs`. */
    readonly until: (isSo: () => boolean) => Promise<void>;
    readonly pass: (ms: number) => Promise<void>;
  }

  let rig: Rig;

  async function follow(start: MadeCertificate): Promise<void> {
    putBoth(start);
    const clock = new ManualClock(NOW_MS);
    const shown: string[] = [];
    const said: string[] = [];
    const certificate = configured(start);
    if (certificate === null) throw new Error('none');
    const end = followWebhookCertificate(
      { ...start, certificateFile: join(folder, 'crt'), keyFile: join(folder, 'key') },
      certificate,
      {
        clock,
        emit: (event, fields) => said.push(`${event} ${Object.values(fields).join(' ')}`),
        renew: (renewed) => shown.push(renewed.certificate.trim()),
      },
    );
    const step = async (): Promise<void> => {
      clock.advance(500);
      // The reading of a file takes several turns.
      for (let turn = 0; turn < 20; turn += 1) await settled();
    };
    rig = {
      clock,
      shown,
      said,
      end,
      until: async (isSo) => {
        await eventually('the files were read', async () => {
          await step();
          return isSo();
        });
      },
      pass: async (ms) => {
        for (let passed = 0; passed < ms; passed += 500) await step();
      },
    };
    await rig.pass(5000);
  }

  test('a renewed pair is shown, once, and told by the names of its options', async () => {
    await follow(FIRST);
    putBoth(SECOND);
    await rig.until(() => rig.said.length >= 2);
    await rig.pass(30_000);
    expect(rig.shown).toEqual([SECOND.certificate.trim()]);
    expect(rig.said).toEqual([`secret_reloaded ${CERT}`, `secret_reloaded ${KEY}`]);
  });

  test('of two files that change one after the other nothing is said in between', async () => {
    await follow(FIRST);
    put('key', SECOND.key);
    await rig.pass(7000);
    expect([rig.shown, rig.said]).toEqual([[], []]);
    put('crt', SECOND.certificate);
    await rig.until(() => rig.shown.length === 1);
    await rig.pass(30_000);
    expect(rig.said).toEqual([`secret_reloaded ${CERT}`, `secret_reloaded ${KEY}`]);
  });

  test('a certificate whose key does not come is told once, and the last good pair stays', async () => {
    await follow(FIRST);
    put('crt', SECOND.certificate);
    await rig.until(() => rig.said.length === 1);
    await rig.pass(60_000);
    expect([rig.shown, rig.said]).toEqual([[], [`secret_reload_failed ${CERT} refused`]]);
    put('key', SECOND.key);
    await rig.until(() => rig.shown.length === 1);
  });

  test('where a key is read again that has not changed, it is the certificate that is told', async () => {
    await follow(FIRST);
    rmSync(join(folder, 'key'));
    await rig.until(() => rig.said.length === 1);
    put('crt', SECOND.certificate);
    await rig.pass(5000);
    put('key', FIRST.key);
    await rig.until(() => rig.said.length === 2);
    expect(rig.said).toEqual([`secret_reload_failed ${KEY} unreadable`, `secret_reload_failed ${CERT} refused`]);
  });

  test.each([
    ['no certificate', 'crt', 'x', `${CERT} refused`],
    ['an empty file', 'crt', '\n', `${CERT} empty`],
    ['no key', 'key', 'x', `${KEY} refused`],
  ] as const)('%s is told once and changes nothing', async (_name, file, text, told) => {
    await follow(FIRST);
    put(file, text);
    await rig.until(() => rig.said.length === 1);
    await rig.pass(60_000);
    expect([rig.shown, rig.said]).toEqual([[], [`secret_reload_failed ${told}`]]);
  });

  test('a file that is gone is told once and changes nothing', async () => {
    await follow(FIRST);
    rmSync(join(folder, 'key'));
    await rig.until(() => rig.said.length === 1);
    await rig.pass(20_000);
    expect([rig.shown, rig.said]).toEqual([[], [`secret_reload_failed ${KEY} unreadable`]]);
  });

  test('an expired pair takes the place of none that is good', async () => {
    await follow(FIRST);
    putBoth(lasting(-1));
    await rig.until(() => rig.said.length >= 1);
    expect(rig.shown).toEqual([]);
    expect(rig.said[0]).toMatch(/^secret_reload_failed .* refused$/);
  });

  test('the same pair with another end of line is no change', async () => {
    await follow(FIRST);
    putBoth({ certificate: FIRST.certificate.trim(), key: `${FIRST.key}\n` });
    await rig.pass(30_000);
    expect([rig.shown, rig.said]).toEqual([[], []]);
  });

  test('that it expires is told from two weeks before, once a day, and no more after a renewal', async () => {
    await follow(lasting(14.5));
    expect(rig.said).toEqual([]);
    for (let day = 0; day < 2; day += 1) rig.clock.advance(DAY_MS);
    expect(rig.said).toEqual([`certificate_expiring ${CERT} 13`, `certificate_expiring ${CERT} 12`]);
    putBoth(SECOND);
    await rig.until(() => rig.shown.length === 1);
    rig.said.length = 0;
    rig.clock.advance(2 * DAY_MS);
    expect(rig.said).toEqual([]);
  });
});
