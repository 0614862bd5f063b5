import kafkajs from 'kafkajs';
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
 * An attempt whose connection is ended meanwhile is given up: who waits for it is told at once. Nothing that becomes later
 * of such an attempt, or of a socket that is the connection's no more, touches it: kafkajs lets the time-out run on, and
 * ends whatever is open by then.
 */
export function shareConnects(prototype: Connection): void {
  const { connect, disconnect } = prototype;
  const underWay = new WeakMap<Connection, Attempt>();
  prototype.connect = async function connectOnce(this: Connection): Promise<unknown> {
    if (this.isConnected()) return await connect.call(this);
    const known = underWay.get(this);
    if (known !== undefined) return await known.end;
    const attempt = new Attempt(this, { connect, disconnect });
    underWay.set(this, attempt);
    try {
      return await attempt.end;
    } finally {
      if (underWay.get(this) === attempt) underWay.delete(this);
    }
  };
  prototype.disconnect = async function disconnectAnew(this: Connection): Promise<unknown> {
    underWay.get(this)?.giveUp();
    underWay.delete(this);
    return await disconnect.call(this);
  };
}

/** An attempt to open a connection. */
class Attempt {
  /** What has become of it. */
  readonly end: Promise<unknown>;
  readonly #connection: Connection;
  readonly #disconnect: Connection['disconnect'];
  readonly #socket: Connection['socket'];
  #tell: (error: Error) => void = () => undefined;

  constructor(connection: Connection, { connect, disconnect }: Pick<Connection, 'connect' | 'disconnect'>) {
    this.#connection = connection;
    this.#disconnect = disconnect;
    const givenUp = new Promise<never>((_, reject) => {
      this.#tell = reject;
    });
    this.end = Promise.race([connect.call(this.#view()), givenUp]);
    this.#socket = connection.socket;
  }

  giveUp(): void {
    const { broker } = this.#connection;
    this.#tell(new kafkajs.KafkaJSConnectionError('The attempt to connect was given up', { broker }));
  }

  /** Whether the connection has another socket by now. */
  get #isOver(): boolean {
    return this.#connection.socket !== this.#socket;
  }

  /** The connection as this attempt may act on it. What comes in goes to the connection itself, without this in its way. */
  #view(): Connection {
    const connection = this.#connection;
    const own = new Map<string | symbol, unknown>([
      ['disconnect', async () => this.#isOver || (await this.#disconnect.call(connection))],
      ['rejectRequests', (error: Error) => void (this.#isOver || connection.rejectRequests(error))],
      [
        'processData',
        (data: Buffer) => {
          connection.processData(data);
        },
      ],
    ]);
    return new Proxy(connection, { get: (target, name): unknown => own.get(name) ?? Reflect.get(target, name) });
  }
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
