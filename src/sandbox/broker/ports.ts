import { createServer } from 'node:net';
import { Fault } from '../../kernel/fault.ts';

/** Below the range that systems give to outgoing connections (32768 and up), so that a node that was killed finds its port again. */
const FIRST = 20_000;
const LAST = 32_000;

/**
 * `count` different ports of the loopback address that are free now. Somebody else may take one before it is used: who
 * starts a program on them tries again with others.
 */
export async function freePorts(count: number, draw: () => number = Math.random): Promise<number[]> {
  const found: number[] = [];
  let port = FIRST + Math.floor(draw() * (LAST - FIRST));
  for (let tried = 0; tried <= LAST - FIRST && found.length < count; tried += 1) {
    if (await isFree(port)) found.push(port);
    port = port >= LAST ? FIRST : port + 1;
  }
  if (found.length < count) throw new Fault('PORT_TAKEN', `No free port between ${String(FIRST)} and ${String(LAST)}.`);
  return found;
}

async function isFree(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => {
        resolve(true);
      });
    });
  });
}

/** Whether a program's output says that it lost the race for its port. */
export function saysPortTaken(output: string): boolean {
  return /address already in use|already bound/i.test(output);
}
