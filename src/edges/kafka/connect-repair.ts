import { type Connection } from './silence-repair.ts';

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
