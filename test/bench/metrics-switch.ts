import perfHooks from 'node:perf_hooks';
import { OutcomeCounts } from '../../src/engine/outcome-counts.ts';
import { ScoreCounts } from '../../src/flows/scoring/score-counts.ts';
import { BucketCounts } from '../../src/kernel/bucket-counts.ts';
import { ExchangeCounts } from '../../src/kernel/exchange-counts.ts';

/** Whether what counts for metrics counts. */
export interface Switch {
  readonly isOn: boolean;
  set(isOn: boolean): void;
}

/**
 * Makes all that counts for metrics ask a switch first, in this process and for good: how records end and when, requests,
 * decisions, durations, and what Node itself measures for the metrics of the process. Off, nothing of it is done; the
 * same compiled code runs either way. To be called before any of it is built; on at first.
 */
export function switchMetrics(): Switch {
  const state = { isOn: true };
  guard(OutcomeCounts.prototype, 'count', state);
  guard(OutcomeCounts.prototype, 'countStepped', state);
  guard(BucketCounts.prototype, 'add', state);
  guard(ExchangeCounts.prototype, 'ended', state);
  guard(ScoreCounts.prototype, 'scored', state);
  const ofNode = watchNode();
  return {
    get isOn() {
      return state.isOn;
    },
    set: (isOn) => {
      if (isOn === state.isOn) return;
      state.isOn = isOn;
      for (const each of ofNode) each(isOn);
    },
  };
}

/** As many arguments as any of them has: with a list of arguments the switch would cost more than what it switches. */
type Counts = (first: never, second: never, third: never) => void;

function guard<Name extends string>(
  prototype: Record<Name, Counts>,
  name: Name,
  state: { readonly isOn: boolean },
): void {
  const counts = prototype[name];
  prototype[name] = function count(this: unknown, first: never, second: never, third: never): void {
    if (state.isOn) counts.call(this, first, second, third);
  };
}

/** The event loop's delay and the garbage collector's pauses, which prom-client asks for, can be turned off. */
function watchNode(): readonly ((isOn: boolean) => void)[] {
  const found: ((isOn: boolean) => void)[] = [];
  const { monitorEventLoopDelay, PerformanceObserver } = perfHooks;
  perfHooks.monitorEventLoopDelay = (options): ReturnType<typeof monitorEventLoopDelay> => {
    const histogram = monitorEventLoopDelay(options);
    found.push((isOn) => {
      if (isOn) histogram.enable();
      else histogram.disable();
    });
    return histogram;
  };
  perfHooks.PerformanceObserver = class extends PerformanceObserver {
    override observe(options: Parameters<typeof PerformanceObserver.prototype.observe>[0]): void {
      super.observe(options);
      found.push((isOn) => {
        if (isOn) super.observe(options);
        else this.disconnect();
      });
    }
  };
  return found;
}
