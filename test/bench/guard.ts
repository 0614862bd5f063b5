import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { type Flow } from '../../src/engine/ports.ts';
import { ScoringFlow } from '../../src/flows/scoring/flow.ts';
import { Attribution } from '../../src/resilience/attribution.ts';
import { Caller } from '../../src/resilience/caller.ts';
import { Gate } from '../../src/resilience/gate.ts';
import { type Exchange } from '../../src/resilience/ports.ts';
import { createCardGuard } from '../../src/screening/card-guard.ts';
import { valueOf } from './backlog.ts';
import { measureEngine } from './engine-alone.ts';

const RECORDS = 60_000;
const PARTITIONS = 12;
const KEYS = 10_000;
const AT_ONCE = 64;
const ROUNDS = 3;
const VALUE = Buffer.from(valueOf(0, 0, false));
const ANSWER = Buffer.from(
  JSON.stringify({ frg_trans_id: 'f', fraugster_approved: 1, score: 0.07, is_liable: true, validation: { ok: true } }),
);

/** CPU in µs per payment, in one process by turns: the least of all rounds, which is what nothing else has disturbed. */
export interface GuardFigures {
  readonly connector: number;
  readonly loop: number;
}

/** Scoring as it is, without Kafka and HTTP, beside a loop that does only what cannot be left out. */
export async function measureGuard(): Promise<GuardFigures> {
  let [connector, loop] = [Infinity, Infinity];
  for (let round = 0; round < ROUNDS; round += 1) {
    loop = Math.min(loop, await measureLoop());
    const work = { flow: scoring(), value: VALUE };
    connector = Math.min(connector, (await measureEngine(PARTITIONS, KEYS, RECORDS, work)).usPerRecord);
  }
  return { connector, loop };
}

async function score(): Promise<Exchange> {
  return await Promise.resolve({ do: 'answer', status: 200, retryAfterMs: null, body: ANSWER, latencyMs: 1 });
}

function scoring(): Flow<unknown, unknown> {
  const shared = { clock: systemClock, draw: systemDraw, emit: () => undefined };
  const attribution = new Attribution({
    maxAttempts: 8,
    refuseAfterMs: 300_000,
    maxShare: 0.05,
    draw: systemDraw,
    nowMs: systemClock.monotonicMs(),
  });
  const gate = new Gate({ scope: 'scoring', attribution, bucket: null, ...shared });
  return new ScoringFlow({
    caller: new Caller({ api: { score }, concurrency: AT_ONCE, gate, clock: systemClock }),
    gate,
    concurrency: AT_ONCE,
    ordering: 'key',
    decoder: { decode: () => ({ do: 'needs', schema: 1 }) },
    recordMaxBytes: 1_048_576,
    guard: createCardGuard([]),
    output: null,
    scoreOnRefusal: true,
    account: 'bench',
    scored: { note: () => undefined },
    ...shared,
  });
}

/** Reads, keeps order per key, asks, reads the answer, remembers what has ended: nothing else, as plainly as it goes. */
async function measureLoop(): Promise<number> {
  const cpu = process.cpuUsage();
  const names = Array.from({ length: KEYS }, (_, key) => Buffer.from(`cust-${String(key)}`));
  const busy = new Set<string>();
  const done = new Uint8Array(RECORDS);
  const running = new Set<Promise<void>>();
  const run = async (offset: number, key: string): Promise<void> => {
    const { trans_id: transId } = JSON.parse(VALUE.toString('utf8')) as { readonly trans_id: string };
    const exchange = await score();
    const answer = exchange.do === 'answer' ? (JSON.parse(exchange.body.toString('utf8')) as object) : {};
    done[offset] = transId.length > 0 && 'score' in answer ? 1 : 0;
    busy.delete(key);
  };
  for (let offset = 0; offset < RECORDS; offset += 1) {
    const key = names[offset % KEYS]?.toString('latin1') ?? '';
    while (running.size >= AT_ONCE || busy.has(key)) await Promise.race(running);
    busy.add(key);
    const started = run(offset, key);
    running.add(started);
    void started.then(() => running.delete(started));
  }
  await Promise.all(running);
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / done.reduce((sum, each) => sum + each, 0);
}
