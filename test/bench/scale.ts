import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs, { type Admin } from 'kafkajs';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { fillTopic, keyPlan } from './backlog.ts';
import { firstAnswer } from './ceiling.ts';
import { type BenchResult, type Job } from './result.ts';
import { Sink } from './sink.ts';
import { type Measured, setStage, type Stage } from './stage.ts';
import { type Counts, Tally } from './tally.ts';

/** So many processes in one group, at work on one topic for a while. */
export interface ScaleRow {
  readonly processes: string;
  readonly latencyMs: number;
  /** Answers a second of all together. */
  readonly rate: number;
  /** Their rate ÷ (processes × the rate of one), at the same latency; null: the number of processes changed. */
  readonly share: number | null;
  readonly cpuPerThousand: number;
  /** Of all together, in cores. */
  readonly cores: number;
  /** Of one of them, at most. */
  readonly rssMb: number;
  /** From the start of the processes until all of them were members of a group at rest. */
  readonly joinMs: number;
  /** The longest time without an answer. */
  readonly gapMs: number;
  readonly disorders: number;
  readonly overlaps: number;
  readonly doubled: number;
}

/** Of one process's rate, times their number: what several must come to where the service is the limit. */
const BAR = 0.95;
const PROCESSES = [1, 2, 4] as const;
/** Where the processor is the limit, more are pointless. */
const PROCESSES_WITHOUT_LATENCY = [1, 2] as const;
const WARM_UP = 0.4;
const JOIN_LIMIT_MS = 60_000;
const LOOK_EVERY_MS = 20;

/** Throughput of 1, 2 and 4 processes of one group on the same work, and of a group that grows and shrinks meanwhile. */
export const scale: Job = async (options, { say, signal }) => {
  const opened = new ReleaseStack();
  try {
    const stage = await setStage({ options, opened, say });
    const plan = keyPlan('even');
    const { records, seconds, latencyMs } = options;
    const keyOfRecord = await fillTopic({ broker: stage.broker, records, keyOf: plan.keyOf, small: false });
    say(`${String(records)} records are there.`);
    const admin = new kafkajs.Kafka({ brokers: [stage.broker], logLevel: kafkajs.logLevel.NOTHING }).admin();
    await admin.connect();
    opened.push('admin', async () => {
      await admin.disconnect();
    });
    const rows: ScaleRow[] = [];
    const run = async (latency: number, steps: readonly number[]): Promise<void> => {
      if (signal.aborted) return;
      const tally = new Tally(keyOfRecord, plan.keys);
      const row = await measure({ stage, admin, tally, latencyMs: latency, steps, seconds, signal });
      const one = rows.find((other) => other.processes === '1' && other.latencyMs === latency);
      const count = steps.length === 1 ? (steps[0] ?? 1) : null;
      rows.push({ ...row, share: count === null ? null : row.rate / (count * (one?.rate ?? row.rate)) });
      say(`${row.processes} at ${String(latency)} ms: ${row.rate.toFixed(0)}/s.`);
    };
    for (const processes of PROCESSES) await run(latencyMs, [processes]);
    await run(latencyMs, [1, 2, 4, 1]);
    if (latencyMs > 0) for (const processes of PROCESSES_WITHOUT_LATENCY) await run(0, [processes]);
    return resultOf(rows);
  } finally {
    for (const { what, error } of await opened.release()) say(`${what} could not be closed: ${error}`);
  }
};

/** The rows as a result: a share below the bar where the service is the limit, and anything out of order, overlapping or doubled, misses. */
export function resultOf(rows: readonly ScaleRow[]): BenchResult {
  return {
    columns: [
      'processes',
      'ms',
      'rate/s',
      'share',
      'CPU s/1000',
      'cores',
      'RSS MB',
      'joined ms',
      'gap ms',
      'order',
      'overlap',
      'doubled',
    ],
    rows: rows.map((row) => [
      row.processes,
      String(row.latencyMs),
      row.rate.toFixed(0),
      row.share?.toFixed(3) ?? '-',
      row.cpuPerThousand.toFixed(4),
      row.cores.toFixed(2),
      row.rssMb.toFixed(0),
      row.joinMs.toFixed(0),
      row.gapMs.toFixed(0),
      String(row.disorders),
      String(row.overlaps),
      String(row.doubled),
    ]),
    figures: rows,
    missed: rows.flatMap(({ processes, latencyMs, share, disorders, overlaps, doubled }) => [
      ...(latencyMs === 0 || share === null || share >= BAR
        ? []
        : [`${processes} processes: ${share.toFixed(3)} of ${processes} times one, at least ${String(BAR)}`]),
      ...(disorders + overlaps + doubled === 0
        ? []
        : [`${processes} processes: order, overlaps and doubled must be 0`]),
    ]),
  };
}

interface Setting {
  readonly stage: Stage;
  readonly admin: Admin;
  readonly tally: Tally;
  readonly latencyMs: number;
  /** How many processes there are, one number after the other; of several, the time of changing is measured, too. */
  readonly steps: readonly number[];
  readonly seconds: number;
  readonly signal: AbortSignal;
}

async function measure(setting: Setting): Promise<Omit<ScaleRow, 'share'>> {
  const { stage, admin, tally, latencyMs, steps, seconds, signal } = setting;
  const sink = await Sink.open(latencyMs);
  sink.tally = tally;
  const group = `scale-${String(process.pid)}-${String(performance.now()).replace('.', '-')}`;
  const members: Measured[] = [];
  const ended: { cpuSeconds: number } = { cpuSeconds: 0 };
  const to = async (count: number): Promise<void> => {
    const leaving = members.splice(count);
    for (const each of leaving) ended.cpuSeconds += await each.cpuSeconds();
    await Promise.all(leaving.map(async ({ child }) => await child.end()));
    const coming = Array.from({ length: count - members.length }, async () => await stage.connect(sink.port, group));
    members.push(...(await Promise.all(coming)));
    await joined(admin, group, members);
  };
  const cpuSeconds = async (): Promise<number> => {
    const each = await Promise.all(members.map(async (member) => await member.cpuSeconds()));
    return each.reduce((sum, value) => sum + value, ended.cpuSeconds);
  };
  try {
    const [first = 1, ...others] = steps;
    const startedMs = performance.now();
    await to(first);
    const joinMs = performance.now() - startedMs;
    for (const member of members) await firstAnswer(() => tally.answered, member);
    await sleep(1000 * seconds * WARM_UP, undefined, { signal }).catch(() => undefined);
    const gap = watchGap(tally);
    const [from, fromMs, cpuFrom] = [tally.snapshot(), performance.now(), await cpuSeconds()];
    await sleep(1000 * seconds, undefined, { signal }).catch(() => undefined);
    for (const count of others) {
      await to(count);
      await sleep(500 * seconds, undefined, { signal }).catch(() => undefined);
    }
    const [until, untilMs, cpuTo] = [tally.snapshot(), performance.now(), await cpuSeconds()];
    const gapMs = gap.end();
    const memory = await Promise.all(members.map(async (member) => await member.memory()));
    await Promise.all(members.splice(0).map(async ({ child }) => await child.end()));
    return {
      processes: steps.join(' → '),
      latencyMs,
      ...figuresOf({ from, to: until, seconds: (untilMs - fromMs) / 1000, cpuSeconds: cpuTo - cpuFrom }),
      rssMb: Math.max(0, ...memory.flat().map(({ rssMb }) => rssMb)),
      joinMs,
      gapMs,
      // What came with the end of the processes counts, too.
      doubled: tally.doubled,
      overlaps: tally.overlaps,
      disorders: tally.disorders,
    };
  } finally {
    await Promise.all(members.map(async ({ child }) => await child.end()));
    await sink.close();
  }
}

function figuresOf(span: {
  readonly from: Counts;
  readonly to: Counts;
  readonly seconds: number;
  readonly cpuSeconds: number;
}): Pick<ScaleRow, 'rate' | 'cpuPerThousand' | 'cores'> {
  const answered = span.to.answered - span.from.answered;
  return {
    rate: answered / span.seconds,
    cpuPerThousand: (1000 * span.cpuSeconds) / Math.max(1, answered),
    cores: span.cpuSeconds / span.seconds,
  };
}

/** Waits until the group is at rest with exactly these members. */
async function joined(admin: Admin, group: string, members: readonly Measured[]): Promise<void> {
  const latestMs = performance.now() + JOIN_LIMIT_MS;
  for (;;) {
    const [found] = (await admin.describeGroups([group])).groups;
    if (found?.state === 'Stable' && found.members.length === members.length) return;
    const dead = members.find(({ child }) => !child.alive);
    if (dead !== undefined || performance.now() > latestMs)
      throw new Error(`the group does not come together:\n${(await dead?.child.lastLines()) ?? found?.state ?? ''}`);
    await sleep(10 * LOOK_EVERY_MS);
  }
}

/** Looks for the longest time without an answer, until its end. */
function watchGap(tally: Tally): { readonly end: () => number } {
  let [answered, sinceMs, longestMs] = [tally.answered, performance.now(), 0];
  const look = (): void => {
    const nowMs = performance.now();
    longestMs = Math.max(longestMs, nowMs - sinceMs);
    if (tally.answered === answered) return;
    answered = tally.answered;
    sinceMs = nowMs;
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  return {
    end: () => {
      clearInterval(timer);
      look();
      return longestMs;
    },
  };
}
