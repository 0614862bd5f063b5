import { type ValueEncoder } from '../engine/ports.ts';
import { Fault } from '../kernel/fault.ts';

/** An encoder whose schema id is learnt after it is built in. Until then it throws `REGISTRY_FAILED`, which its users take for "not yet". */
export class LateEncoder<T> implements ValueEncoder<T> {
  #encoder: ValueEncoder<T> | null = null;

  provide(encoder: ValueEncoder<T>): void {
    this.#encoder = encoder;
  }

  encode(value: T): Buffer {
    if (this.#encoder === null)
      throw new Fault('REGISTRY_FAILED', 'The id of the schema to write with is not known yet.');
    return this.#encoder.encode(value);
  }
}
