import { createServer } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { Listener } from '../../../../src/sandbox/service/listener.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const listeners: Listener[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close();
});

async function open(host = '127.0.0.1', port = 0) {
  const clock = new ManualClock();
  const server = createServer((_, response) => response.end('here'));
  const listener = new Listener({ server, host, port, clock });
  const url = await listener.open();
  listeners.push(listener);
  const ask = async (): Promise<string> => {
    const answer = await fetch(url, { headers: { connection: 'close' } }).catch(() => null);
    return answer === null ? 'refused' : await answer.text();
  };
  return { clock, listener, url, ask };
}

test('refuses connections for its time, and listens on the same port again', async () => {
  const { clock, listener, ask } = await open();
  listener.refuse(1_000);
  expect(await ask()).toBe('refused');
  clock.advance(999);
  expect(await ask()).toBe('refused');
  clock.advance(1);
  await expect.poll(ask, { interval: 5 }).toBe('here');
});

test('tries again when another has taken the port meanwhile', async () => {
  const { clock, listener, url, ask } = await open();
  listener.refuse(1_000);
  expect(await ask()).toBe('refused');
  const thief = await open('127.0.0.1', Number(new URL(url).port));
  clock.advance(1_000);
  await expect.poll(() => clock.pending, { interval: 5 }).toBe(1);
  await thief.listener.close();
  clock.advance(50);
  await expect.poll(ask, { interval: 5 }).toBe('here');
});

test('closes connections as they are made, for its time', async () => {
  const { clock, listener, ask } = await open();
  listener.drop(1_000);
  expect(await ask()).toBe('refused');
  clock.advance(1_000);
  expect(await ask()).toBe('here');
});

test('can be closed while it refuses', async () => {
  const { clock, listener } = await open();
  listener.refuse(1_000);
  await listener.close();
  expect(clock.pending).toBe(0);
});

test('names an address of this machine when it listens on all', async () => {
  const { url, ask } = await open('0.0.0.0');
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/u);
  expect(await ask()).toBe('here');
});
