import { type Cancel, type Clock } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { Freshness } from '../telemetry/freshness.ts';
import { type Instruments } from './instruments.ts';

const LOOK_EVERY_MS = 5000;

/** Looks every five seconds whether the flows keep up. Answers what ends it. */
export function followFreshness(
  instruments: Pick<Instruments, 'status'>,
  { clock, emit }: { readonly clock: Clock; readonly emit: Emit },
): Cancel {
  const freshness = new Freshness(emit);
  let cancel: Cancel | null = null;
  const look = (): void => {
    const status = instruments.status();
    if (status?.phase === 'running') freshness.look(status, { nowMs: clock.nowMs(), monotonicMs: clock.monotonicMs() });
    cancel = clock.after(LOOK_EVERY_MS, look);
  };
  cancel = clock.after(LOOK_EVERY_MS, look);
  return () => {
    cancel?.();
  };
}
