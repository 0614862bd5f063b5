import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { type KafkaAndRegistry, startKafka } from '../../src/sandbox/broker/start.ts';
import { IllRegistry } from '../integration/ill-registry.ts';
import { Authority } from '../support/certificates.ts';
import { type ConnectorProcess, type LogLine } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { GatePort } from '../support/gate-port.ts';
import { PaymentWorld } from '../support/payment-world.ts';
import { TlsRelay } from '../support/tls-relay.ts';

/** Within this time a dependency that stopped answering is named, and so is the end of it. */
const LIMIT_MS = 15_000;
const READS = ['scoring', 'sync'] as const;
const FLOWS = [...READS, 'reviews'] as const;
/** A session that is long enough for a group to outlast what is done here. */
const ALL_FLOWS = { FLOWS: FLOWS.join(','), KAFKA_SESSION_TIMEOUT_MS: '30000' };

const authority = new Authority();
let folder: string;
const opened: { close(): Promise<unknown> }[] = [];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'silent-'));
  await writeFile(path.join(folder, 'ca.crt'), authority.certificate);
});
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

function probeLines(connector: ConnectorProcess, event: 'hold_started' | 'hold_ended'): readonly LogLine[] {
  return connector.said(event).filter(({ scope }) => scope === 'probe');
}

async function readyOf(connector: ConnectorProcess): Promise<readonly (number | null)[]> {
  return await Promise.all(FLOWS.map(async (flow) => await connector.probe(`/readyz/${flow}`)));
}

async function gauge(connector: ConnectorProcess, cause: string): Promise<string | undefined> {
  const line = new RegExp(`^fraud_connector_hold\\{cause="${cause}",scope="probe"\\} (\\d)$`, 'm');
  return line.exec(await connector.text('/metrics'))?.[1];
}

/** Waits until it says of every cause that it is silent, and says it everywhere. */
async function isNamed(
  connector: ConnectorProcess,
  causes: readonly string[],
  flows: readonly string[],
): Promise<void> {
  await eventually(
    `${causes.join(' and ')} named`,
    async () => {
      const holds = (await connector.status())?.holds ?? [];
      return causes.every((cause) => holds.some((hold) => hold.scope === 'probe' && hold.cause === cause));
    },
    LIMIT_MS,
  );
  expect(await readyOf(connector)).toEqual(FLOWS.map((flow) => (flows.includes(flow) ? 503 : 200)));
  expect(await connector.probe('/livez')).toBe(200);
  expect(probeLines(connector, 'hold_started').map(({ cause }) => cause)).toEqual(expect.arrayContaining([...causes]));
  for (const cause of causes) expect(await gauge(connector, cause)).toBe('1');
}

/** Waits until it says of every cause that it is over, and that all flows are ready. */
async function isOver(connector: ConnectorProcess, causes: readonly string[]): Promise<void> {
  await eventually(
    `the end of ${causes.join(' and ')}`,
    async () =>
      (await connector.status())?.holds.length === 0 && (await readyOf(connector)).every((code) => code === 200),
    LIMIT_MS,
  );
  for (const cause of causes) expect(await gauge(connector, cause)).toBe('0');
  const ended = probeLines(connector, 'hold_ended').map(({ cause }) => cause);
  expect(ended).toEqual(expect.arrayContaining([...causes]));
  expect(ended.length).toBe(probeLines(connector, 'hold_started').length);
}

describe('an idle connector names', () => {
  test('its only broker when that is frozen, and the end of it', async () => {
    const kafka: KafkaAndRegistry = await startKafka({
      registry: false,
      env: process.env,
      say: () => undefined,
      security: { listeners: [] },
    });
    opened.push({ close: async () => await kafka.stop() });
    const { registryUrl } = inject('kafka');
    const world = await PaymentWorld.open({ brokers: kafka.brokers, registryUrl, env: ALL_FLOWS });
    opened.push(world);
    const connector = await (await world.start()).ready();
    await eventually('all is well', async () => (await readyOf(connector)).every((code) => code === 200));
    const [node] = kafka.nodes;
    await node?.kill('SIGSTOP');
    try {
      await isNamed(connector, ['kafka'], FLOWS);
    } finally {
      await node?.kill('SIGCONT');
    }
    await isOver(connector, ['kafka']);
    expect(probeLines(connector, 'hold_started')).toHaveLength(1);
    expect(connector.said('source_failed')).toEqual([]);
    expect(await connector.stop()).toMatchObject({ code: 0 });
  });

  test('a registry that does not answer, and a service without TLS or without a port; never itself, frozen', async () => {
    const { brokers, registryUrl } = inject('kafka');
    const registry = await IllRegistry.before(registryUrl);
    opened.push(registry);
    const world = await PaymentWorld.open({ brokers, registryUrl: registry.url, env: ALL_FLOWS });
    opened.push(world);
    const service = await TlsRelay.open(world.service.baseUrl, authority.issue());
    opened.push(service);
    const gate = await GatePort.to(service.port);
    opened.push(gate);
    const connector = await world.start({
      SERVICE_BASE_URL: `https://localhost:${String(gate.port)}`,
      SERVICE_TLS_CA_FILE: path.join(folder, 'ca.crt'),
    });
    await connector.ready();
    await eventually('all is well', async () => (await readyOf(connector)).every((code) => code === 200));
    await eventually('it has logged in', () => connector.said('login').length === 1);

    connector.signal('SIGSTOP');
    await sleep(10_000);
    connector.signal('SIGCONT');
    await sleep(10_000);
    expect(probeLines(connector, 'hold_started')).toEqual([]);

    registry.illness = 'hangs';
    await gate.mute();
    await isNamed(connector, ['registry', 'service_down'], READS);
    registry.illness = null;
    await gate.lead();
    await isOver(connector, ['registry', 'service_down']);

    await gate.close();
    await isNamed(connector, ['service_down'], READS);
    await gate.lead();
    await isOver(connector, ['service_down']);

    // Connections alone: nobody logs in to see whether that works.
    expect(connector.said('login')).toHaveLength(1);
    expect(world.service.ledger().summary()).toMatchObject({ transactions: 0 });
    expect(await connector.stop()).toMatchObject({ code: 0 });
  });
});
