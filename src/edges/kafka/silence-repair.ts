import kafkajs from 'kafkajs';

/** Before each answer. */
const LENGTH_BYTES = 4;

interface Destroyable {
  destroy(): unknown;
}

/** kafkajs' connection to a broker, as far as its repair reaches into it. */
export interface Connection {
  readonly broker: string;
  readonly socket?: Destroyable;
  readonly requestQueue: {
    /** Milliseconds. */
    readonly requestTimeout: number;
    readonly inflight: ReadonlyMap<number, { readonly requestTimeout: number }>;
  };
  /** What has come of an answer that is not whole. */
  chunks: Buffer[];
  bytesBuffered: number;
  bytesNeeded: number;
  isConnected(): boolean;
  connect: (this: Connection) => Promise<unknown>;
  send: (this: Connection, protocol: unknown) => Promise<unknown>;
  processData: (this: Connection, data: Buffer) => void;
  /** Rejects whatever waits for an answer, and what was not sent yet. */
  rejectRequests(error: Error): void;
  disconnect: (this: Connection) => Promise<unknown>;
}

/**
 * Gives a connection up on which a request has timed out and nothing at all has come since it was asked: kafkajs keeps
 * it, and everything that is asked of this broker times out until the system notices that nobody is there, which takes a
 * quarter of an hour where packets are dropped and not refused (a firewall or a load balancer that has forgotten the
 * connection, a machine that is gone). The next request opens another connection, which begins with nothing of an answer
 * that was cut off: kafkajs would read on behind its first half. (Kafka's own clients do the same.)
 */
export function giveUpSilent(prototype: Connection): void {
  const { send, processData, connect } = prototype;
  const heard = new WeakMap<Connection, number>();
  const heardOf = (connection: Connection): number => heard.get(connection) ?? 0;
  prototype.connect = async function connectEmpty(this: Connection): Promise<unknown> {
    if (!this.isConnected()) Object.assign(this, { chunks: [], bytesBuffered: 0, bytesNeeded: LENGTH_BYTES });
    return await connect.call(this);
  };
  prototype.processData = function processHeard(this: Connection, data): void {
    heard.set(this, heardOf(this) + 1);
    processData.call(this, data);
  };
  prototype.send = async function sendOrGiveUp(this: Connection, protocol): Promise<unknown> {
    const [before, { socket }] = [heardOf(this), this];
    try {
      return await send.call(this, protocol);
    } catch (error) {
      const isSilent = isTimeout(error) && heardOf(this) === before && !holdsLongRequest(this);
      // Another one may have given it up, and a new one may be open since.
      if (isSilent && socket !== undefined && this.socket === socket) giveUp(this, socket);
      throw error;
    }
  };
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'KafkaJSRequestTimeoutError';
}

/** A broker answers in order: behind a join, which it keeps for as long as a rebalance takes, silence says nothing. */
function holdsLongRequest({ requestQueue: { inflight, requestTimeout } }: Connection): boolean {
  return [...inflight.values()].some((open) => open.requestTimeout > requestTimeout);
}

function giveUp(connection: Connection, socket: Destroyable): void {
  const { broker } = connection;
  connection.rejectRequests(new kafkajs.KafkaJSConnectionError('The connection has fallen silent', { broker }));
  socket.destroy();
  // Nothing waits for an answer any more, so this ends at once.
  void connection.disconnect();
}
