import { type Server } from 'node:http';
import { type Socket } from 'node:net';
import { type Duplex } from 'node:stream';

export interface PlacesOptions {
  readonly maxConnections: number;
  /** What bodies that are being read or worked on may take together, in bytes. */
  readonly maxHeldBytes: number;
  /** Ends a connection whose place somebody else gets; `waits`: its peer has sent something that has no answer yet. */
  readonly cutOff: (socket: Socket, waits: boolean) => void;
}

/** One connection. */
interface Place {
  /** The one with TLS on it, once there is. */
  socket: Socket;
  /** Requests that came whole and have no answer yet. */
  working: number;
  /** `socket.bytesRead` when the last answer was given: more has come since, if it is more. Infinite as long as TLS is missing. */
  answeredBytes: number;
  heldBytes: number;
  isSilenceLimited: boolean;
  isGone: boolean;
}

/**
 * Who may stay when there is not room for all: each newcomer gets the place of whoever has been here longest without
 * having proven anything, then of whoever has been idle longest since its proof. So nobody can shut the sender out by
 * holding connections or declaring bodies, however many: a webhook that is sent without a pause is whole long before its
 * turn comes. A request that is being worked on keeps its place.
 */
export class Places {
  readonly #options: PlacesOptions;
  /** Longest here first. */
  readonly #strangers = new Set<Place>();
  /** Longest since its last proof first. */
  readonly #proven = new Set<Place>();
  readonly #bySocket = new WeakMap<Duplex, Place>();
  #heldBytes = 0;
  #silenceMs: number | null = null;

  constructor(options: PlacesOptions) {
    this.#options = options;
  }

  /** Gives every connection of a server its place; call it before the server listens. */
  watch(server: Server, isTls: boolean): void {
    const byPort = new Map<string, Place>();
    server.on('connection', (socket: Socket) => {
      const port = portOf(socket);
      const place = this.#enter(socket, isTls ? Infinity : 0);
      byPort.set(port, place);
      socket.once('close', () => {
        if (byPort.get(port) === place) byPort.delete(port);
        this.#leave(place);
      });
    });
    // TLS puts another socket on the first one, and requests know only that.
    server.on('secureConnection', (socket: Socket) => {
      const place = byPort.get(portOf(socket));
      if (place === undefined) return;
      place.socket = socket;
      place.answeredBytes = socket.bytesRead;
      this.#bySocket.set(socket, place);
    });
  }

  /** A request came whole: its connection keeps its place until `end`. */
  begin(socket: Duplex): void {
    const place = this.#bySocket.get(socket);
    if (place !== undefined) place.working += 1;
  }

  /** It has its answer. `proven`: its peer knows what only the sender knows. */
  end(socket: Duplex, proven: boolean): void {
    const place = this.#bySocket.get(socket);
    if (place === undefined || place.isGone) return;
    place.working -= 1;
    place.answeredBytes = place.socket.bytesRead;
    this.#limitSilence(place);
    if (!proven) return;
    this.#strangers.delete(place);
    this.#proven.delete(place);
    this.#proven.add(place);
  }

  /** Promises memory to a body; others may have to go for it. Null: there is none. Else gives it back; call it once. */
  hold(socket: Duplex, bytes: number): (() => void) | null {
    const own = this.#bySocket.get(socket);
    const fits = (): boolean => this.#heldBytes + bytes <= this.#options.maxHeldBytes;
    while (!fits()) {
      const victim = this.#longest((place) => place !== own && place.heldBytes > 0);
      if (victim === null) return null;
      this.#cutOff(victim);
    }
    this.#heldBytes += bytes;
    if (own !== undefined) own.heldBytes += bytes;
    return () => {
      if (own?.isGone === true) return;
      this.#heldBytes -= bytes;
      if (own !== undefined) own.heldBytes -= bytes;
    };
  }

  /** From now on, ends what neither sends nor takes anything for so long, unless it is being worked on: a peer that does not read its answer. */
  endSilent(afterMs: number): void {
    this.#silenceMs = afterMs;
    for (const places of [this.#strangers, this.#proven]) for (const place of places) this.#limitSilence(place);
  }

  #limitSilence(place: Place): void {
    const { socket, working } = place;
    if (this.#silenceMs === null || working > 0) return;
    if (!place.isSilenceLimited) socket.on('timeout', () => socket.destroy());
    place.isSilenceLimited = true;
    socket.setTimeout(this.#silenceMs);
  }

  #enter(socket: Socket, answeredBytes: number): Place {
    const place: Place = { socket, working: 0, answeredBytes, heldBytes: 0, isSilenceLimited: false, isGone: false };
    this.#bySocket.set(socket, place);
    if (this.#strangers.size + this.#proven.size >= this.#options.maxConnections) {
      const victim = this.#longest(() => true);
      if (victim === null) {
        place.isGone = true;
        socket.destroy();
        return place;
      }
      this.#cutOff(victim);
    }
    this.#strangers.add(place);
    return place;
  }

  #longest(fits: (place: Place) => boolean): Place | null {
    for (const places of [this.#strangers, this.#proven])
      for (const place of places) if (place.working === 0 && fits(place)) return place;
    return null;
  }

  #cutOff(place: Place): void {
    const waits = place.socket.bytesRead > place.answeredBytes;
    this.#leave(place);
    this.#options.cutOff(place.socket, waits);
  }

  #leave(place: Place): void {
    if (place.isGone) return;
    place.isGone = true;
    this.#strangers.delete(place);
    this.#proven.delete(place);
    this.#heldBytes -= place.heldBytes;
    place.heldBytes = 0;
  }
}

function portOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress ?? ''} ${String(remotePort)}`;
}
