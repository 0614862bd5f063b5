const P1 = 0x9e_37_79_b1;
const P2 = 0x85_eb_ca_77;
const P3 = 0xc2_b2_ae_3d;
const P4 = 0x27_d4_eb_2f;
const P5 = 0x16_56_67_b1;

/** The checksum XXH32 with seed 0, which LZ4 frames carry. */
export function xxh32(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  let sum = P5;
  if (bytes.length >= 16) {
    let [a, b, c, d] = [P1 + P2, P2, 0, -P1];
    for (; at <= bytes.length - 16; at += 16) {
      a = round(a, view.getUint32(at, true));
      b = round(b, view.getUint32(at + 4, true));
      c = round(c, view.getUint32(at + 8, true));
      d = round(d, view.getUint32(at + 12, true));
    }
    sum = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
  }
  sum = (sum + bytes.length) | 0;
  for (; at <= bytes.length - 4; at += 4)
    sum = Math.imul(rotate((sum + Math.imul(view.getUint32(at, true), P3)) | 0, 17), P4);
  for (; at < bytes.length; at += 1) sum = Math.imul(rotate((sum + Math.imul(bytes[at] ?? 0, P5)) | 0, 11), P1);
  sum = Math.imul(sum ^ (sum >>> 15), P2);
  sum = Math.imul(sum ^ (sum >>> 13), P3);
  return (sum ^ (sum >>> 16)) >>> 0;
}

function round(lane: number, word: number): number {
  return Math.imul(rotate((lane + Math.imul(word, P2)) | 0, 13), P1);
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
