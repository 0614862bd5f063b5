import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { isFault } from '../../../../src/kernel/fault.ts';
import {
  addressOf,
  brokerEnvironment,
  isLeftOver,
  type OnDocker,
  ownerLabel,
  startOnDocker,
  startScript,
} from '../../../../src/sandbox/broker/docker.ts';
import { StandInEngine } from './stand-in-engine.ts';

const dead = (): boolean => false;
const alive = (): boolean => true;

describe('containers left behind', () => {
  test.each([undefined, '', 'here', 'here x', 'here 0', 'here -1'])('are not those labelled %s', (label) => {
    expect(isLeftOver(label, 'here', dead)).toBe(false);
  });

  test('are not those of a living process, nor of another machine', () => {
    expect(isLeftOver(ownerLabel('here', 77), 'here', alive)).toBe(false);
    expect(isLeftOver(ownerLabel('there', 77), 'here', dead)).toBe(false);
  });

  test('are those of a process of this machine that has died', () => {
    expect(isLeftOver(ownerLabel('here', 77), 'here', (pid) => pid !== 77)).toBe(true);
  });
});

test('the broker says the address that is known only after the start', () => {
  expect(brokerEnvironment()).not.toHaveProperty('KAFKA_ADVERTISED_LISTENERS');
  expect(startScript('127.0.0.1:32771')).toContain('KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:32771,BROKER://');
});

test('the broker has the settings of a single node', () => {
  expect(brokerEnvironment()).toMatchObject({
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
  });
});

test('a published port is reached by an address of version 4', () => {
  expect(addressOf('localhost', 1)).toBe('127.0.0.1:1');
  expect(addressOf('172.17.0.1', 1)).toBe('172.17.0.1:1');
});

async function start(readyLimitMs = 20_000): Promise<OnDocker> {
  return await startOnDocker({ version: '4.3.1', registry: true, say: () => undefined, readyLimitMs });
}

async function failure(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => 'no failure',
    (error: unknown) => (isFault(error) ? `${error.code}: ${error.message}` : String(error)),
  );
}

describe('beside an engine', () => {
  const OWNER = 'fraud-screening-connector.owner';
  let folder: string;
  let engine: StandInEngine;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'engine-'));
    // The library looks for its engine once: every test has the same socket.
    vi.stubEnv('DOCKER_HOST', `unix://${join(folder, 'engine.sock')}`);
    vi.stubEnv('TESTCONTAINERS_HOST_OVERRIDE', 'localhost');
    vi.stubEnv('TESTCONTAINERS_RYUK_DISABLED', 'true');
  });
  beforeEach(async () => {
    engine = new StandInEngine(join(folder, 'engine.sock'));
    await engine.open();
  });
  afterEach(() => {
    engine.close();
  });
  afterAll(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });

  test('broker and registry are started, told their address, and removed', async () => {
    engine.leave({ [OWNER]: ownerLabel(hostname(), 2 ** 30) });
    const started = await start();
    const { brokers, registryUrl } = started;
    const [broker, registry] = engine.containers.toSorted((a, b) => (a.image < b.image ? -1 : 1));
    expect(broker).toMatchObject({
      image: 'apache/kafka:4.3.1',
      labels: { [OWNER]: ownerLabel(hostname(), process.pid) },
    });
    expect(registry).toMatchObject({ image: expect.stringMatching(/^apicurio\/apicurio-registry:/) as unknown });
    expect(brokers[0]).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(broker?.copied).toContain(`KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://${String(brokers[0])},BROKER://`);
    expect(broker?.env).toContain('KAFKA_PROCESS_ROLES=broker,controller');
    expect(registryUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/apis\/ccompat\/v7$/);
    await Promise.all([started.stop(), started.stop()]);
    expect(engine.containers).toEqual([]);
    const ends = engine.asked.filter((asked) => /^DELETE |\/stop$/.test(asked));
    expect(ends).toHaveLength(5);
    expect(ends[0]).toBe('DELETE /containers/c1');
  });

  test('a broker that never becomes healthy is a fault with its last lines, and nothing is left', async () => {
    engine.ills = { silentBroker: true };
    expect(await failure(start(1000))).toMatch(/^CHILD_FAILED: .*not ready in time:\n.*waiting for the address/s);
    expect(engine.containers).toEqual([]);
  });

  test('a registry that never becomes healthy is a failure, and nothing is left', async () => {
    engine.ills = { illRegistry: true };
    expect(await failure(start(1000))).toContain('/apis/ccompat/v7/subjects not accessible after 1000ms');
    expect(engine.containers).toEqual([]);
  });

  test.each(['POST /containers/create', 'POST /containers/c1/start', 'PUT /containers/'])(
    'an engine that goes away at %s is named as the cause, not the containers that could not be removed',
    async (dieAt) => {
      engine.ills = { dieAt };
      const why = await failure(start(1000));
      expect(engine.asked.some((asked) => asked.startsWith(dieAt))).toBe(true);
      expect(why).not.toContain('could not be removed');
      expect(why).toMatch(/ECONNREFUSED|ENOENT|ECONNRESET|EPIPE|socket hang up/);
    },
  );

  test('an engine that is gone at the end is a fault: its containers may still run', async () => {
    const started = await start();
    engine.goAway();
    expect(await failure(started.stop())).toMatch(/^CHILD_FAILED: A container could not be removed/);
  });
});
