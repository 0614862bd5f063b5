/** Up to where a partition, and all partitions of a flow together, may fill before reading pauses. */
export interface PressureLimits {
  readonly partitionRecords: number;
  /** Offsets from the first record of a partition that has not ended to the next one to be read. */
  readonly partitionSpan: number;
  readonly flowRecords: number;
  readonly flowBytes: number;
}

/** With hysteresis: pauses at the limit, resumes at half, so that a source is not paused and resumed record by record. */
export function isFull(wasFull: boolean, held: number, limit: number): boolean {
  return wasFull ? held > limit / 2 : held >= limit;
}
