import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { type Cancel, type Clock } from '../../src/kernel/clock.ts';

/** What a wire is like. */
export type Weather =
  | { readonly is: 'fine' }
  /** Each way, every byte comes `delayMs` later, and only so many a second. */
  | { readonly is: 'slow'; readonly delayMs: number; readonly bytesPerSecond: number }
  /** Nothing passes and nobody is told. What was sent on a connection that is still wanted comes when it is over. */
  | { readonly is: 'silent' }
  /** Connections are reset, new ones, too. */
  | { readonly is: 'cut' };

export const FINE: Weather = { is: 'fine' };

export interface ProxyParts {
  readonly clock: Clock;
  /** Asked for each connection; null: it is reset. On the loopback address. */
  readonly target: () => number | null;
}

/** So much of one direction is kept; then the sender has to wait, as it does behind a full window. */
const MOST_HELD_BYTES = 262_144;
const LOOPBACK = '127.0.0.1';

/** A wire between two that speak TCP, on the loopback address, whose weather can be changed. */
export class TcpProxy {
  readonly #parts: ProxyParts;
  readonly #server: Server;
  readonly #pairs = new Set<Pair>();
  #weather: Weather = FINE;
  /** Connections that any bad weather has befallen. */
  struck = 0;
  /** Connections that the far side did not take. */
  refused = 0;

  private constructor(parts: ProxyParts) {
    this.#parts = parts;
    this.#server = createServer({ allowHalfOpen: true }, (near) => {
      this.#accept(near);
    });
  }

  /** Opens a proxy at a port that is free. */
  static async open(parts: ProxyParts): Promise<TcpProxy> {
    const proxy = new TcpProxy(parts);
    await new Promise<void>((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(0, LOOPBACK, resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Holds from now on, for connections that are there as well. */
  set(weather: Weather): void {
    this.#weather = weather;
    if (weather.is !== 'fine') this.struck += this.#pairs.size;
    for (const pair of this.#pairs) pair.feel();
  }

  /** Half-open connections: those there are never carry a byte again, and only the far side is told. New ones pass. */
  forget(): void {
    this.struck += this.#pairs.size;
    for (const pair of this.#pairs) pair.forget();
  }

  async close(): Promise<void> {
    for (const pair of this.#pairs) pair.reset();
    await new Promise<void>((resolve) => {
      this.#server.close(() => {
        resolve();
      });
    });
  }

  #accept(near: Socket): void {
    const port = this.#parts.target();
    if (this.#weather.is !== 'fine') this.struck += 1;
    if (port === null || this.#weather.is === 'cut') {
      near.on('error', () => undefined);
      near.resetAndDestroy();
      return;
    }
    const far = connect({ port, host: LOOPBACK, allowHalfOpen: true });
    far.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') this.refused += 1;
    });
    const pair = new Pair({ near, far, clock: this.#parts.clock, weather: () => this.#weather });
    this.#pairs.add(pair);
    void pair.ended.then(() => this.#pairs.delete(pair));
  }
}

interface PairParts {
  readonly near: Socket;
  readonly far: Socket;
  readonly clock: Clock;
  readonly weather: () => Weather;
}

/** One connection: the socket of who came, that of whom it wanted, and a direction each way. */
class Pair {
  readonly ended: Promise<void>;
  readonly #parts: PairParts;
  readonly #ways: readonly [Way, Way];
  /** One side has gone while the wire was silent: the other one finds out when it is not. */
  #isWidowed = false;
  #isForgotten = false;

  constructor(parts: PairParts) {
    this.#parts = parts;
    const { near, far, clock, weather } = parts;
    this.#ways = [new Way({ from: near, to: far, clock, weather }), new Way({ from: far, to: near, clock, weather })];
    for (const [index, socket] of [near, far].entries()) {
      socket.setNoDelay(true);
      socket.on('data', (chunk: Buffer) => {
        if (!this.#isForgotten) this.#ways[index]?.take(chunk);
      });
      socket.once('end', () => {
        this.#hasEnded(index);
      });
      socket.on('error', () => {
        this.#hasFailed();
      });
    }
    this.ended = Promise.all([closed(near), closed(far)]).then(() => undefined);
  }

  /** The weather has changed. */
  feel(): void {
    const { is } = this.#parts.weather();
    if (is === 'cut' || (is !== 'silent' && this.#isWidowed)) {
      this.reset();
      return;
    }
    for (const way of this.#ways) way.feel();
  }

  forget(): void {
    this.#isForgotten = true;
    for (const way of this.#ways) way.drop();
    this.#parts.far.resetAndDestroy();
  }

  reset(): void {
    for (const way of this.#ways) way.drop();
    this.#parts.near.resetAndDestroy();
    this.#parts.far.resetAndDestroy();
  }

  #hasEnded(index: number): void {
    // Nobody who speaks through here half-closes: an end says that the connection is given up.
    if (this.#isForgotten) this.#parts.near.destroy();
    else if (this.#parts.weather().is === 'silent') this.#isWidowed = true;
    else this.#ways[index]?.take(null);
  }

  #hasFailed(): void {
    if (this.#isForgotten) this.#parts.near.destroy();
    else if (this.#parts.weather().is === 'silent') this.#isWidowed = true;
    else this.reset();
  }
}

async function closed(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    socket.once('close', () => {
      resolve();
    });
  });
}

interface WayParts {
  readonly from: Socket;
  readonly to: Socket;
  readonly clock: Clock;
  readonly weather: () => Weather;
}

/** One direction of a connection. Nothing overtakes: what waits is a queue. */
class Way {
  readonly #parts: WayParts;
  /** Null: the end. */
  #waiting: { readonly chunk: Buffer | null; readonly dueMs: number }[] = [];
  #heldBytes = 0;
  /** When the wire has carried what it was given. */
  #freeMs = 0;
  #isBlocked = false;
  #cancel: Cancel = () => undefined;

  constructor(parts: WayParts) {
    this.#parts = parts;
  }

  take(chunk: Buffer | null): void {
    const { clock, weather, from } = this.#parts;
    const now = weather();
    let dueMs = clock.monotonicMs();
    if (now.is === 'slow') {
      this.#freeMs = Math.max(this.#freeMs, dueMs) + (1000 * (chunk?.length ?? 0)) / now.bytesPerSecond;
      dueMs = this.#freeMs + now.delayMs;
    }
    this.#waiting.push({ chunk, dueMs });
    this.#heldBytes += chunk?.length ?? 0;
    if (this.#heldBytes > MOST_HELD_BYTES) from.pause();
    this.#flush();
  }

  /** What waits goes at once, unless the wire is silent. */
  feel(): void {
    const nowMs = this.#parts.clock.monotonicMs();
    this.#freeMs = nowMs;
    this.#waiting = this.#waiting.map(({ chunk }) => ({ chunk, dueMs: nowMs }));
    this.#flush();
  }

  drop(): void {
    this.#cancel();
    this.#waiting = [];
    this.#heldBytes = 0;
    this.#parts.from.resume();
  }

  #flush(): void {
    this.#cancel();
    const { clock, weather, from, to } = this.#parts;
    if (weather().is === 'silent') return;
    for (let first = this.#waiting[0]; first !== undefined && !this.#isBlocked; first = this.#waiting[0]) {
      const inMs = first.dueMs - clock.monotonicMs();
      if (inMs > 0) {
        this.#cancel = clock.after(inMs, () => {
          this.#flush();
        });
        return;
      }
      this.#waiting.shift();
      this.#heldBytes -= first.chunk?.length ?? 0;
      if (first.chunk === null) to.end();
      else if (!to.write(first.chunk)) this.#waitForRoom();
    }
    if (this.#heldBytes <= MOST_HELD_BYTES) from.resume();
  }

  #waitForRoom(): void {
    this.#isBlocked = true;
    this.#parts.to.once('drain', () => {
      this.#isBlocked = false;
      this.#flush();
    });
  }
}
