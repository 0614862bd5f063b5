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
