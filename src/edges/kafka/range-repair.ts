import { type TopicPartition } from '../../engine/ports.ts';

/** The part of kafkajs' group member that deals with an offset that a broker does not hold. */
export interface RangedGroup {
  readonly cluster: object;
  recoverFromOffsetOutOfRange: (this: RangedGroup, error: TopicPartition) => Promise<void>;
}

const listeners = new WeakMap<object, (at: TopicPartition) => void>();

/**
 * Lets the owner of a consumer decide what becomes of a partition whose offset is out of range. kafkajs commits "none" for
 * it, which overwrites the committed offset and its metadata, and reads on at the oldest record without a word: after a
 * crash nobody knows any more where reading was and what had ended above.
 */
export function leaveRanges(prototype: RangedGroup): void {
  const original = prototype.recoverFromOffsetOutOfRange;
  prototype.recoverFromOffsetOutOfRange = async function recoverUnlessTold(this: RangedGroup, error): Promise<void> {
    const listener = listeners.get(this.cluster);
    if (listener === undefined) await original.call(this, error);
    else listener(error);
  };
}

/** Calls the listener, and leaves everything else to it, when a fetch of this consumer is out of range. */
export function onOutOfRange(cluster: object, listener: (at: TopicPartition) => void): void {
  listeners.set(cluster, listener);
}
