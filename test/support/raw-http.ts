import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A connection that sends exactly what a test says, well-formed or not. */
export class RawConnection {
  readonly socket: Socket;
  #received = '';

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1');
    socket.on('data', (text: string) => {
      this.#received += text;
    });
    // A reset by the server ends the test's wait like a close does.
    socket.on('error', () => {});
  }

  static async open(url: string): Promise<RawConnection> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    await once(socket, 'connect');
    return new RawConnection(socket);
  }

  write(data: string | Uint8Array): void {
    this.socket.write(data);
  }

  get received(): string {
    return this.#received;
  }

  /** Statuses of the answers so far, in order. */
  get statuses(): number[] {
    return Array.from(this.#received.matchAll(/HTTP\/1\.1 (\d{3}) /g), (match) => Number(match[1]));
  }

  /** All that came, once the server has closed the connection. */
  async closed(): Promise<string> {
    if (!this.socket.destroyed) await once(this.socket, 'close');
    return this.#received;
  }
}

/** One exchange on a connection of its own; what is sent must make the server close it. */
export async function exchange(
  url: string,
  ...parts: readonly (string | Uint8Array)[]
): Promise<{ status: number; text: string }> {
  const connection = await RawConnection.open(url);
  for (const part of parts) connection.write(part);
  const text = await connection.closed();
  return { status: connection.statuses[0] ?? 0, text };
}
