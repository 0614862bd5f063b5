import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Fault, nameOf } from '../../kernel/fault.ts';

const LIMIT_MS = 60_000;
const PAUSE_MS = 100;
const ANSWER_LIMIT_MS = 5000;

/** Of Kafka's protocol: the three questions asked here, each with a version that Kafka 3.9 and 4 both speak. */
const METADATA = { key: 3, version: 1 } as const;
const OFFSET_FETCH = { key: 9, version: 2 } as const;
const FIND_COORDINATOR = { key: 10, version: 0 } as const;

/** No topic in particular, as an array of length 0. */
const NO_TOPICS = int32(0);

/**
 * Names whose hashes follow each other: one for each partition of the topic of offsets, of which there are as many as
 * nodes.
 */
const GROUPS = ['warm-up-1', 'warm-up-2', 'warm-up-3'];

/** Asks one question of Kafka's protocol; the answer's body, without its header. */
export type Ask = (address: string, api: { key: number; version: number }, body: Buffer) => Promise<Buffer>;

/**
 * Waits until every node is a member of the cluster and groups can be joined. Kafka makes the topic of offsets at the
 * first question about a group, and refuses joins while it does: asked here, it hurts nobody later.
 * @throws Fault `CHILD_FAILED` when that takes longer than a minute
 */
export async function untilUsable(brokers: readonly string[]): Promise<void> {
  const latest = performance.now() + LIMIT_MS;
  for (;;) {
    const missing = await whatIsMissing(brokers, ask);
    if (missing === undefined) return;
    if (performance.now() > latest) {
      throw new Fault('CHILD_FAILED', `Kafka started, but groups cannot be joined yet: ${missing}.`);
    }
    await sleep(PAUSE_MS);
  }
}

/** Why groups cannot be joined yet; undefined when they can. */
export async function whatIsMissing(brokers: readonly string[], asking: Ask): Promise<string | undefined> {
  try {
    const first = brokers[0] ?? '';
    const members = (await asking(first, METADATA, NO_TOPICS)).readInt32BE(0);
    if (members < brokers.length)
      return `${String(members)} of ${String(brokers.length)} nodes have joined the cluster`;
    for (const group of GROUPS.slice(0, brokers.length)) {
      const error = await coordinatorError(first, group, asking);
      if (error !== 0) return `the coordinator of a group answers with error ${String(error)}`;
    }
    return undefined;
  } catch (error) {
    return `no answer (${nameOf(error)})`;
  }
}

/** Kafka's error code for a group: 0 when its coordinator is there and has read its offsets. */
async function coordinatorError(broker: string, group: string, asking: Ask): Promise<number> {
  const found = await asking(broker, FIND_COORDINATOR, text(group));
  const error = found.readInt16BE(0);
  if (error !== 0) return error;
  // Behind the error: the node's id, its host's length and name, its port.
  const hostLength = found.readInt16BE(6);
  const host = found.toString('utf8', 8, 8 + hostLength);
  const port = found.readInt32BE(8 + hostLength);
  const offsets = await asking(`${host}:${String(port)}`, OFFSET_FETCH, Buffer.concat([text(group), NO_TOPICS]));
  return offsets.readInt16BE(4);
}

async function ask(address: string, api: { key: number; version: number }, body: Buffer): Promise<Buffer> {
  const header = Buffer.concat([int16(api.key), int16(api.version), int32(1), text('warm-up')]);
  const frame = Buffer.concat([int32(header.length + body.length), header, body]);
  const colon = address.lastIndexOf(':');
  const socket = connect({ host: address.slice(0, colon), port: Number(address.slice(colon + 1)) });
  socket.setTimeout(ANSWER_LIMIT_MS, () => socket.destroy(new Error('no answer in time')));
  try {
    socket.write(frame);
    let answer = Buffer.alloc(0);
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      answer = Buffer.concat([answer, chunk]);
      // Length and correlation id stand before the body.
      if (answer.length >= 8 && answer.length >= 4 + answer.readInt32BE(0)) return answer.subarray(8);
    }
    throw new Error('the connection ended before the answer');
  } finally {
    socket.destroy();
  }
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value, 'utf8');
  return Buffer.concat([int16(bytes.length), bytes]);
}
