/** Where a record is. */
export interface RecordPosition {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** A position as people read and write it: `payments.created:3:42`. DEAD_LETTER_OFFSETS takes the same form. */
export function positionOf({ topic, partition, offset }: RecordPosition): string {
  return `${topic}:${String(partition)}:${String(offset)}`;
}
