import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createTransport, type RegistrySettings } from '../../../../src/edges/schema-registry/transport.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(handler: Handler): Promise<{ port: number; server: Server }> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { port: (server.address() as AddressInfo).port, server };
}

function connect(port: number, settings: Partial<RegistrySettings> = {}) {
  const clock = new ManualClock();
  const url = `http://127.0.0.1:${port}/apis/ccompat/v7/`;
  const transport = createTransport({ url, clientId: 'connector', ...settings }, clock);
  closing.push(async () => {
    await transport.close();
  });
  return { clock, transport };
}

describe('the way to the registry', () => {
  test('ends when nobody answers', async () => {
    const asked = Promise.withResolvers<void>();
    const { port } = await serve(() => {
      asked.resolve();
    });
    const { clock, transport } = connect(port, { timeoutMs: 700 });
    const answer = transport.request('GET', '/subjects');
    await asked.promise;
    clock.advance(699);
    await settled();
    clock.advance(1);
    expect(await answer).toEqual({ do: 'failed', error: 'timeout' });
  });

  test('names a refused connection by its code', async () => {
    const { port, server } = await serve(() => undefined);
    await new Promise((resolve) => server.close(resolve));
    const { transport } = connect(port);
    expect(await transport.request('GET', '/subjects')).toEqual({ do: 'failed', error: 'Error ECONNREFUSED' });
  });

  test('ends when the answer is without end', async () => {
    const { port } = await serve((_, response) => {
      const chunk = Buffer.alloc(1024 * 1024, 0x20);
      for (let megabyte = 0; megabyte < 6; megabyte += 1) response.write(chunk);
    });
    expect(await connect(port).transport.request('GET', '/subjects')).toEqual({ do: 'failed', error: 'oversized' });
  });

  test.each([
    ['null', 500, 'null', null],
    ['HTML', 503, '<html>', undefined],
    ['JSON', 200, '{"id":1}', { id: 1 }],
  ])('gives a body of %s as what it is', async (_, status, text, body) => {
    const { port } = await serve((request, response) => {
      request.resume();
      response.writeHead(status).end(text);
    });
    expect(await connect(port).transport.request('GET', '/subjects')).toEqual({ do: 'answer', status, body });
  });

  test('keeps the path of the URL, and says who asks', async () => {
    const seen: IncomingMessage[] = [];
    const { port } = await serve((request, response) => {
      seen.push(request);
      request.resume();
      response.end('{}');
    });
    await connect(port, { username: 'me', password: () => 'pass' }).transport.request('POST', '/subjects/a', {
      schema: '{}',
    });
    await connect(port, { url: `http://you:p%40ss@127.0.0.1:${port}/root` }).transport.request('GET', '/subjects');
    await connect(port).transport.request('GET', '/subjects');
    expect(seen.map(({ url }) => url)).toEqual([
      '/apis/ccompat/v7/subjects/a',
      '/root/subjects',
      '/apis/ccompat/v7/subjects',
    ]);
    expect(seen.map(({ headers }) => headers.authorization)).toEqual([
      `Basic ${Buffer.from('me:pass').toString('base64')}`,
      `Basic ${Buffer.from('you:p@ss').toString('base64')}`,
      undefined,
    ]);
    expect(seen[0]?.headers['content-type']).toBe('application/vnd.schemaregistry.v1+json');
    expect(seen[0]?.headers['user-agent']).toBe('connector');
  });
});

test('requests are counted by kind and end, without what changes in a path', async () => {
  const { port } = await serve((request, response) => {
    response.statusCode = request.url?.endsWith('/ids/7') === true ? 404 : 200;
    response.end('{}');
  });
  const { transport } = connect(port);
  expect(transport.exchanges()).toEqual([]);
  for (const path of ['/schemas/ids/6', '/schemas/ids/7', '/subjects/x-value/versions', '/subjects', '/mode'])
    await transport.request('GET', path);
  const found = transport.exchanges().map(({ template, active, ends }) => [template, active, [...ends.keys()]]);
  expect(found).toEqual([
    ['/schemas/ids/{id}', 0, [200, 404]],
    ['/subjects/{subject}/versions', 0, [200]],
    ['/subjects', 0, [200]],
    ['_OTHER', 0, [200]],
  ]);
  expect(transport.exchanges()[0]).toMatchObject({ host: '127.0.0.1', port });
});
