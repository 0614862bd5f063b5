import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TcpProxy } from '../../chaos/tcp-proxy.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** Answers what it hears. */
let echo: Server;
let far: Socket[] = [];
let clock: ManualClock;
let proxy: TcpProxy;
let near: Socket[] = [];
let target: number | null;

beforeEach(async () => {
  far = [];
  near = [];
  clock = new ManualClock();
  echo = createServer((socket) => {
    far.push(socket);
    socket.on('error', () => undefined);
    socket.pipe(socket);
  });
  await once(echo.listen(0, '127.0.0.1'), 'listening');
  target = (echo.address() as AddressInfo).port;
  proxy = await TcpProxy.open({ clock, target: () => target });
});

afterEach(async () => {
  for (const socket of [...near, ...far]) socket.destroy();
  await proxy.close();
  echo.close();
});

interface Line {
  readonly socket: Socket;
  heard(): string;
  /** Resolves when so much has been heard. */
  hears(text: string): Promise<void>;
  readonly gone: Promise<string>;
}

async function call(): Promise<Line> {
  const socket = connect(proxy.port, '127.0.0.1');
  near.push(socket);
  let heard = '';
  let error = 'end';
  socket.on('data', (chunk) => {
    heard += chunk.toString();
  });
  socket.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
    error = code;
  });
  const gone = new Promise<string>((resolve) => {
    socket.once('close', () => {
      resolve(error);
    });
  });
  await Promise.race([once(socket, 'connect').catch(() => undefined), gone]);
  const hears = async (text: string): Promise<void> => {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (heard === text) resolve();
      };
      socket.on('data', look);
      look();
    });
  };
  return { socket, heard: () => heard, hears, gone };
}

async function closed(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
  });
}

/** Until what was sent has gone through the sockets of this machine. */
async function arrived(turns = 50): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

describe('a wire', () => {
  test('that is cut: connections are reset, and new ones as well, until it is fine', async () => {
    const before = await call();
    before.socket.write('a');
    await before.hears('a');
    proxy.set({ is: 'cut' });
    expect(await before.gone).toBe('ECONNRESET');
    const during = await call();
    expect(await during.gone).toBe('ECONNRESET');
    expect(proxy.struck).toBe(2);
    proxy.set({ is: 'fine' });
    const after = await call();
    after.socket.write('b');
    await after.hears('b');
  });

  test('that leads nowhere resets who comes', async () => {
    target = null;
    expect(await (await call()).gone).toBe('ECONNRESET');
  });

  test('that is silent lets nothing pass and tells nobody; what was sent comes when it is fine', async () => {
    const line = await call();
    line.socket.write('a');
    await line.hears('a');
    proxy.set({ is: 'silent' });
    line.socket.write('b');
    await arrived();
    expect(line.heard()).toBe('a');
    expect(line.socket.destroyed).toBe(false);
    proxy.set({ is: 'fine' });
    await line.hears('ab');
  });

  test('that was silent when one side gave up: the other finds out afterwards, and what was on its way is gone', async () => {
    const line = await call();
    line.socket.write('a');
    await line.hears('a');
    let told = '';
    far[0]?.on('data', (chunk) => {
      told += chunk.toString();
    });
    proxy.set({ is: 'silent' });
    line.socket.write('b');
    await arrived();
    line.socket.destroy();
    await arrived();
    expect(far[0]?.destroyed).toBe(false);
    const gone = closed(far[0]!);
    proxy.set({ is: 'fine' });
    await gone;
    expect(told).toBe('');
  });

  test('that was forgotten carries nothing on the connections there were; new ones pass', async () => {
    const line = await call();
    line.socket.write('a');
    await line.hears('a');
    const gone = closed(far[0]!);
    proxy.forget();
    await gone;
    line.socket.write('b');
    await arrived();
    expect([line.heard(), line.socket.destroyed]).toEqual(['a', false]);
    const after = await call();
    after.socket.write('c');
    await after.hears('c');
  });

  test('that is slow delays each way, by its length and by the bytes', async () => {
    const line = await call();
    line.socket.write('a');
    await line.hears('a');
    proxy.set({ is: 'slow', delayMs: 100, bytesPerSecond: 1000 });
    const bytes = 'b'.repeat(50);
    line.socket.write(bytes);
    await arrived();
    clock.advance(149);
    await arrived();
    expect(line.heard()).toBe('a');
    clock.advance(1);
    await arrived();
    clock.advance(149);
    await arrived();
    expect(line.heard()).toBe('a');
    clock.advance(1);
    await line.hears(`a${bytes}`);
  });

  test('that leads to nobody counts those who came, and they are told', async () => {
    echo.close();
    const line = await call();
    expect(await line.gone).not.toBe('end');
    expect(proxy.refused).toBe(1);
    expect(proxy.struck).toBe(0);
  });

  test('passes an end on behind everything that was said before it', async () => {
    const line = await call();
    line.socket.end('last words');
    await line.hears('last words');
    expect(await line.gone).toBe('end');
  });

  test('keeps every byte in order, however many there are', async () => {
    const line = await call();
    const text = Array.from({ length: 40_000 }, (_, index) => String(index)).join(' ');
    line.socket.write(text);
    await line.hears(text);
    expect(line.heard()).toBe(text);
  });
});
