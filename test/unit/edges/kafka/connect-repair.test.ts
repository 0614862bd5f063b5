import { createRequire } from 'node:module';
import { createServer, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, expect, test, vi } from 'vitest';
import { repairKafkajs } from '../../../../src/edges/kafka/repairs.ts';
import { type Connection as Opened } from '../../../../src/edges/kafka/silence-repair.ts';
import { socketFactory } from '../../../../src/edges/kafka/sockets.ts';

type ConnectionClass = new (options: object) => Opened;

/** kafkajs' pool of brokers, as far as it is tried here. */
interface Pool {
  createBroker(options: object): unknown;
  connectBroker(broker: unknown): Promise<void>;
}

const load = createRequire(import.meta.url);
const Connection = load('kafkajs/src/network/connection') as ConnectionClass;
const ConnectionPool = load('kafkajs/src/network/connectionPool') as new (options: object) => object;
const BrokerPool = load('kafkajs/src/cluster/brokerPool') as new (options: object) => Pool;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const ending: (() => void)[] = [];
afterEach(() => {
  for (const end of ending.splice(0)) end();
  vi.useRealTimers();
});

/** What kafkajs is told of a broker that takes what comes and answers nothing, and the sockets that are opened to it. */
async function quietBroker(): Promise<{ readonly options: object; readonly sockets: Socket[] }> {
  repairKafkajs();
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    ending.push(() => socket.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  ending.push(() => server.close());
  const address = server.address();
  const sockets: Socket[] = [];
  const options = {
    host: '127.0.0.1',
    port: typeof address === 'object' && address !== null ? address.port : 0,
    logger: { namespace: () => silent },
    socketFactory: (to: Parameters<ReturnType<typeof socketFactory>>[0]) => {
      const socket = socketFactory(null)(to);
      sockets.push(socket);
      return socket;
    },
    requestTimeout: 10_000,
    connectionTimeout: 10_000,
  };
  return { options, sockets };
}

async function connection(): Promise<{ readonly made: Opened; readonly sockets: Socket[] }> {
  const { options, sockets } = await quietBroker();
  const made = new Connection(options);
  ending.push(() => void made.disconnect());
  return { made, sockets };
}

test('all who ask for a connection while it is being opened get the same one', async () => {
  const { made, sockets } = await connection();
  expect(await Promise.all([made.connect(), made.connect(), made.connect()])).toEqual([true, true, true]);
  expect([sockets.length, made.isConnected()]).toEqual([1, true]);
  await made.connect();
  expect(sockets).toHaveLength(1);
});

test('one that failed is followed by another one', async () => {
  const { made, sockets } = await connection();
  const attempts = [made.connect(), made.connect()];
  sockets[0]?.destroy(new Error('refused'));
  for (const attempt of attempts) await expect(attempt).rejects.toThrow('refused');
  expect(await made.connect()).toBe(true);
  expect(sockets).toHaveLength(2);
});

test('nobody waits for an attempt that was given up: its socket is destroyed, and another one opened', async () => {
  const { made, sockets } = await connection();
  void made.connect().catch(() => undefined);
  await made.disconnect();
  expect(sockets[0]?.destroyed).toBe(true);
  expect(await made.connect()).toBe(true);
  expect([sockets.length, made.isConnected()]).toEqual([2, true]);
});

test('who waits for an attempt that is given up is told at once', async () => {
  const { made } = await connection();
  const attempts = [made.connect(), made.connect()];
  const ends = Promise.allSettled(attempts);
  await made.disconnect();
  const refused = { reason: { name: 'KafkaJSConnectionError', message: 'The attempt to connect was given up' } };
  expect(await ends).toMatchObject([refused, refused]);
});

test('the time-out of an attempt that was given up leaves the connection alone that was opened after it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { made, sockets } = await connection();
  const attempt = made.connect();
  const end = Promise.allSettled([attempt]);
  await made.disconnect();
  await end;
  expect(await made.connect()).toBe(true);
  vi.advanceTimersByTime(10_000);
  await turn();
  expect([made.isConnected(), sockets[1]?.destroyed, sockets[1]?.writable]).toEqual([true, false, true]);
});

test('the late end of a socket leaves the connection alone that was opened after it', async () => {
  const { made, sockets } = await connection();
  await made.connect();
  await made.disconnect();
  await made.connect();
  sockets[0]?.emit('end');
  await turn();
  expect([made.isConnected(), sockets[1]?.writable]).toEqual([true, true]);
});

test('one whose attempt has failed does not end the attempt of the next in line', async () => {
  const { options, sockets } = await quietBroker();
  const connectionPool = new ConnectionPool(options);
  const pool = new BrokerPool({
    connectionPoolBuilder: {},
    logger: { namespace: () => silent },
    retry: { retries: 0 },
  });
  const broker = pool.createBroker({
    connectionPool,
    logger: { namespace: () => silent },
    authenticationTimeout: 10_000,
  });
  const attempts = [0, 1].map(async () => await pool.connectBroker(broker));
  const ends = Promise.allSettled(attempts);
  await turn();
  sockets[0]?.destroy(new Error('refused'));
  await attempts[0]?.catch(() => undefined);
  expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true, false]);
  sockets[1]?.destroy(new Error('ended by the test'));
  expect(await ends).toMatchObject([
    { reason: { message: 'Connection error: refused' } },
    { reason: { message: 'Connection error: ended by the test' } },
  ]);
});
