import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { BrokerTraffic } from '../../../../src/edges/kafka/broker-traffic.ts';
import { createKafkaClient } from '../../../../src/edges/kafka/client.ts';
import { ClusterProbe } from '../../../../src/edges/kafka/cluster-probe.ts';
import { type EventName } from '../../../../src/kernel/emit.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

function probing(port: number): { probe: ClusterProbe; said: EventName[] } {
  const said: EventName[] = [];
  const traffic = new BrokerTraffic(new ManualClock());
  const settings = { brokers: [`127.0.0.1:${String(port)}`], clientId: 'test', sessionTimeoutMs: 6000 };
  const client = createKafkaClient(settings, (event) => said.push(event));
  const probe = new ClusterProbe({ client, topics: ['payments'], groupId: 'group', traffic });
  closing.push(async () => {
    await probe.close();
  });
  return { probe, said };
}

async function mute(): Promise<{ port: number; came: Set<Socket> }> {
  const came = new Set<Socket>();
  const server = createServer((socket) => {
    came.add(socket);
    socket.on('error', () => undefined).resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(async () => {
    for (const socket of came) socket.destroy();
    server.close();
    await once(server, 'close');
  });
  return { port: (server.address() as AddressInfo).port, came };
}

test('a broker that takes connections and never answers is told before the time of a probe is over, again and again', async () => {
  const { port, came } = await mute();
  const { probe, said } = probing(port);
  for (let n = 0; n < 2; n += 1) {
    const startedMs = performance.now();
    expect(await probe.probe()).toMatch(/Timeout/);
    expect(performance.now() - startedMs).toBeLessThan(3000);
  }
  expect(came.size).toBe(2);
  expect(said).toEqual([]);
});

test('a broker that refuses connections is told by the name of that, and nothing else is said of it', async () => {
  const { port } = await mute();
  await closing.pop()?.();
  const { probe, said } = probing(port);
  for (let n = 0; n < 3; n += 1) expect(await probe.probe()).toMatch(/ECONNREFUSED/);
  expect(said).toEqual([]);
});

test('a probe that has been closed asks nobody', async () => {
  const { port, came } = await mute();
  const { probe } = probing(port);
  await probe.close();
  expect(await probe.probe()).toBeNull();
  expect(came.size).toBe(0);
});
