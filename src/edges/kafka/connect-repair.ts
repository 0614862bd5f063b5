import { type Connection } from './silence-repair.ts';

/**
 * Opens one socket for all who ask for a connection while it is being opened. kafkajs opens one for each of them and
 * knows only the last: what comes on another is taken for its answers, and its end, which comes when the broker has
 * tired of it, ends the connection in use and fails whatever waits on it.
 *
 * A connection that is ended meanwhile is another one afterwards: nobody is held by an attempt that was given up, whose
 * socket `socketFactory` has destroyed.
 *
 * Whoever is told that an attempt has failed ends the connection once more, although the attempt has ended itself, and
 * would so end the one that the next in line has just begun: that one would wait for its time-out, fail, and have the
 * next one ended in turn, for as long as somebody always waits. Right after a failure there is nothing else to end.
 */
export function shareConnects(prototype: Connection): void {
  const { connect, disconnect } = prototype;
  const underWay = new WeakMap<Connection, Promise<unknown>>();
  const justFailed = new WeakSet<Connection>();
  prototype.connect = async function connectOnce(this: Connection): Promise<unknown> {
    if (this.isConnected()) return await connect.call(this);
    const known = underWay.get(this);
    if (known !== undefined) return await known;
    const begun = connect.call(this);
    underWay.set(this, begun);
    try {
      return await begun;
    } catch (error) {
      justFailed.add(this);
      // Behind the promise reactions of all who are told of it, and before anything else can happen.
      process.nextTick(() => justFailed.delete(this));
      throw error;
    } finally {
      if (underWay.get(this) === begun) underWay.delete(this);
    }
  };
  prototype.disconnect = async function disconnectAnew(this: Connection): Promise<unknown> {
    if (justFailed.has(this)) return true;
    underWay.delete(this);
    return await disconnect.call(this);
  };
}
