import { connect } from 'node:net';
import { AnswerReader } from './answers.ts';
import { type Sighting } from './judge.ts';
import { type Plan } from './plan.ts';

/** Far above every limit of the server's: what takes longer has been forgotten by it. */
const LATE_MS = 30_000;
/** Well above the server's limit for a request: a connection on which nothing was begun may stay open after it. */
const QUIET_MS = 1500;
/** Of this machine: more than one, so that ports do not run out. */
const LOCAL_ADDRESSES = 8;

/** Sends what a plan says, as it says it, and tells what came. Never rejects. */
export async function sendPlan(url: URL, plan: Plan): Promise<Sighting> {
  return await new Promise((resolve) => {
    const reader = new AnswerReader();
    const socket = connect({
      host: url.hostname,
      port: Number(url.port),
      localAddress: `127.0.0.${String(2 + (plan.index % LOCAL_ADDRESSES))}`,
      noDelay: true,
    });
    let endedBy: Sighting['endedBy'] = 'server';
    const beganMs = performance.now();
    const timer = setTimeout(() => {
      endedBy = 'late';
      socket.destroy();
    }, LATE_MS);
    const quiet = setTimeout(() => {
      if (!plan.open) return;
      endedBy = 'ours';
      socket.destroy();
    }, QUIET_MS);
    socket.on('data', (chunk: Buffer) => {
      reader.push(chunk);
      const isWaiting = plan.open || reader.statuses.length < plan.answers.length;
      if (isWaiting && reader.wrong === null) return;
      endedBy = 'ours';
      socket.destroy();
    });
    socket.on('error', () => {
      endedBy = 'reset';
    });
    // The server has said all it will.
    socket.on('end', () => socket.end());
    socket.on('close', () => {
      clearTimeout(timer);
      clearTimeout(quiet);
      if (endedBy !== 'reset') reader.end();
      resolve({ statuses: reader.statuses, wrong: reader.wrong, endedBy, lastedMs: performance.now() - beganMs });
    });
    socket.on('connect', () => {
      writePieces(
        plan,
        0,
        (piece) => socket.writable && socket.write(piece),
        () => {
          if (plan.open) quiet.refresh();
          if (plan.end === 'fin') socket.end();
          if (plan.end !== 'reset') return;
          endedBy = 'reset';
          socket.resetAndDestroy();
        },
      );
    });
  });
}

/** Each piece in a turn of the loop of its own, so that it is a packet of its own. */
function writePieces(plan: Plan, at: number, write: (piece: Buffer) => void, done: () => void): void {
  const from = at === 0 ? 0 : (plan.cuts[at - 1] ?? 0);
  write(plan.bytes.subarray(from, plan.cuts[at]));
  if (at === plan.cuts.length) done();
  else
    setImmediate(() => {
      writePieces(plan, at + 1, write, done);
    });
}
