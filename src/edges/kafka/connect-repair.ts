import { type Connection } from './silence-repair.ts';

/** kafkajs' two connections to a broker: requests, and fetches. */
interface Broker {
  isConnected(): boolean;
  connect(): Promise<void>;
  disconnect(): Promise<void>;
}

/** The part of kafkajs' pool of brokers that is mended here. */
export interface ConnectingPool {
  connectBroker: (this: ConnectingPool, broker: Broker) => Promise<unknown>;
}

const NO_CONNECTION = 'KafkaJSConnectionError';

/**
 * Opens one socket for all who ask for a connection while it is being opened. kafkajs opens one for each of them and
 * knows only the last: what comes on another is taken for its answers, and its end, which comes when the broker has
 * tired of it, ends the connection in use and fails whatever waits on it.
 *
 * A connection that is ended meanwhile is another one afterwards: nobody is held by an attempt that was given up, whose
 * socket `socketFactory` has destroyed.
 */
export function shareConnects(prototype: Connection): void {
  const { connect, disconnect } = prototype;
  const underWay = new WeakMap<Connection, Promise<unknown>>();
  prototype.connect = async function connectOnce(this: Connection): Promise<unknown> {
    if (this.isConnected()) return await connect.call(this);
    const known = underWay.get(this);
    if (known !== undefined) return await known;
    const begun = connect.call(this);
    underWay.set(this, begun);
    try {
      return await begun;
    } finally {
      if (underWay.get(this) === begun) underWay.delete(this);
    }
  };
  prototype.disconnect = async function disconnectAnew(this: Connection): Promise<unknown> {
    underWay.delete(this);
    return await disconnect.call(this);
  };
}

/**
 * Lets a failed attempt to connect to a broker end itself only. kafkajs ends the broker's connections once more when it is
 * told of the failure, by when the next in line has begun an attempt of its own: that one is ended, waits for its time-out,
 * fails, and has the one after it ended in turn. As long as somebody waits in line, a broker that is back stays out of reach.
 */
export function endOwnAttempts(prototype: ConnectingPool): void {
  const { connectBroker } = prototype;
  prototype.connectBroker = async function connectAlone(this: ConnectingPool, broker): Promise<unknown> {
    if (broker.isConnected()) return;
    return await connectBroker.call(this, endingItself(broker));
  };
}

/** The broker, but for an end that has come already. What kafkajs writes to it, it writes to the broker. */
function endingItself(broker: Broker): Broker {
  let hasEnded = false;
  const connect = async (): Promise<void> => {
    hasEnded = false;
    try {
      await broker.connect();
    } catch (error) {
      hasEnded = error instanceof Error && error.name === NO_CONNECTION;
      throw error;
    }
  };
  const disconnect = async (): Promise<void> => {
    if (!hasEnded) await broker.disconnect();
  };
  return new Proxy(broker, {
    get: (target, name): unknown => {
      if (name === 'connect') return connect;
      return name === 'disconnect' ? disconnect : Reflect.get(target, name);
    },
  });
}
