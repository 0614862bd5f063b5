import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { connectTo } from '../../../src/app/connecting.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { Proxy } from '../../support/proxy.ts';

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('why connections come to nothing is told once a minute for each reason, without the URL', async () => {
  const proxy = await Proxy.open();
  try {
    const clock = new ManualClock();
    const said: unknown[] = [];
    let proxyUrl: string | null = null;
    const connect = connectTo(
      'service',
      { limitMs: 2000, tls: () => TLS, proxy: () => proxyUrl },
      { clock, emit: (event, fields) => said.push([event, fields]) },
    );
    const port = String(await freePort());
    const attempt = async (): Promise<void> => {
      await new Promise<void>((resolve) => {
        connect({ hostname: '127.0.0.1', protocol: 'http:', port }, () => {
          resolve();
        });
      });
    };
    for (let tries = 0; tries < 5; tries += 1) await attempt();
    expect(said).toEqual([told('ECONNREFUSED')]);
    clock.advance(60_000);
    await attempt();
    expect(said).toEqual([told('ECONNREFUSED'), told('ECONNREFUSED')]);
    proxy.refuses = 403;
    proxyUrl = proxy.url('user:canary');
    await attempt();
    expect(said.at(-1)).toEqual(told('PROXY_403'));
  } finally {
    await proxy.close();
  }
});

const TLS = { authorities: null, pair: null };
const told = (error: string): unknown => ['connection_failed', { neighbour: 'service', error }];
