import { Fault } from '../../kernel/fault.ts';

/** More than this is not read. */
const MOST_BYTES = 67_108_864;

/** All of standard input, to its end. Throws `USAGE` beyond 64 MiB. */
export async function readStandardInput(): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of process.stdin as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Fault('USAGE', 'standard input: more than 64 MiB; give fewer records at once.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}
