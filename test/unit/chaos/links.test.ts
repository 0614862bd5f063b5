import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { coordinatorPartition } from '../../chaos/cluster-view.ts';
import { Links } from '../../chaos/links.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const nothing = async (): Promise<void> => {
  await Promise.resolve();
};

let links: Links;

beforeEach(async () => {
  links = await Links.open(2, new ManualClock());
});

afterEach(async () => {
  await links.close();
});

test('each node is advertised to each connector with a port of its own', () => {
  const ports = links.detours.flat();
  expect(links.detours.map((each) => each.length)).toEqual([2, 2, 2]);
  expect(new Set(ports).size).toBe(6);
  expect(links.toNode(2, 3).port).toBe(links.detours[2]?.[1]);
});

test('nobody gets through before the wires lead anywhere', async () => {
  expect(() => links.envOf(1)).toThrow('lead nowhere');
  const socket = connect(links.toRegistry(1).port, '127.0.0.1');
  const error = await new Promise((resolve) => {
    socket.once('error', ({ code }: NodeJS.ErrnoException) => {
      resolve(code);
    });
  });
  expect(error).toBe('ECONNRESET');
});

test('a connector is told its own wires, which keep the path', () => {
  links.lead({ nodes: [], registryUrl: 'http://127.0.0.1:1/apis/v7', serviceUrl: 'http://127.0.0.1:2' });
  const { brokers, registryUrl, serviceUrl } = links.envOf(2);
  expect(brokers.split(',')).toEqual([1, 2, 3].map((node) => `127.0.0.1:${String(links.toNode(2, node).port)}`));
  expect(registryUrl).toBe(`http://127.0.0.1:${String(links.toRegistry(2).port)}/apis/v7`);
  expect(serviceUrl).toBe(`http://127.0.0.1:${String(links.toService(2).port)}`);
  expect(() => links.envOf(3)).toThrow('no wires of connector 3');
  expect(() => links.toNode(1, 4)).toThrow('no wire to node 4');
});

test('a wire to a node ends at that node’s listener for the connector', async () => {
  const listener = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end('connector 2 at node 1');
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  const detours = [1, (listener.address() as AddressInfo).port];
  const node = { id: 1, pid: 0, detours, secured: new Map<string, number>(), kill: nothing, start: nothing };
  links.lead({ nodes: [node], registryUrl: 'http://127.0.0.1:1', serviceUrl: 'http://127.0.0.1:2' });
  const socket = connect(links.toNode(2, 1).port, '127.0.0.1');
  socket.on('error', () => undefined);
  const [heard] = (await once(socket, 'data')) as [Buffer];
  expect(heard.toString()).toBe('connector 2 at node 1');
  socket.destroy();
  listener.close();
});

test.each([
  ['chaos', 94_623_616],
  ['a', 97],
  ['', 0],
])('a group is coordinated by the partition that its name’s hash says: %j', (group, hash) => {
  expect(coordinatorPartition(group, 3)).toBe(hash % 3);
  expect(coordinatorPartition(group, 0)).toBe(0);
});
