/** The middle one; 0 of none. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

/** The value that this share of all does not exceed; `sorted` upwards; 0 of none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

/** The slope of the line that fits best (least squares); 0 where there is none. */
export function slopeOf(points: readonly { readonly x: number; readonly y: number }[]): number {
  if (points.length < 2) return 0;
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / points.length;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / points.length;
  let [together, alone] = [0, 0];
  for (const { x, y } of points) {
    together += (x - meanX) * (y - meanY);
    alone += (x - meanX) ** 2;
  }
  return alone === 0 ? 0 : together / alone;
}

/** Of the normal distribution: 95 % lie within so many deviations. */
const DEVIATIONS = 1.96;

/**
 * Between which of the values the median of what they are drawn from lies with a probability of about 95 %, whatever its
 * distribution: the ranks that so many tosses of a coin allow (sign test). Of fewer than 8: the least and the greatest.
 */
export function medianInterval(values: readonly number[]): { readonly low: number; readonly high: number } {
  const sorted = values.toSorted((a, b) => a - b);
  const { length } = sorted;
  const rank = Math.floor(length / 2 - (DEVIATIONS * Math.sqrt(length)) / 2);
  const below = length < 8 ? 0 : Math.max(0, rank - 1);
  return { low: sorted[below] ?? 0, high: sorted[length - 1 - below] ?? 0 };
}
