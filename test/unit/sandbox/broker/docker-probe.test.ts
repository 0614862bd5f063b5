import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { dockerAddress, whyNoDocker } from '../../../../src/sandbox/broker/docker-probe.ts';
import { temporaryFolder } from './temporary.ts';

async function engine(where: string | number, answer: RequestListener): Promise<number> {
  const server = createServer(answer);
  if (typeof where === 'string') server.listen(where);
  else server.listen(where, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return typeof where === 'string' ? 0 : (server.address() as AddressInfo).port;
}

const answersPing: RequestListener = (request, response) => {
  response.statusCode = request.url === '/_ping' ? 200 : 404;
  response.end('OK');
};

describe('where an engine is looked for', () => {
  test('DOCKER_HOST decides alone', () => {
    expect(dockerAddress({ DOCKER_HOST: 'unix:///a/b.sock' })).toEqual({ kind: 'socket', paths: ['/a/b.sock'] });
    expect(dockerAddress({ DOCKER_HOST: 'tcp://h:1234', DOCKER_TLS_VERIFY: '1' })).toEqual({
      kind: 'tcp',
      host: 'h',
      port: 1234,
      tls: true,
    });
    expect(dockerAddress({ DOCKER_HOST: 'ssh://me@h' })).toEqual({ kind: 'other', scheme: 'ssh' });
    expect(dockerAddress({ DOCKER_HOST: 'nonsense' })).toEqual({ kind: 'other', scheme: 'no URL' });
  });

  test('else the usual sockets, the system first', () => {
    const address = dockerAddress({ HOME: '/h', XDG_RUNTIME_DIR: '/run/user/1' });
    expect(address).toMatchObject({ kind: 'socket' });
    expect(address.kind === 'socket' && address.paths.slice(0, 3)).toEqual([
      '/var/run/docker.sock',
      '/run/user/1/docker.sock',
      '/h/.docker/run/docker.sock',
    ]);
  });
});

describe('an engine that cannot be used', () => {
  test('has no socket', async () => {
    expect(await whyNoDocker({ kind: 'socket', paths: ['/no/such.sock'] })).toBe('no socket at /no/such.sock');
  });

  test('has a socket on which nobody answers as an engine does', async () => {
    const socket = join(await temporaryFolder(), 'x.sock');
    await engine(socket, (_, response) => {
      response.statusCode = 500;
      response.end();
    });
    expect(await whyNoDocker({ kind: 'socket', paths: [socket] })).toBe(`no engine answers at ${socket}`);
  });

  test('is one we cannot speak to', async () => {
    expect(await whyNoDocker({ kind: 'other', scheme: 'ssh' })).toContain('ssh');
  });

  test('does not listen', async () => {
    expect(await whyNoDocker({ kind: 'tcp', host: '127.0.0.1', port: 1, tls: false })).toContain('127.0.0.1:1');
  });
});

describe('an engine that can be used', () => {
  test('answers on its socket, though an earlier one is missing', async () => {
    const socket = join(await temporaryFolder(), 'x.sock');
    await engine(socket, answersPing);
    expect(await whyNoDocker({ kind: 'socket', paths: ['/no/such.sock', socket] })).toBeUndefined();
  });

  test('answers on its port', async () => {
    const port = await engine(0, answersPing);
    expect(await whyNoDocker({ kind: 'tcp', host: '127.0.0.1', port, tls: false })).toBeUndefined();
  });
});
