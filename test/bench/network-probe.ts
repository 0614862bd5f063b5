import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { valueOf } from './backlog.ts';
import { Sink } from './sink.ts';
import { median } from './statistics.ts';

const ROUNDS = 500;

/**
 * How long a request and its answer are under way on this machine, in milliseconds: what a client that does nothing else
 * waits for a service that answers at once. Part of the latency that no software can do without.
 */
export async function probeNetwork(): Promise<number> {
  const sink = await Sink.open(0);
  const body = valueOf(0, 0, false);
  const request = `POST /api/v2/transaction HTTP/1.1\r\nhost: bench\r\ncontent-length: ${String(body.length)}\r\n\r\n${body}`;
  const socket = connect({ host: '127.0.0.1', port: sink.port, noDelay: true });
  try {
    const took: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const beganMs = performance.now();
      await new Promise<void>((resolve, reject) => {
        socket.once('data', () => {
          resolve();
        });
        socket.once('error', reject);
        socket.write(request);
      });
      took.push(performance.now() - beganMs);
      socket.removeAllListeners('error');
    }
    return median(took);
  } finally {
    socket.destroy();
    await sink.close();
  }
}
