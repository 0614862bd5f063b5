import { createServer, type Server } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { listenError } from '../../../../src/edges/system/ports.ts';

let server: Server;
let port = 0;
beforeEach(async () => {
  server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address !== null && typeof address === 'object') ({ port } = address);
});
afterEach(() => {
  server.close();
});

test('a port that somebody has cannot be listened on', async () => {
  expect(await listenError('127.0.0.1', port)).toBe('EADDRINUSE');
});

test('a port that nobody has can be listened on, again and again', async () => {
  await new Promise<void>((resolve) => {
    server.close(() => {
      resolve();
    });
  });
  expect(await listenError('127.0.0.1', port)).toBeNull();
  expect(await listenError('127.0.0.1', port)).toBeNull();
});

test('an address of another machine cannot be listened on', async () => {
  expect(await listenError('192.0.2.1', 0)).toBe('EADDRNOTAVAIL');
});
