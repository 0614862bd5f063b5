import { describe, expect, test } from 'vitest';
import { type Connection, giveUpSilent } from '../../../../src/edges/kafka/silence-repair.ts';

const timeout = Object.assign(new Error('Request Produce timed out'), { name: 'KafkaJSRequestTimeoutError' });

interface Fake {
  readonly connection: Connection;
  /** Ends what is being sent. */
  readonly end: (error: Error | null) => void;
  readonly rejected: Error[];
  readonly done: string[];
}

/** A connection as kafkajs has it, with a prototype that is mended. */
function mended({ isConnected = false, inflight = new Map<number, { requestTimeout: number }>() } = {}): Fake {
  const ends: ((error: Error | null) => void)[] = [];
  const rejected: Error[] = [];
  const done: string[] = [];
  const prototype: Connection = {
    broker: '127.0.0.1:9092',
    send: async () =>
      await new Promise((resolve, reject) => {
        ends.push((error) => {
          if (error === null) resolve('an answer');
          else reject(error);
        });
      }),
    processData: () => {
      done.push('processed');
    },
    rejectRequests: (error) => {
      rejected.push(error);
    },
    disconnect: async () => {
      done.push('disconnected');
      return await Promise.resolve(true);
    },
    requestQueue: { requestTimeout: 10_000, inflight },
    chunks: [],
    bytesBuffered: 0,
    bytesNeeded: 4,
    isConnected: () => isConnected,
    connect: async () => {
      done.push('connected');
      return await Promise.resolve(true);
    },
  };
  giveUpSilent(prototype);
  const socket = { destroy: () => done.push('destroyed') };
  const connection = Object.assign(Object.create(prototype) as Connection, { socket });
  const end = (error: Error | null): void => {
    ends.shift()?.(error);
  };
  return { connection, end, rejected, done };
}

describe('a connection is given up', () => {
  test('when a request has timed out and nothing has come since', async () => {
    const { connection, end, rejected, done } = mended();
    const sent = connection.send({});
    end(timeout);
    await expect(sent).rejects.toBe(timeout);
    expect(done).toEqual(['destroyed', 'disconnected']);
    expect(rejected.map(({ name }) => name)).toEqual(['KafkaJSConnectionError']);
  });

  test('once, however many requests time out on it', async () => {
    const { connection, end, done } = mended();
    const [first, second] = [connection.send({}), connection.send({})];
    end(timeout);
    await expect(first).rejects.toBe(timeout);
    Object.assign(connection, { socket: { destroy: () => done.push('another one destroyed') } });
    end(timeout);
    await expect(second).rejects.toBe(timeout);
    expect(done).toEqual(['destroyed', 'disconnected']);
  });
});

describe('a connection is kept', () => {
  test('behind a request that takes longer than others: a broker answers in order', async () => {
    const { connection, end, done } = mended({ inflight: new Map([[1, { requestTimeout: 65_000 }]]) });
    const sent = connection.send({});
    end(timeout);
    await expect(sent).rejects.toBe(timeout);
    expect(done).toEqual([]);
  });

  test('while something comes: the broker is slow, and there', async () => {
    const { connection, end, rejected, done } = mended();
    const sent = connection.send({});
    connection.processData(Buffer.alloc(1));
    end(timeout);
    await expect(sent).rejects.toBe(timeout);
    expect([done, rejected]).toEqual([['processed'], []]);
  });

  test.each([
    ['when a request fails for another reason', new Error('Not connected')],
    ['when it is answered', null],
  ])('%s', async (_, error) => {
    const { connection, end, done } = mended();
    const sent = connection.send({}).catch(() => undefined);
    end(error);
    await sent;
    expect(done).toEqual([]);
  });
});

describe('a connection that is opened again', () => {
  const half = { chunks: [Buffer.alloc(3)], bytesBuffered: 3, bytesNeeded: 500 };

  test('begins with nothing of an answer that was cut off', async () => {
    const { connection } = mended();
    Object.assign(connection, half);
    await connection.connect();
    expect(connection).toMatchObject({ chunks: [], bytesBuffered: 0, bytesNeeded: 4 });
  });

  test('keeps what has come while it is open', async () => {
    const { connection } = mended({ isConnected: true });
    Object.assign(connection, half);
    await connection.connect();
    expect(connection).toMatchObject({ bytesBuffered: 3, bytesNeeded: 500 });
  });
});
