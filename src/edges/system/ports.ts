import { createServer } from 'node:net';

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
