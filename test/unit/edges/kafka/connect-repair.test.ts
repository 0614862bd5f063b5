import { createRequire } from 'node:module';
import { createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { repairKafkajs } from '../../../../src/edges/kafka/repairs.ts';
import { type Connection as Opened } from '../../../../src/edges/kafka/silence-repair.ts';
import { socketFactory } from '../../../../src/edges/kafka/sockets.ts';

type ConnectionClass = new (options: object) => Opened;

const Connection = createRequire(import.meta.url)('kafkajs/src/network/connection') as ConnectionClass;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const ending: (() => void)[] = [];
afterEach(() => {
  for (const end of ending.splice(0)) end();
});

/** A connection of kafkajs to a broker that takes what comes, and the sockets that were opened for it. */
async function connection(): Promise<{ readonly made: Opened; readonly sockets: Socket[] }> {
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
  const made = new Connection({
    host: '127.0.0.1',
    port: typeof address === 'object' && address !== null ? address.port : 0,
    logger: { namespace: () => silent },
    socketFactory: (options: Parameters<ReturnType<typeof socketFactory>>[0]) => {
      const socket = socketFactory(null)(options);
      sockets.push(socket);
      return socket;
    },
    requestTimeout: 10_000,
    connectionTimeout: 10_000,
  });
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
