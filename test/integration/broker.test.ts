import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Kafka, logLevel } from 'kafkajs';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { isFault } from '../../src/kernel/fault.ts';
import { type KafkaAndRegistry, startKafka } from '../../src/sandbox/broker/start.ts';

const START = new URL('../../src/sandbox/broker/start.ts', import.meta.url).href;
const RUN = new URL('../../src/sandbox/broker/run.ts', import.meta.url).href;
const silent = (): void => undefined;

/** A program that starts another one in a run, one that ends at no request, says which process that is, and stays. */
const PARENT_OF_DEAF = `
import { Run } from ${JSON.stringify(RUN)};
const run = await Run.open();
const args = ['-e', 'process.on("SIGTERM", () => undefined); setInterval(() => undefined, 1000)'];
const child = await run.start({ name: 'Deaf', command: process.execPath, args, cwd: '/', env: {} });
console.log(JSON.stringify([child.pid]));
`;

/** A program that starts a broker, says which process it is, and stays. */
const PARENT = `
import { startKafka } from ${JSON.stringify(START)};
const kafka = await startKafka({ nodes: 3, registry: false, env: process.env, say: () => undefined });
console.log(JSON.stringify(kafka.nodes.map((node) => node.pid)));
setInterval(() => undefined, 1000);
`;

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function foldersOf(pid: number): Promise<string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith(`fraud-screening-connector-run-${String(pid)}-`));
}

/** Asks again until `isTrue`, for at most 15 s. */
async function soon(isTrue: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let turn = 0; turn < 300; turn += 1) {
    if (await isTrue()) return true;
    await sleep(50);
  }
  return false;
}

function client(brokers: string[]): Kafka {
  return new Kafka({ brokers, clientId: 'broker-test', logLevel: logLevel.NOTHING });
}

describe('the broker and the registry of the tests', () => {
  test('take the first join of a group without an error', async () => {
    const kafka = client(inject('kafka').brokers);
    const topic = `broker-test-${String(process.pid)}`;
    const admin = kafka.admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
    await admin.disconnect();
    const producer = kafka.producer();
    await producer.connect();
    await producer.send({ topic, messages: [{ key: 'k', value: 'v' }] });
    await producer.disconnect();

    const consumer = kafka.consumer({ groupId: topic, retry: { retries: 0 } });
    onTestFinished(async () => {
      await consumer.disconnect();
    });
    const crashes: unknown[] = [];
    consumer.on('consumer.crash', ({ payload }) => crashes.push(payload.error));
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    const { promise: value, resolve } = Promise.withResolvers<string | undefined>();
    await consumer.run({
      eachMessage: async ({ message }) => {
        resolve(message.value?.toString());
        await Promise.resolve();
      },
    });
    expect(await value).toBe('v');
    expect(crashes).toEqual([]);
  });

  test('refuse a schema that breaks readers of the last one', async () => {
    const { registryUrl } = inject('kafka');
    const subject = `${registryUrl}/subjects/broker-test-${String(process.pid)}-value/versions`;
    const post = async (type: string): Promise<number> => {
      const schema = JSON.stringify({ type: 'record', name: 'R', fields: [{ name: 'f', type }] });
      const answer = await fetch(subject, {
        method: 'POST',
        headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
        body: JSON.stringify({ schema }),
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    expect(await post('long')).toBe(200);
    expect(await post('string')).toBe(409);
  });
});

describe('three nodes', () => {
  test('go on without one that was killed, and take it back on its port', async () => {
    const kafka: KafkaAndRegistry = await startKafka({ nodes: 3, registry: false, env: process.env, say: silent });
    onTestFinished(async () => {
      await kafka.stop();
    });
    expect(kafka).toMatchObject({ how: 'java', registryUrl: '' });
    const last = kafka.nodes[2];
    const pid = last?.pid ?? 0;
    const admin = client(kafka.brokers.slice(0, 2)).admin();
    onTestFinished(async () => {
      await admin.disconnect();
    });
    await admin.connect();
    const members = async (): Promise<number> => (await admin.describeCluster()).brokers.length;
    expect(await members()).toBe(3);

    await last?.kill('SIGKILL');
    expect(isAlive(pid)).toBe(false);
    expect(await soon(async () => (await members()) === 2)).toBe(true);

    await last?.start();
    expect(await soon(async () => (await members()) === 3)).toBe(true);
    expect(last?.pid).not.toBe(pid);

    await kafka.stop();
    expect(kafka.nodes.map((node) => isAlive(node.pid))).toEqual([false, false, false]);
  });
});

describe('when the process that started them is killed with SIGKILL', () => {
  test.each([
    ['three nodes end, with their folder', PARENT, 3],
    // Kafka ends by itself when its folder goes; this one does not.
    ['a program that ends at no request ends', PARENT_OF_DEAF, 1],
  ])('%s', async (_, program, count) => {
    const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let pids: number[] = [];
    onTestFinished(() => {
      for (const pid of [parent.pid ?? 0, ...pids]) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    const [line] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
    pids = JSON.parse(line) as number[];
    expect(pids.filter(isAlive)).toHaveLength(count);
    expect(await foldersOf(parent.pid ?? 0)).toHaveLength(1);

    parent.kill('SIGKILL');
    expect(await soon(() => !pids.some(isAlive))).toBe(true);
    expect(await soon(async () => (await foldersOf(parent.pid ?? 0)).length === 0)).toBe(true);
  });
});

describe('a download that fails', () => {
  test('says why, and leaves nothing that would be believed', async () => {
    const root = await mkdtemp(join(tmpdir(), 'broker-test-'));
    onTestFinished(async () => {
      await rm(root, { recursive: true, force: true });
    });
    await mkdir(join(root, 'bin'));
    const failing = '#!/bin/sh\necho "[ERROR] the network is down"\nexit 1\n';
    await writeFile(join(root, 'bin/mvn'), failing, { mode: 0o755 });
    const cache = join(root, 'cache');
    const env = { ...process.env, MAVEN_HOME: root, FRAUD_CONNECTOR_CACHE_DIR: cache };
    const error: unknown = await startKafka({ nodes: 3, env, say: silent }).catch((reason: unknown) => reason);
    expect(isFault(error, 'DOWNLOAD_FAILED')).toBe(true);
    expect(String(error)).toContain('[ERROR] the network is down');
    expect(await readdir(cache)).toEqual([]);
    expect(await foldersOf(process.pid)).toEqual([]);
  });
});
