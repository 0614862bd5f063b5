import { type EngineStatus } from '../engine/ports.ts';
import { type Emit } from '../kernel/emit.ts';
import { type Moment } from './metric-row.ts';
import { watermarkLagSeconds } from './watermark-lag.ts';

/** A payment that is scored later than this is late to whoever waits for it. */
const LATE_SECONDS = 60;
/** Well below, so that a flow on the edge is not told of again and again. */
const FRESH_SECONDS = 5;

interface Late {
  readonly sinceMs: number;
  mostSeconds: number;
}

/**
 * Says when a flow has fallen a minute behind the clock, and when it has caught up, after how long and how far behind it
 * was at most: what an objective of freshness is judged by. One of its flows is `fresh` or `late`.
 */
export class Freshness {
  readonly #emit: Emit;
  readonly #late = new Map<string, Late>();

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  /** To be called every few seconds. A flow of which nothing is owned, or nothing known, stays what it was. */
  look({ flows, partitions }: EngineStatus, at: Moment): void {
    for (const { name, topic } of flows) {
      const lags = partitions
        .filter((partition) => partition.topic === topic)
        .map((partition) => watermarkLagSeconds(partition, at));
      const known = lags.filter((lag) => lag !== null);
      if (known.length > 0) this.#judge(name, Math.max(...known), known.length === lags.length, at.monotonicMs);
    }
  }

  #judge(flow: string, seconds: number, isWhole: boolean, nowMs: number): void {
    const late = this.#late.get(flow);
    if (late === undefined) {
      if (seconds < LATE_SECONDS) return;
      this.#late.set(flow, { sinceMs: nowMs, mostSeconds: seconds });
      this.#emit('fell_behind', { flow, behindMs: Math.round(seconds * 1000) });
      return;
    }
    late.mostSeconds = Math.max(late.mostSeconds, seconds);
    if (seconds > FRESH_SECONDS || !isWhole) return;
    this.#late.delete(flow);
    const mostMs = Math.round(late.mostSeconds * 1000);
    this.#emit('caught_up', { flow, afterMs: Math.round(nowMs - late.sinceMs), mostMs });
  }
}
