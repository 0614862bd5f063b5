import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { type Finding } from '../../src/app/doctor/finding.ts';
import { Authority, type MadeCertificate } from '../support/certificates.ts';
import { ConnectorProcess, type Environment } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { PaymentWorld, recordsOf, somePayments } from '../support/payment-world.ts';
import { Proxy } from '../support/proxy.ts';
import { TlsRelay } from '../support/tls-relay.ts';

const FIRST = new Authority('First Authority');
const SECOND = new Authority('Second Authority');
const CLIENTS = new Authority('Authority of Clients');
const SERVER = FIRST.issue();
const CLIENT = CLIENTS.issue({ name: 'connector-1' });
const PASSWORD = 'canary-proxy-password';

interface Files {
  readonly ca?: string;
  readonly client?: MadeCertificate;
  readonly proxy?: string;
}

let folder: string;
let world: PaymentWorld;
let relay: TlsRelay;
let registry: TlsRelay;
let sent: number;

beforeEach(async () => {
  sent = 0;
  world = await PaymentWorld.open(inject('kafka'));
  folder = mkdtempSync(join(tmpdir(), 'service-tls-'));
  relay = await TlsRelay.open(world.service.baseUrl, SERVER);
  registry = await TlsRelay.open(world.config.registry.url, SERVER);
});
afterEach(async () => {
  await world.close();
  await relay.close();
  await registry.close();
  rmSync(folder, { recursive: true });
});

/** As a mounted volume changes: a folder beside, and a link that is swapped. */
function mount({ ca = FIRST.certificate, client, proxy }: Files = {}): void {
  const next = mkdtempSync(join(folder, 'data-'));
  writeFileSync(join(next, 'ca.crt'), ca);
  if (client !== undefined) {
    writeFileSync(join(next, 'tls.crt'), client.certificate);
    writeFileSync(join(next, 'tls.key'), client.key);
  }
  if (proxy !== undefined) writeFileSync(join(next, 'proxy'), proxy);
  symlinkSync(next, join(folder, 'next'));
  renameSync(join(folder, 'next'), join(folder, 'now'));
}

function file(name: string): string {
  return join(folder, 'now', name);
}

function environment(over: Environment = {}): Environment {
  return {
    SERVICE_BASE_URL: relay.url,
    SERVICE_TLS_CA_FILE: file('ca.crt'),
    SCHEMA_REGISTRY_URL: `${registry.url}${new URL(world.config.registry.url).pathname}`,
    SCHEMA_REGISTRY_TLS_CA_FILE: file('ca.crt'),
    COMMIT_INTERVAL_MS: '50',
    ...over,
  };
}

const OUR_CERTIFICATE = (): Environment => ({
  SERVICE_TLS_CERT_FILE: file('tls.crt'),
  SERVICE_TLS_KEY_FILE: file('tls.key'),
});

/** Sends payments of which none was sent before, and waits until each was scored, once. */
async function score(count: number): Promise<void> {
  await send(count);
  await eventually('they are scored', () => world.service.ledger().summary().transactions === sent);
  expectOnce();
}

async function send(count: number): Promise<void> {
  const payments = somePayments(count, { seed: Math.floor(performance.now() * 1000) });
  await world.send(world.topics.created, ...recordsOf(payments).created);
  sent += count;
}

function expectOnce(): void {
  const { transactions, scorings } = world.service.ledger().summary();
  expect([transactions, scorings]).toEqual([sent, sent]);
}

/** All that was sent has ended here, too: no answer is on its way that a cut connection could lose. */
async function allEnded(connector: ConnectorProcess): Promise<void> {
  await eventually('all has ended', async () => (await connector.flow('scoring'))?.buffered === 0);
}

function reasons(connector: ConnectorProcess): readonly unknown[] {
  return connector.said('connection_failed').map(({ error }) => error);
}

async function check(env: Environment): Promise<readonly Finding[]> {
  const doctor = await ConnectorProcess.start({ ...world.env, ...env }, ['check', '--json']);
  await doctor.ended;
  expect(doctor.output).not.toContain(PASSWORD);
  return (JSON.parse(doctor.stdout.join('\n')) as { findings: Finding[] }).findings;
}

describe('the service over TLS', () => {
  test('a service that is no longer believed is a hold, and is called again when its new authority is trusted', async () => {
    mount();
    const connector = await (await world.start(environment())).ready();
    await score(10);

    // The service is moved to another authority, of which nobody told the connector.
    await allEnded(connector);
    relay.change(SECOND.issue());
    await send(10);
    await eventually('that is told', () => reasons(connector).includes('UNABLE_TO_VERIFY_LEAF_SIGNATURE'));
    expect(world.service.ledger().summary().transactions).toBe(10);

    mount({ ca: 'canary' });
    await eventually('that it is no good is told', () => connector.said('secret_reload_failed').length === 2);
    mount({ ca: `${FIRST.certificate}${SECOND.certificate}` });
    await eventually('both neighbours know', () => connector.said('secret_reloaded').length === 2);
    await eventually('it goes on', () => world.service.ledger().summary().transactions === 20);
    expectOnce();
    expect(connector.said('letter_written')).toEqual([]);
    expect(connector.output).not.toMatch(/-----BEGIN|canary/);
    expect(await connector.stop()).toMatchObject({ code: 0 });
  });

  test('a certificate that is asked for is shown, renewed without a restart, and the lack of one a hold', async () => {
    await relay.close();
    relay = await TlsRelay.open(world.service.baseUrl, { ...SERVER, peers: [CLIENTS.certificate] });
    // Of another authority than the service takes.
    mount({ client: SECOND.issue({ name: 'stranger' }) });
    const connector = await world.start(environment(OUR_CERTIFICATE()));
    await eventually('that is told', () => connector.said('login').some(({ result }) => result === 'failed'));
    await send(10);
    mount({ client: CLIENT });
    await eventually('it is used', () => world.service.ledger().summary().transactions === 10);
    expectOnce();

    mount({ client: CLIENTS.issue({ name: 'connector-2' }) });
    await eventually('the next one is read', () => connector.said('secret_reloaded').length === 4);
    relay.cut();
    await score(10);
    expect(new Set(relay.shown)).toEqual(new Set(['connector-1', 'connector-2']));
    expect(relay.failures.length).toBeGreaterThan(0);
    expect(connector.said('letter_written')).toEqual([]);
    expect(await connector.stop()).toMatchObject({ code: 0 });
  });
});

describe('the service through a proxy', () => {
  let proxy: Proxy;
  beforeEach(async () => {
    proxy = await Proxy.open();
    proxy.credentials = `shop:${PASSWORD}`;
  });
  afterEach(async () => {
    await proxy.close();
  });

  test('refused, then away, then cut off: payments wait, none is lost, none is scored twice but what was in flight', async () => {
    mount({ proxy: proxy.url('shop:wrong') });
    const connector = await world.start(
      environment({ SERVICE_PROXY_URL_FILE: file('proxy'), HTTPS_PROXY: 'http://127.0.0.1:1' }),
    );
    await send(20);
    await eventually('the refusal is told', () => reasons(connector).includes('PROXY_407'));
    expect(relay.opened).toBe(0);

    mount({ proxy: proxy.url(`shop:${PASSWORD}`) });
    await eventually('it goes through', () => world.service.ledger().summary().transactions === 20);
    expectOnce();

    await allEnded(connector);
    proxy.refuses = 403;
    proxy.cut();
    await send(10);
    await eventually('that is told', () => reasons(connector).includes('PROXY_403'));
    proxy.refuses = null;
    await eventually('it goes on', () => world.service.ledger().summary().transactions === 30);
    expectOnce();

    // Every tunnel is cut while answers are on their way: what may have been scored is scored again, and nothing else.
    world.service.faults.set({ latencyMs: 300 });
    await send(40);
    await eventually('they are in flight', () => proxy.connections > 10);
    proxy.cut();
    const inFlight = 40;
    world.service.faults.set({});
    await eventually('all are scored', () => world.service.ledger().summary().transactions === sent);
    expect(world.service.ledger().summary().repeatedScorings).toBeLessThanOrEqual(inFlight);
    expect(new Set(proxy.asked)).toEqual(new Set([new URL(relay.url).host]));
    expect(connector.said('letter_written')).toEqual([]);
    expect(connector.output).not.toContain(PASSWORD);
    expect(connector.output).not.toContain('not used; set SERVICE_PROXY_URL');
    expect(await connector.stop()).toMatchObject({ code: 0 });
  });
});

describe('the doctor', () => {
  test('says what is wrong with the TLS of service and registry, and where to mend it', async () => {
    mount({ ca: SECOND.certificate, client: CLIENTS.issue({ untilMs: Date.now() + 3 * 86_400_000 }) });
    const findings = await check(environment(OUR_CERTIFICATE()));
    const of = (name: string): string => {
      const finding = findings.find((each) => each.check === name);
      return `${finding?.state ?? 'none'}: ${finding?.text ?? ''} → ${finding?.mend ?? ''}`;
    };
    expect(of('login')).toMatch(/^wrong: .* SERVICE_TLS_CA_FILE$/);
    expect(of('registry')).toMatch(/^wrong: .* SCHEMA_REGISTRY_TLS_CA_FILE$/);
    expect(of('service_tls')).toMatch(/^warning: SERVICE_TLS_CERT_FILE: .* expires in 2 days/);

    mount();
    relay.change(FIRST.issue({ name: 'other.example', hosts: [], isLoopback: false }));
    registry.change(FIRST.issue({ untilMs: Date.now() - 1000 }));
    const others = await check(environment());
    expect(others.find((finding) => finding.check === 'login')?.text).toContain('another host name');
    expect(others.find((finding) => finding.check === 'registry')?.text).toContain('has expired');
  });

  test('says so where all is well, through a proxy that speaks TLS, too', async () => {
    mount();
    const extra = join(folder, 'proxy-ca.crt');
    writeFileSync(extra, SECOND.certificate);
    const proxy = await Proxy.open(SECOND.issue());
    try {
      const findings = await check(environment({ SERVICE_PROXY_URL: proxy.url(), NODE_EXTRA_CA_CERTS: extra }));
      const states = findings.flatMap(({ check: of, state }) => (of === 'login' || of === 'registry' ? [state] : []));
      expect(states).toEqual(['ok', 'ok']);
      expect(proxy.asked).toHaveLength(1);
    } finally {
      await proxy.close();
    }
  });
});
