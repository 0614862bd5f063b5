const P1 = 0x9e_37_79_b1;
const P2 = 0x85_eb_ca_77;
const P3 = 0xc2_b2_ae_3d;
const P4 = 0x27_d4_eb_2f;
const P5 = 0x16_56_67_b1;
/** It takes its input in stripes of four words. */
const STRIPE = 16;

/** The checksum XXH32 with seed 0, which LZ4 frames carry. */
export function xxh32(bytes: Uint8Array): number {
  return new Xxh32().update(bytes).digest();
}

/** The same, of bytes that come in parts. */
export class Xxh32 {
  #a = P1 + P2;
  #b = P2;
  #c = 0;
  #d = -P1;
  #length = 0;
  readonly #rest = new Uint8Array(STRIPE);
  #restLength = 0;

  update(bytes: Uint8Array): this {
    let at = 0;
    this.#length += bytes.length;
    if (this.#restLength > 0) {
      at = Math.min(STRIPE - this.#restLength, bytes.length);
      this.#rest.set(bytes.subarray(0, at), this.#restLength);
      this.#restLength += at;
      if (this.#restLength < STRIPE) return this;
      this.#stripes(this.#rest, 0);
    }
    at = this.#stripes(bytes, at);
    this.#rest.set(bytes.subarray(at));
    this.#restLength = bytes.length - at;
    return this;
  }

  digest(): number {
    const rest = this.#rest.subarray(0, this.#restLength);
    const view = new DataView(rest.buffer, rest.byteOffset, rest.length);
    let sum =
      this.#length < STRIPE ? P5 : rotate(this.#a, 1) + rotate(this.#b, 7) + rotate(this.#c, 12) + rotate(this.#d, 18);
    sum = (sum + this.#length) | 0;
    let at = 0;
    for (; at <= rest.length - 4; at += 4)
      sum = Math.imul(rotate((sum + Math.imul(view.getUint32(at, true), P3)) | 0, 17), P4);
    for (; at < rest.length; at += 1) sum = Math.imul(rotate((sum + Math.imul(rest[at] ?? 0, P5)) | 0, 11), P1);
    sum = Math.imul(sum ^ (sum >>> 15), P2);
    sum = Math.imul(sum ^ (sum >>> 13), P3);
    return (sum ^ (sum >>> 16)) >>> 0;
  }

  /** Takes whole stripes; answers where the rest begins. */
  #stripes(bytes: Uint8Array, from: number): number {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = from;
    for (; at <= bytes.length - STRIPE; at += STRIPE) {
      this.#a = round(this.#a, view.getUint32(at, true));
      this.#b = round(this.#b, view.getUint32(at + 4, true));
      this.#c = round(this.#c, view.getUint32(at + 8, true));
      this.#d = round(this.#d, view.getUint32(at + 12, true));
    }
    return at;
  }
}

function round(lane: number, word: number): number {
  return Math.imul(rotate((lane + Math.imul(word, P2)) | 0, 13), P1);
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
