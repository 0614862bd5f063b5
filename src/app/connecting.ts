import { type Connect, type ConnectSettings, createConnect } from '../edges/system/connect.ts';
import { type Clock } from '../kernel/clock.ts';
import { type Emit, type HttpNeighbour } from '../kernel/emit.ts';

/** A neighbour that is away is told of this often. */
const TELL_EVERY_MS = 60_000;

export interface ConnectingParts {
  readonly clock: Clock;
  /** Absent: nothing is said. */
  readonly emit?: Emit;
}

/** Opens connections to a neighbour, and says why one came to nothing: once a minute for each reason. */
export function connectTo(
  neighbour: HttpNeighbour,
  settings: Omit<ConnectSettings, 'onFailed'>,
  { clock, emit }: ConnectingParts,
): Connect {
  let told = { error: '', atMs: -Infinity };
  const onFailed = (error: string): void => {
    const nowMs = clock.monotonicMs();
    if (error === told.error && nowMs - told.atMs < TELL_EVERY_MS) return;
    told = { error, atMs: nowMs };
    emit?.('connection_failed', { neighbour, error });
  };
  return createConnect({ ...settings, onFailed }, clock);
}
