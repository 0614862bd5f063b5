import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { openTo, vitalsOf } from '../../chaos/vitals.ts';

describe('what a process takes up', () => {
  test('is what the system says of it, and its heap what its own metrics say', async () => {
    const server = createServer((_, response) => {
      response.end('# HELP x\nnodejs_heap_size_used_bytes{job="a"} 4.2e7\nnodejs_heap_size_total_bytes 1\n');
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    try {
      const opsUrl = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
      const vitals = await vitalsOf({ owner: '1.1', pid: process.pid, opsUrl, servicePort: 9, atMs: 5 });
      expect(vitals).toMatchObject({ owner: '1.1', atMs: 5, heapBytes: 42_000_000 });
      expect(vitals?.residentBytes).toBeGreaterThan(1_000_000);
      expect(vitals?.sockets).toBeGreaterThanOrEqual(1);
      expect(vitals?.files).toBeGreaterThan(vitals?.sockets ?? 0);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test('has no heap where it does not answer, and is nothing where it has ended', async () => {
    const silent = { owner: '1.1', opsUrl: 'http://127.0.0.1:1', servicePort: 9, atMs: 0 };
    expect(await vitalsOf({ ...silent, pid: process.pid })).toMatchObject({ heapBytes: null });
    expect(await vitalsOf({ ...silent, pid: 2 ** 30 })).toBeNull();
    expect(await vitalsOf({ ...silent, pid: undefined })).toBeNull();
  });

  test('has as pooled what is open to the service', async () => {
    const service = createServer();
    await new Promise<void>((resolve) => {
      service.listen(0, '127.0.0.1', resolve);
    });
    const { port } = service.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    const asked = { owner: '1.1', pid: process.pid, opsUrl: 'http://127.0.0.1:1', atMs: 0 };
    expect(await vitalsOf({ ...asked, servicePort: port })).toMatchObject({ pooled: 1 });
    expect(await vitalsOf({ ...asked, servicePort: 9 })).toMatchObject({ pooled: 0 });
    socket.destroy();
    service.closeAllConnections();
    service.close();
  });
});

const row = (remote: string, state: string, inode: string): string =>
  `   1: 0100007F:A1B2 ${remote} ${state} 00000000:00000000 02:000009C5 00000000     0        0 ${inode} 2 0000000000000000 20 4 30 10 -1`;

test('of the table of connections those count that are open to the port, and none that only waits for its end', () => {
  const table = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    row('0100007F:1F90', '01', '101'),
    row('0100007F:1F90', '08', '102'),
    row('0100007F:1F91', '01', '103'),
    '',
  ].join('\n');
  expect(openTo(8080, table)).toEqual(new Set(['101']));
});
