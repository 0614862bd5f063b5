import { type Draw } from '../../kernel/clock.ts';
import { type Check, numberFrom, objectOf, oneOf } from './checks.ts';

/** The longest that anything may be held up. */
export const LONGEST_MS = 600_000;

/** How long answers take, as a distribution. */
export type LatencyShape =
  /** Times without memory: most short, few long. */
  | { readonly kind: 'exponential'; readonly meanMs: number }
  /** What networks and databases look like: half are below the median, one in a hundred above `p99Ms`. */
  | { readonly kind: 'lognormal'; readonly medianMs: number; readonly p99Ms: number }
  /** Either fast or slow. */
  | { readonly kind: 'bimodal'; readonly fastMs: number; readonly slowMs: number; readonly slowShare: number };

const ms = numberFrom(0, LONGEST_MS, 'milliseconds');

const SHAPES: Readonly<Record<LatencyShape['kind'], Check>> = {
  exponential: shape({ meanMs: ms }),
  lognormal: shape({ medianMs: numberFrom(0.001, LONGEST_MS, 'milliseconds'), p99Ms: ms }),
  bimodal: shape({ fastMs: ms, slowMs: ms, slowShare: numberFrom(0, 1) }),
};

function shape(fields: Readonly<Record<string, Check>>): Check {
  return objectOf({ kind: oneOf(['exponential', 'lognormal', 'bimodal']), ...fields }, [
    'kind',
    ...Object.keys(fields),
  ]);
}

/** Judges a latency shape from outside. */
export const isLatencyShape: Check = (value, path) => {
  const kind: unknown = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;
  const defect = oneOf(Object.keys(SHAPES))(kind, `${path}.kind`);
  return defect ?? SHAPES[kind as LatencyShape['kind']](value, path);
};

/** Where 99 of 100 draws of a normal distribution are below, in standard deviations. */
const Z99 = 2.326;

/** One latency of a shape, in milliseconds, 600000 at most. */
export function drawLatency(of: LatencyShape, draw: Draw): number {
  switch (of.kind) {
    case 'exponential':
      return Math.min(LONGEST_MS, -of.meanMs * Math.log(1 - draw()));
    case 'lognormal': {
      const sigma = Math.max(0, Math.log(of.p99Ms / of.medianMs)) / Z99;
      return Math.min(LONGEST_MS, of.medianMs * Math.exp(sigma * drawNormal(draw)));
    }
    case 'bimodal':
      return draw() < of.slowShare ? of.slowMs : of.fastMs;
  }
}

/** Box and Muller's way from two even draws to a normal one. */
function drawNormal(draw: Draw): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}
