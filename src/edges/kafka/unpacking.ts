/** From this many bytes on, a native copy is faster than a loop. */
const NATIVE_COPY = 48;

/** An error that names the codec in `name` and never holds data. */
export function unpackError(codec: 'Snappy' | 'Lz4', what: string): Error {
  const error = new Error(`The batch cannot be unpacked: ${what}.`);
  error.name = `${codec}Error`;
  return error;
}

/** Copies bytes as they stand; both ends must have been checked. */
export function copyLiteral(from: Uint8Array, at: number, to: Uint8Array, toAt: number, length: number): void {
  if (length >= NATIVE_COPY) to.set(from.subarray(at, at + length), toAt);
  else for (let n = 0; n < length; n += 1) to[toAt + n] = from[at + n] ?? 0;
}

/** Repeats what was written `distance` bytes ago; bytes written by this very copy may be repeated, too. Both ends must have been checked. */
export function copyBack(bytes: Uint8Array, at: number, distance: number, length: number): void {
  if (length >= NATIVE_COPY && distance >= length) bytes.copyWithin(at, at - distance, at - distance + length);
  else for (let n = at; n < at + length; n += 1) bytes[n] = bytes[n - distance] ?? 0;
}
