import { connect, createServer } from 'node:net';

/** Whether somebody takes connections at an address: null, or why not (`ECONNREFUSED`, `ENOTFOUND`, `timeout`, …). Sends nothing. */
export async function connectError(host: string, port: number, limitMs: number): Promise<string | null> {
  return await new Promise((resolve) => {
    const socket = connect({ host: host.replace(/^\[(.*)\]$/, '$1'), port });
    const end = (error: string | null): void => {
      socket.destroy();
      resolve(error);
    };
    socket.setTimeout(limitMs, () => {
      end('timeout');
    });
    socket.once('connect', () => {
      end(null);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => {
      end(error.code ?? error.name);
    });
  });
}

/** Whether a port can be listened on: null, or why not (`EADDRINUSE`, `EACCES`, …). It is free again at once. */
export async function listenError(host: string, port: number): Promise<string | null> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code ?? error.name);
    });
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => {
        resolve(null);
      });
    });
  });
}
