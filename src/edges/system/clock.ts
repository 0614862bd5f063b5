import { performance } from 'node:perf_hooks';
import { type Clock, type Draw } from '../../kernel/clock.ts';

/** The machine's time. Its timers keep the process alive: whoever starts one ends it. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, task) => {
    const timer = setTimeout(task, Math.max(0, delayMs));
    return () => {
      clearTimeout(timer);
    };
  },
  soon: (task) => {
    setImmediate(task);
  },
};

/** The machine's chance. */
export const systemDraw: Draw = () => Math.random();
