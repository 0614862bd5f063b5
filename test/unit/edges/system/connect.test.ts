import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcp } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { Pool } from 'undici';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connectError, createConnect, type TlsMaterial } from '../../../../src/edges/system/connect.ts';
import { Authority, type MadeCertificate, selfSigned } from '../../../support/certificates.ts';
import { eventually } from '../../../support/eventually.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { Proxy } from '../../../support/proxy.ts';
import { TlsRelay } from '../../../support/tls-relay.ts';

const LIMIT_MS = 2000;
const AUTHORITY = new Authority();
const OTHER_AUTHORITY = new Authority('Other Authority');
const SERVER = AUTHORITY.issue();
const CLIENT = OTHER_AUTHORITY.issue({ name: 'connector' });

let target: Server;
let targetUrl: string;
let closing: (() => Promise<unknown>)[];
let tls: TlsMaterial;
let proxyUrl: string | null;
let clock: ManualClock;

beforeEach(async () => {
  target = createServer((_request, response) => {
    response.end('here');
  });
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  targetUrl = `http://127.0.0.1:${String((target.address() as AddressInfo).port)}`;
  tls = trusting(AUTHORITY.certificate);
  proxyUrl = null;
  clock = new ManualClock();
  closing = [
    async () => {
      target.closeAllConnections();
      target.close();
      await once(target, 'close');
    },
  ];
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
});

function trusting(authorities: string | null, pair: MadeCertificate | null = null): TlsMaterial {
  return { authorities, pair };
}

async function relay(shown: MadeCertificate, peers?: readonly string[]): Promise<TlsRelay> {
  const opened = await TlsRelay.open(targetUrl, { ...shown, ...(peers === undefined ? {} : { peers }) });
  closing.push(async () => {
    await opened.close();
  });
  return opened;
}

async function openProxy(certificate: MadeCertificate | null = null): Promise<Proxy> {
  const proxy = await Proxy.open(certificate);
  closing.push(async () => {
    await proxy.close();
  });
  proxyUrl = proxy.url();
  return proxy;
}

function poolTo(origin: string): Pool {
  const connect = createConnect({ limitMs: LIMIT_MS, tls: () => tls, proxy: () => proxyUrl }, clock);
  const pool = new Pool(origin, { connections: 1, connect });
  closing.push(async () => {
    await pool.destroy();
  });
  return pool;
}

/** The body of an answer, or the code of what went wrong. */
async function ask(pool: Pool, isLast = false): Promise<string> {
  try {
    const { body } = await pool.request({ method: 'GET', path: '/', reset: isLast });
    return await body.text();
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

async function askOnce(origin: string): Promise<string> {
  return await ask(poolTo(origin));
}

describe('refuses', () => {
  test('a certificate of an authority that is not trusted, and one that none has given', async () => {
    const { url, failures } = await relay(OTHER_AUTHORITY.issue());
    expect(await askOnce(url)).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    tls = trusting(null);
    expect(await askOnce(url)).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    await eventually('the other side was told', () => failures.length === 2);
  });

  test('a certificate for another host name', async () => {
    const { url } = await relay(AUTHORITY.issue({ name: 'other.example', hosts: [], isLoopback: false }));
    expect(await askOnce(url)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  test('one that has expired, and one that is not valid yet', async () => {
    const { url } = await relay(AUTHORITY.issue({ untilMs: Date.now() - 1000 }));
    expect(await askOnce(url)).toBe('CERT_HAS_EXPIRED');
    const next = await relay(AUTHORITY.issue({ fromMs: Date.now() + 3_600_000 }));
    expect(await askOnce(next.url)).toBe('CERT_NOT_YET_VALID');
  });

  test('TLS of a version before 1.2', async () => {
    const old = createTls({ cert: SERVER.certificate, key: SERVER.key, maxVersion: 'TLSv1.1', minVersion: 'TLSv1' });
    old.listen(0, '127.0.0.1');
    await once(old, 'listening');
    closing.push(async () => await new Promise((resolve) => old.close(resolve)));
    const url = `https://localhost:${String((old.address() as AddressInfo).port)}`;
    expect(await askOnce(url)).toMatch(/^ERR_SSL_/);
  });

  test('all of it, too, where the environment turns the check off', async () => {
    const before = process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const { url } = await relay(selfSigned());
      expect(await askOnce(url)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
    } finally {
      if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
      else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
    }
  });
});

describe('opens', () => {
  test('connections to whom it trusts, by name, and by address', async () => {
    const { url, port } = await relay(SERVER);
    expect(await askOnce(url)).toBe('here');
    expect(await askOnce(`https://127.0.0.1:${String(port)}`)).toBe('here');
  });

  test('connections without TLS', async () => {
    expect(await askOnce(targetUrl)).toBe('here');
  });

  test('connections with a certificate of its own, where it is asked for one', async () => {
    const asking = await relay(SERVER, [OTHER_AUTHORITY.certificate]);
    expect(await askOnce(asking.url)).not.toBe('here');
    tls = trusting(AUTHORITY.certificate, CLIENT);
    expect(await askOnce(asking.url)).toBe('here');
    expect(asking.shown).toEqual(['connector']);
  });
});

describe('what changes counts for the next connection', () => {
  test('an authority that is trusted no more, also where the session could be taken up again', async () => {
    const { url } = await relay(SERVER);
    const pool = poolTo(url);
    expect(await ask(pool, true)).toBe('here');
    tls = trusting(OTHER_AUTHORITY.certificate);
    expect(await ask(pool, true)).toBe('UNABLE_TO_VERIFY_LEAF_SIGNATURE');
    tls = trusting(AUTHORITY.certificate);
    expect(await ask(pool)).toBe('here');
  });

  test('the certificate that is shown', async () => {
    tls = trusting(AUTHORITY.certificate, CLIENT);
    const asking = await relay(SERVER, [OTHER_AUTHORITY.certificate]);
    const pool = poolTo(asking.url);
    expect(await ask(pool, true)).toBe('here');
    tls = trusting(AUTHORITY.certificate, OTHER_AUTHORITY.issue({ name: 'renewed' }));
    expect(await ask(pool, true)).toBe('here');
    expect(asking.shown).toEqual(['connector', 'renewed']);
  });

  test('the proxy', async () => {
    const pool = poolTo(targetUrl);
    expect(await ask(pool, true)).toBe('here');
    const proxy = await openProxy();
    expect(await ask(pool, true)).toBe('here');
    expect(proxy.asked).toHaveLength(1);
  });
});

describe('through a proxy', () => {
  test('TLS is spoken with the target itself, whose certificate is checked as without', async () => {
    const proxy = await openProxy();
    const { url, port, opened } = await relay(SERVER);
    expect(opened).toBe(0);
    expect(await askOnce(url)).toBe('here');
    expect(proxy.asked).toEqual([`localhost:${String(port)}`]);
    const other = await relay(AUTHORITY.issue({ name: 'other.example', hosts: [], isLoopback: false }));
    expect(await askOnce(other.url)).toBe('ERR_TLS_CERT_ALTNAME_INVALID');
  });

  test('http goes through a tunnel, too', async () => {
    const proxy = await openProxy();
    expect(await askOnce(targetUrl)).toBe('here');
    expect(proxy.asked).toEqual([new URL(targetUrl).host]);
  });

  test('user name and password are given as they were meant, and without them it is refused', async () => {
    const proxy = await openProxy();
    proxy.credentials = 'us er:p@ss:ä';
    expect(await askOnce(targetUrl)).toBe('PROXY_407');
    proxyUrl = proxy.url(`us%20er:p%40ss:${encodeURIComponent('ä')}`);
    expect(await askOnce(targetUrl)).toBe('here');
  });

  test.each([403, 407, 502, 503, 301])('status %i is no tunnel', async (status) => {
    const proxy = await openProxy();
    proxy.refuses = status;
    expect(await askOnce(targetUrl)).toBe(`PROXY_${String(status)}`);
    proxy.refuses = null;
    expect(await askOnce(targetUrl)).toBe('here');
  });

  test('one that is away, and one that speaks something else', async () => {
    const proxy = await openProxy();
    await proxy.close();
    closing.pop();
    expect(await askOnce(targetUrl)).toBe('PROXY_ECONNREFUSED');
    const babble = createTcp((socket) => {
      socket.on('error', () => undefined).resume();
      socket.end('220 ready\r\n');
    });
    babble.listen(0, '127.0.0.1');
    await once(babble, 'listening');
    closing.push(async () => await new Promise((resolve) => babble.close(resolve)));
    proxyUrl = `http://127.0.0.1:${String((babble.address() as AddressInfo).port)}`;
    expect(await askOnce(targetUrl)).toMatch(/^PROXY_HPE_/);
  });

  test('one that does not answer is left at the limit', async () => {
    const proxy = await openProxy();
    proxy.isMute = true;
    const asked = askOnce(targetUrl);
    await eventually('it was asked', () => proxy.asked.length === 1);
    clock.advance(LIMIT_MS - 1);
    expect(proxy.connections).toBe(1);
    clock.advance(1);
    expect(await asked).toBe('PROXY_TIMEOUT');
    await eventually('the connection is closed', () => proxy.connections === 0);
  });

  test('a target that begins no TLS in its tunnel is left at the limit', async () => {
    const proxy = await openProxy();
    const mute = createTcp((socket) => {
      socket.on('error', () => undefined).resume();
    });
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    closing.push(async () => await new Promise((resolve) => mute.close(resolve)));
    let isOver = false;
    const asked = askOnce(`https://localhost:${String((mute.address() as AddressInfo).port)}`).finally(() => {
      isOver = true;
    });
    await eventually('it is left', () => {
      clock.advance(100);
      return isOver;
    });
    expect(await asked).toBe('PROXY_TIMEOUT');
    expect(proxy.asked).toHaveLength(1);
  });

  test('one that speaks TLS is believed by the authorities of Node alone, not by those of the target', async () => {
    await openProxy(AUTHORITY.issue());
    const { url } = await relay(SERVER);
    expect(await askOnce(url)).toBe('PROXY_UNABLE_TO_VERIFY_LEAF_SIGNATURE');
  });
});

async function tried(url: string): Promise<string | null> {
  const connect = createConnect({ limitMs: 500, tls: () => tls, proxy: () => proxyUrl }, clock);
  return await connectError(connect, new URL(url));
}

describe('a connection that is only tried', () => {
  test('is opened, TLS included, and closed without a request', async () => {
    const asked: string[] = [];
    target.on('request', ({ url }) => asked.push(String(url)));
    const { url, port } = await relay(SERVER);
    expect([await tried(url), await tried(`https://127.0.0.1:${String(port)}`), await tried(targetUrl)]).toEqual([
      null,
      null,
      null,
    ]);
    await eventually('they are closed', async () => {
      const open = await new Promise<number>((resolve) => target.getConnections((_error, count) => resolve(count)));
      return open === 0;
    });
    expect(asked).toEqual([]);
  });

  test('goes through the proxy', async () => {
    const proxy = await openProxy();
    const { url } = await relay(SERVER);
    expect(await tried(url)).toBeNull();
    expect(proxy.asked).toHaveLength(1);
  });

  test('tells why there is none: nobody listens, no TLS comes, a certificate is not trusted', async () => {
    const mute = createTcp((socket) => socket.on('error', () => undefined).resume());
    mute.listen(0, '127.0.0.1');
    await once(mute, 'listening');
    const url = `https://localhost:${String((mute.address() as AddressInfo).port)}`;
    expect(await tried(url)).toBe('UND_ERR_CONNECT_TIMEOUT');
    mute.close();
    await once(mute, 'close');
    expect(await tried(url)).toBe('ECONNREFUSED');
    expect(await tried((await relay(selfSigned())).url)).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
  });
});
