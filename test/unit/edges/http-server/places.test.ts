import { EventEmitter } from 'node:events';
import { type Server } from 'node:http';
import { type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { Places } from '../../../../src/edges/http-server/places.ts';

/** As much of a socket as a place looks at. */
class Peer extends EventEmitter {
  readonly remoteAddress = '192.0.2.1';
  readonly remotePort: number;
  bytesRead = 0;
  isDestroyed = false;
  silenceMs: number | null = null;

  constructor(remotePort: number) {
    super();
    this.remotePort = remotePort;
  }

  destroy(): void {
    this.isDestroyed = true;
    this.emit('close');
  }

  setTimeout(ms: number): void {
    this.silenceMs = ms;
  }

  get socket(): Socket {
    return this as unknown as Socket;
  }
}

function setUp(maxConnections: number, { maxHeldBytes = 100, isTls = false } = {}) {
  const cutOff: string[] = [];
  const server = new EventEmitter();
  const places = new Places({
    maxConnections,
    maxHeldBytes,
    cutOff: (socket, waits) => {
      cutOff.push(`${String(socket.remotePort)}${waits ? ' waits' : ''}`);
      socket.destroy();
    },
  });
  places.watch(server as unknown as Server, isTls);
  const arrive = (port: number): Peer => {
    const peer = new Peer(port);
    server.emit('connection', peer);
    return peer;
  };
  const prove = (peer: Peer): void => {
    places.begin(peer.socket);
    places.end(peer.socket, true);
  };
  return { places, server, cutOff, arrive, prove };
}

describe('when all places are taken', () => {
  test('the one that has been there longest and has proven nothing goes', () => {
    const { arrive, prove, cutOff } = setUp(3);
    prove(arrive(1));
    arrive(2);
    arrive(3);
    arrive(4);
    arrive(5);
    expect(cutOff).toEqual(['2', '3']);
  });

  test('an answer that proves nothing makes nobody younger', () => {
    const { places, arrive, cutOff } = setUp(2);
    const first = arrive(1);
    arrive(2);
    places.begin(first.socket);
    places.end(first.socket, false);
    arrive(3);
    expect(cutOff).toEqual(['1']);
  });

  test('of those that have all proven something, the one whose proof is oldest goes', () => {
    const { arrive, prove, cutOff } = setUp(2);
    const first = arrive(1);
    prove(first);
    prove(arrive(2));
    prove(first);
    arrive(3);
    expect(cutOff).toEqual(['2']);
  });

  test('nobody goes whose request is being worked on; then the newcomer does', () => {
    const { places, arrive, cutOff } = setUp(1);
    const first = arrive(1);
    places.begin(first.socket);
    expect(arrive(2).isDestroyed).toBe(true);
    places.end(first.socket, false);
    expect(arrive(3).isDestroyed).toBe(false);
    expect(cutOff).toEqual(['1']);
  });

  test('it is told whether something came that has no answer', () => {
    const { places, arrive, cutOff } = setUp(1);
    const half = arrive(1);
    half.bytesRead = 10;
    const idle = arrive(2);
    idle.bytesRead = 10;
    places.begin(idle.socket);
    places.end(idle.socket, false);
    arrive(3);
    expect(cutOff).toEqual(['1 waits', '2']);
  });

  test('one that has left needs no place', () => {
    const { arrive, cutOff } = setUp(1);
    arrive(1).destroy();
    arrive(2);
    expect(cutOff).toEqual([]);
  });
});

describe('when there is no memory for a body', () => {
  test('the oldest body goes, and its memory with it, given back once', () => {
    const { places, arrive, cutOff } = setUp(9);
    const [first, second, third] = [arrive(1), arrive(2), arrive(3)];
    const release = places.hold(first.socket, 60);
    places.hold(second.socket, 40);
    expect(places.hold(third.socket, 60)).not.toBeNull();
    release?.();
    expect(cutOff).toEqual(['1']);
    expect(places.hold(arrive(4).socket, 1)).not.toBeNull();
    expect(cutOff).toEqual(['1', '2']);
  });

  test('a body that is being worked on stays, and the newcomer is refused', () => {
    const { places, arrive, cutOff } = setUp(9);
    const first = arrive(1);
    places.hold(first.socket, 60);
    places.begin(first.socket);
    expect(places.hold(arrive(2).socket, 60)).toBeNull();
    expect(cutOff).toEqual([]);
  });

  test('what was given back is there again', () => {
    const { places, arrive } = setUp(9);
    const first = arrive(1);
    for (let n = 0; n < 5; n += 1) places.hold(first.socket, 100)?.();
    expect(places.hold(arrive(2).socket, 100)).not.toBeNull();
  });
});

test('knows a connection by the socket that TLS puts on it, too', () => {
  const { places, server, arrive, cutOff } = setUp(1, { isTls: true });
  arrive(1);
  const secure = new Peer(1);
  server.emit('secureConnection', secure);
  places.begin(secure.socket);
  expect(arrive(2).isDestroyed).toBe(true);
  expect(cutOff).toEqual([]);
});

test('sends no answer where there is no TLS yet', () => {
  const { server, arrive, cutOff } = setUp(1, { isTls: true });
  arrive(1).bytesRead = 100;
  arrive(2);
  const secure = new Peer(2);
  secure.bytesRead = 500;
  server.emit('secureConnection', secure);
  arrive(3);
  expect(cutOff).toEqual(['1', '2']);
});

test('when it ends, limits the silence of all but those that are worked on, and theirs afterwards', () => {
  const { places, arrive } = setUp(9);
  const [idle, working] = [arrive(1), arrive(2)];
  places.begin(working.socket);
  places.endSilent(2000);
  expect([idle.silenceMs, working.silenceMs]).toEqual([2000, null]);
  for (let n = 0; n < 3; n += 1) {
    places.end(working.socket, true);
    places.begin(working.socket);
  }
  expect(working.silenceMs).toBe(2000);
  expect(working.listenerCount('timeout')).toBe(1);
  idle.emit('timeout');
  expect([idle.isDestroyed, working.isDestroyed]).toEqual([true, false]);
});
