import { request } from 'node:http';
import { Crowd, type CrowdReport } from './crowd.ts';
import { Dice } from './dice.ts';
import { Receiver } from './receiver.ts';
import { type Endpoint, hmacOf, PATH, reviewBody, SIGNATURE, TIMESTAMP } from './wire.ts';

export interface SlowOptions {
  readonly sockets: number;
  /** Webhooks a second, each on a connection of its own. */
  readonly rate: number;
  readonly seconds: number;
  /** At the receiver; null: as it is run. */
  readonly maxConnections: number | null;
}

export interface SlowOutcome {
  readonly sent: number;
  /** By status; `none`: the connection ended without an answer. */
  readonly answers: Readonly<Record<string, number>>;
  /** Of those answered 200. */
  readonly inOneSecond: number;
  readonly medianMs: number;
  readonly slowestMs: number;
  /** Answered 200, but not written. */
  readonly lost: number;
  readonly crowd: CrowdReport;
  readonly results: Readonly<Record<string, number>>;
  readonly rssMb: number;
}

const ENDPOINT: Endpoint = { secrets: ['whsec-made-up-4f9c2d71e8b3a650'], nowMs: Date.UTC(2026, 0, 1) };
/** The default of WEBHOOK_MAX_BYTES. */
const MAX_BYTES = 262_144;
const KAFKA_MS = 5;
const ANSWER_LIMIT_MS = 20_000;

interface Answer {
  readonly id: string;
  readonly status: number | null;
  readonly afterMs: number;
}

/** Sends webhooks while a crowd holds on to every connection it can get. */
export async function runSlow({ sockets, rate, seconds, maxConnections }: SlowOptions): Promise<SlowOutcome> {
  const receiver = await Receiver.start({
    ...ENDPOINT,
    maxBytes: MAX_BYTES,
    requestTimeoutMs: 2000,
    ackMs: KAFKA_MS,
    fillMemory: false,
    ...(maxConnections === null ? {} : { maxConnections }),
  });
  const crowd = new Crowd({ url: `${receiver.url}${PATH}`, sockets, maxBytes: MAX_BYTES, comeBackMs: 20 });
  try {
    while ((await crowd.report()).opened < sockets) await new Promise((resolve) => setTimeout(resolve, 50));
    const pending: Promise<Answer>[] = [];
    const startedMs = performance.now();
    while (pending.length < rate * seconds) {
      const due = ((performance.now() - startedMs) / 1000) * rate;
      while (pending.length < Math.min(due, rate * seconds)) pending.push(send(receiver.url, pending.length));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const answers = await Promise.all(pending);
    return outcomeOf(answers, { crowd: await crowd.report(), report: await receiver.report() });
  } finally {
    await crowd.end();
    await receiver.close();
  }
}

function outcomeOf(
  answers: readonly Answer[],
  { crowd, report }: { readonly crowd: CrowdReport; readonly report: Awaited<ReturnType<Receiver['report']>> },
): SlowOutcome {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status ?? 'none'] = (counts[status ?? 'none'] ?? 0) + 1;
  const good = answers.filter(({ status }) => status === 200);
  const times = good.map(({ afterMs }) => afterMs).sort((one, other) => one - other);
  const written = new Set(report.written);
  return {
    sent: answers.length,
    answers: counts,
    inOneSecond: times.filter((ms) => ms <= 1000).length,
    medianMs: Math.round(times[Math.floor(times.length / 2)] ?? 0),
    slowestMs: Math.round(times.at(-1) ?? 0),
    lost: good.filter(({ id }) => !written.has(id)).length,
    crowd,
    results: report.results,
    rssMb: Math.round(report.rssBytes / 2 ** 20),
  };
}

async function send(url: string, index: number): Promise<Answer> {
  const id = `real-${String(index)}`;
  const body = reviewBody(new Dice(1, index), id);
  const timestamp = String(ENDPOINT.nowMs);
  const [secret = ''] = ENDPOINT.secrets;
  const headers = {
    'content-type': 'application/json',
    'content-length': String(body.length),
    [SIGNATURE]: hmacOf(secret, timestamp, body).toString('hex'),
    [TIMESTAMP]: timestamp,
  };
  const startedMs = performance.now();
  const status = await new Promise<number | null>((resolve) => {
    const sending = request(`${url}${PATH}`, { method: 'POST', headers, agent: false, timeout: ANSWER_LIMIT_MS });
    sending.on('response', (response) => {
      response.resume().on('close', () => {
        resolve(response.statusCode ?? null);
      });
    });
    sending.on('timeout', () => sending.destroy());
    sending.on('error', () => {
      resolve(null);
    });
    sending.end(body);
  });
  return { id, status, afterMs: performance.now() - startedMs };
}
