import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { freePorts, saysPortTaken } from '../../../../src/sandbox/broker/ports.ts';

test('a port that somebody listens on is not given', async () => {
  const [taken = 0] = await freePorts(1);
  const server = createServer().listen(taken, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
  });
  const drawTaken = (): number => (taken - 20_000) / 12_000;
  const [next] = await freePorts(1, drawTaken);
  expect(next).not.toBe(taken);
});

test('ports are different, and below those of outgoing connections', async () => {
  const ports = await freePorts(8, () => 0.9999);
  expect(new Set(ports).size).toBe(8);
  for (const port of ports) {
    expect(port).toBeGreaterThanOrEqual(20_000);
    expect(port).toBeLessThanOrEqual(32_000);
  }
});

test.each([
  ['Socket server failed to bind to 127.0.0.1:20000: Address already in use.', true],
  ['Port(s) 20000 already bound: Address already in use', true],
  ['Kafka Server started', false],
])('%s: lost the race is %s', (output, lost) => {
  expect(saysPortTaken(output)).toBe(lost);
});
