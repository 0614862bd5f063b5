import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest';
import { freePorts } from '../../src/sandbox/broker/ports.ts';
import { type ScreeningService, startScreeningService } from '../../src/sandbox/service/screening-service.ts';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { ConnectorProcess, type Ending, type Environment } from '../support/connector-process.ts';
import { eventually } from '../support/eventually.ts';
import { LatePort } from '../support/late-port.ts';
import { PaymentWorld, recordsOf, somePayments } from '../support/payment-world.ts';

const kafka = inject('kafka');
const opened = new ReleaseStack();

afterEach(async () => {
  await opened.release();
});

async function start(env: Environment): Promise<ConnectorProcess> {
  const connector = await ConnectorProcess.start(env);
  opened.push('connector', async () => await connector.kill());
  return connector;
}

async function openWorld(): Promise<PaymentWorld> {
  const world = await PaymentWorld.open({ ...kafka });
  opened.push('world', async () => {
    await world.close();
  });
  return world;
}

/** Configuration that is right; nothing of it need be there. */
const RIGHT: Environment = {
  KAFKA_BROKERS: '127.0.0.1:9',
  SCHEMA_REGISTRY_URL: 'http://127.0.0.1:9',
  SERVICE_BASE_URL: 'http://127.0.0.1:9',
  SERVICE_USERNAME: 'user',
  SERVICE_PASSWORD: 'canary-password',
  WEBHOOK_SECRETS: 'canary-webhook-secret-of-more-than-24-bytes',
};

describe('a configuration that is wrong', () => {
  test('ends the start with exit 2, every problem at once, and no value of a secret', async () => {
    const secrets = { SERVICE_PASSWORD: 'canary-password', WEBHOOK_SECRETS: 'canary-1,canary-2,canary-3,canary-4' };
    const connector = await start({
      KAFKA_BROKERS: 'no-port',
      SERVICE_BASE_URL: 'ftp://127.0.0.1',
      SERVICE_USERNAME: 'a:b',
      OPS_PORT: '99999',
      SCORING_CONCURENCY: '8',
      COMMIT_INTERVAL_MS: 'soon',
      ...secrets,
    });
    expect(await connector.ended).toMatchObject({ code: 2 } satisfies Partial<Ending>);
    for (const name of [
      'KAFKA_BROKERS',
      'SCHEMA_REGISTRY_URL',
      'SERVICE_BASE_URL',
      'SERVICE_USERNAME',
      'OPS_PORT',
      'SCORING_CONCURENCY',
      'COMMIT_INTERVAL_MS',
      'WEBHOOK_SECRETS',
    ])
      expect(connector.output).toContain(name);
    for (const secret of Object.values(secrets)) expect(connector.output).not.toContain(secret);
  });

  test('also where a flow is named that does not exist', async () => {
    const connector = await ConnectorProcess.start(RIGHT, ['run', '--flows', 'scoring,snyc']);
    expect(await connector.ended).toMatchObject({ code: 2 });
    expect(connector.output).toContain('snyc');
  });
});

describe('a port that is taken', () => {
  let server: Server;
  let port = '';
  beforeEach(async () => {
    const [free = 0] = await freePorts(1);
    port = String(free);
    server = createServer();
    await new Promise<void>((resolve) => server.listen(free, '127.0.0.1', resolve));
  });
  afterEach(() => {
    server.close();
  });

  test.for(['OPS_PORT', 'WEBHOOK_PORT'])('ends the start with exit 2 and the name of the option: %s', async (name) => {
    const connector = await start({ ...RIGHT, [name]: port });
    expect(await connector.ended).toMatchObject({ code: 2 });
    expect(connector.said('fatal')).toMatchObject([{ code: 'PORT_TAKEN' }]);
    expect(String(connector.said('fatal')[0]?.['message'])).toContain(name);
  });
});

describe('a neighbour that has not what is needed', () => {
  test('ends the start with exit 2 and the name of the missing topic', async () => {
    const world = await openWorld();
    const connector = await world.start({ TOPIC_AUTHORIZED: 'nowhere.authorized' });
    expect(await connector.ended).toMatchObject({ code: 2 });
    const [fatal] = connector.said('fatal');
    expect(fatal).toMatchObject({ code: 'TOPIC_MISSING' });
    expect(String(fatal?.['message'])).toContain('nowhere.authorized ');
    expect(String(fatal?.['message'])).toContain('nowhere.authorized.dlq');
    expect(String(fatal?.['message'])).not.toContain(world.topics.created);
  });

  test('ends the start with exit 2 and the name of the missing schema', async () => {
    const world = await openWorld();
    const topic = `${world.topics.scores}.new`;
    await world.createTopic(topic);
    const connector = await world.start({ TOPIC_SCORES: topic });
    expect(await connector.ended).toMatchObject({ code: 2 });
    expect(connector.said('fatal')).toMatchObject([{ code: 'SCHEMA_MISSING' }]);
    expect(String(connector.said('fatal')[0]?.['message'])).toContain(`${topic}-value`);
  });
});

/** Its cause is held, and for how long; null: it is not. */
async function heldForMs(connector: ConnectorProcess, cause: string): Promise<number | null> {
  return (await connector.status())?.holds.find((hold) => hold.cause === cause)?.ageMs ?? null;
}

describe('a neighbour that is away at start', () => {
  test('is waited for, named with its age, and never a reason to dead-letter', async () => {
    const world = await openWorld();
    const letters = await world.read(world.letters(world.topics.created), world.letters(world.topics.authorized));
    const registryUrl = new URL(kafka.registryUrl);
    const [toKafka, toRegistry] = await Promise.all([
      LatePort.to(Number(kafka.brokers[0]?.split(':')[1])),
      LatePort.to(Number(registryUrl.port)),
    ]);
    for (const port of [toKafka, toRegistry])
      opened.push('late port', async () => {
        await port.close();
      });
    const [servicePort = 0] = await freePorts(1);
    registryUrl.port = String(toRegistry.port);
    const connector = await start({
      ...world.env,
      KAFKA_BROKERS: `127.0.0.1:${String(toKafka.port)}`,
      SCHEMA_REGISTRY_URL: registryUrl.href.replace(/\/$/, ''),
      SERVICE_BASE_URL: `http://127.0.0.1:${String(servicePort)}`,
    });

    await eventually(
      'both holds are a second old',
      async () =>
        ((await heldForMs(connector, 'kafka')) ?? 0) > 1000 && ((await heldForMs(connector, 'registry')) ?? 0) > 1000,
    );
    expect([await connector.probe('/livez'), await connector.probe('/readyz')]).toEqual([200, 503]);
    expect(connector.said('hold_started')).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ cause: 'kafka', scope: 'start' }),
        expect.objectContaining({ cause: 'registry', scope: 'start' }),
      ]) as object,
    );

    await toKafka.open();
    await eventually('Kafka is no longer held for', async () => (await heldForMs(connector, 'kafka')) === null);
    expect(await heldForMs(connector, 'registry')).toBeGreaterThan(1000);
    expect(await connector.probe('/readyz')).toBe(503);
    await toRegistry.open();
    await connector.ready();
    expect(connector.said('hold_ended').map(({ cause }) => cause)).toEqual(['kafka', 'registry']);

    const payments = somePayments(30);
    const { created, authorized } = recordsOf(payments);
    await world.send(world.topics.created, ...created);
    await world.send(world.topics.authorized, ...authorized);
    await eventually('scoring says what it waits for', async () => {
      const waits = (await connector.flow('scoring'))?.waits ?? [];
      return waits.some(({ cause, ageMs }) => cause === 'service_down' && ageMs > 2000);
    });
    expect([await connector.probe('/livez'), await connector.probe('/readyz')]).toEqual([200, 200]);
    await eventually('the log says so', () =>
      connector.said('hold_started').some(({ cause }) => cause === 'service_down'),
    );
    expect(await connector.probe('/readyz/scoring')).toBe(503);

    const { user, password } = world.service;
    const late: ScreeningService = await startScreeningService({ port: servicePort, user, password });
    opened.push('late service', async () => {
      await late.close();
    });
    await eventually('everything is scored and linked', () => {
      const { transactions, linked } = late.ledger().summary();
      return transactions === payments.length && linked === payments.length;
    });
    await eventually('the holds are over', async () => (await connector.status())?.holds.length === 0);
    expect(letters.records).toEqual([]);
    expect(await connector.stop()).toMatchObject({ code: 0 });
  });
});
