import { sendPlan } from './connection.ts';
import { faultsOf, forgeriesAmong, isCutOffByTime, type Sighting } from './judge.ts';
import { type Manner, type Plan, planOf } from './plan.ts';
import { Receiver, type Report } from './receiver.ts';
import { type Endpoint, MAX_BYTES } from './wire.ts';

export interface CampaignOptions {
  /** It ends with the round in which so many have been sent. */
  readonly requests: number;
  readonly seed: number;
  /** The first connection of the seed that is made; a failure tells which one it was. */
  readonly from: number;
  /** Connections at once. */
  readonly concurrency: number;
  /** Connections of a round, after which all is counted. */
  readonly round: number;
  readonly say: (line: string) => void;
  readonly signal: AbortSignal;
  /** What is attacked; unless told, a receiver with a writer that only counts. */
  readonly target?: Target;
}

/** A receiver that runs, and what its senders know. */
export interface Target {
  readonly receiver: Pick<Receiver, 'url' | 'isAlive' | 'report' | 'close'>;
  readonly endpoint: () => Endpoint;
}

/** What went wrong on one connection, with all that is needed to do it again. */
export interface Failure {
  readonly seed: number;
  readonly index: number;
  readonly kind: string;
  readonly what: readonly string[];
  readonly statuses: readonly number[];
  /** In base64. */
  readonly bytes: string;
  readonly end: Plan['end'];
}

export interface Outcome {
  readonly requests: number;
  readonly connections: number;
  readonly seconds: number;
  readonly answers: Readonly<Record<string, number>>;
  readonly results: Readonly<Record<string, number>>;
  readonly written: number;
  readonly kinds: Readonly<Record<string, number>>;
  readonly heapMb: readonly number[];
  readonly failures: readonly Failure[];
  /** What is wrong with the receiver as a whole. */
  readonly faults: readonly string[];
}

/** What the receiver of a campaign knows; the same every time, so that a seed makes the same bytes. */
export const ENDPOINT: Endpoint = {
  secrets: ['whsec-made-up-newest-4f9c2d71e8', 'whsec-made-up-middle-5a0d3e82f9', 'whsec-made-up-oldest-6b1e4f93a0'],
  nowMs: Date.UTC(2026, 0, 1),
};
export const REQUEST_TIMEOUT_MS = 600;
/** Fewer would not fill what remembers events, whose growth would look like a leak. */
const LONG = 200_000;
/** Rounds until nothing is compiled any more. */
const WARM_ROUNDS = 3;
const HEAP_SPREAD_MB = 8;
const MOST_FAILURES = 20;
/** Share of a round's connections that a busy machine may have kept waiting for longer than the receiver does. */
const MOST_LATE = 0.5;

/** Attacks a receiver in a process of its own with what a seed makes, and judges every answer and every record. */
export async function runCampaign(options: CampaignOptions): Promise<Outcome> {
  const campaign = new Campaign(options, options.target ?? (await countingTarget(options.requests)));
  try {
    await campaign.run();
  } catch (error) {
    campaign.fault(error instanceof Error ? error.message : String(error));
  }
  return await campaign.end();
}

async function countingTarget(requests: number): Promise<Target> {
  const limits = { maxBytes: MAX_BYTES, requestTimeoutMs: REQUEST_TIMEOUT_MS, ackMs: 0 };
  const receiver = await Receiver.start({ ...ENDPOINT, ...limits, fillMemory: requests >= LONG });
  return { receiver, endpoint: () => ENDPOINT };
}

class Campaign {
  readonly #options: CampaignOptions;
  readonly #receiver: Target['receiver'];
  readonly #endpoint: Target['endpoint'];
  readonly #url: URL;
  readonly #startedMs = performance.now();
  readonly #answers: Record<string, number> = {};
  readonly #kinds: Record<string, number> = {};
  readonly #heapMb: number[] = [];
  readonly #failures: Failure[] = [];
  readonly #faults: string[] = [];
  #last: Report | null = null;
  #next: number;
  #requests = 0;
  #written = 0;

  constructor(options: CampaignOptions, { receiver, endpoint }: Target) {
    this.#options = options;
    this.#endpoint = endpoint;
    this.#receiver = receiver;
    this.#url = new URL(receiver.url);
    this.#next = options.from;
  }

  fault(what: string): void {
    this.#faults.push(what);
  }

  async run(): Promise<void> {
    const { requests, signal, say, round } = this.#options;
    this.#last = await this.#receiver.report();
    for (let rounds = 0; this.#requests < requests && !signal.aborted; rounds += 1) {
      await this.#round(rounds % 3 === 0 ? 'orderly' : 'wild', round);
      if (rounds % 10 === 9) say(`${String(this.#requests)} requests, ${String(this.#failures.length)} failures`);
      if (this.#failures.length >= MOST_FAILURES) break;
    }
  }

  async end(): Promise<Outcome> {
    const seconds = (performance.now() - this.#startedMs) / 1000;
    try {
      await this.#receiver.close();
    } catch (error) {
      this.fault(`close: ${error instanceof Error ? error.message : String(error)}`);
    }
    this.#judgeHeap();
    return {
      requests: this.#requests,
      connections: this.#next - this.#options.from,
      seconds,
      answers: this.#answers,
      results: this.#last?.results ?? {},
      written: this.#written,
      kinds: this.#kinds,
      heapMb: this.#heapMb,
      failures: this.#failures,
      faults: this.#faults,
    };
  }

  async #round(manner: Manner, connections: number): Promise<void> {
    const sent: { readonly plan: Plan; readonly sighting: Sighting }[] = [];
    const end = this.#next + connections;
    const lane = async (): Promise<void> => {
      while (this.#next < end && this.#receiver.isAlive) {
        const plan = planOf(this.#options.seed, this.#next, manner, this.#endpoint());
        this.#next += 1;
        sent.push({ plan, sighting: await sendPlan(this.#url, plan) });
      }
    };
    await Promise.all(Array.from({ length: this.#options.concurrency }, lane));
    const report = await this.#quietReport();
    const seen: Record<string, number> = {};
    for (const { plan, sighting } of sent) {
      this.#requests += plan.requests;
      this.#kinds[plan.kind] = (this.#kinds[plan.kind] ?? 0) + 1;
      for (const status of sighting.statuses) seen[status] = (seen[status] ?? 0) + 1;
    }
    for (const [status, count] of Object.entries(seen)) this.#answers[status] = (this.#answers[status] ?? 0) + count;
    const late = sent.filter(({ plan, sighting }) => isCutOffByTime(plan, sighting)).length;
    if (late > 2 + connections * MOST_LATE) this.fault(`${String(late)} connections of a round were cut off by time`);
    this.#judge(sent, report);
    this.#count(manner === 'orderly' && late === 0, seen, report);
    this.#last = report;
  }

  /** Once what we have left behind has been noticed. */
  async #quietReport(): Promise<Report> {
    let report = await this.#receiver.report();
    const written = [...report.written];
    const told = { warnings: [...report.warnings], broken: [...report.broken] };
    for (let tries = 0; report.sockets > 0 && tries < 100; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      report = await this.#receiver.report();
      written.push(...report.written);
      told.warnings.push(...report.warnings);
      told.broken.push(...report.broken);
    }
    if (report.sockets > 0) this.fault(`${String(report.sockets)} sockets are left`);
    return { ...report, ...told, written };
  }

  #judge(sent: readonly { readonly plan: Plan; readonly sighting: Sighting }[], report: Report): void {
    const written = new Set(report.written);
    this.#written += written.size;
    this.#heapMb.push(Math.round(report.heapBytes / 2 ** 20));
    for (const { plan, sighting } of sent) {
      const what = faultsOf(plan, sighting, written);
      if (what.length > 0 && this.#failures.length < MOST_FAILURES)
        this.#failures.push(this.#failure(plan, sighting, what));
    }
    for (const fault of forgeriesAmong(
      sent.map(({ plan }) => plan),
      report.written,
    ))
      this.fault(fault);
    for (const name of report.warnings) this.fault(`a warning of Node's: ${name}`);
    for (const name of report.broken) this.fault(`an error that nobody expects: ${name}`);
  }

  #failure({ index, kind, bytes, end }: Plan, { statuses }: Sighting, what: readonly string[]): Failure {
    return { seed: this.#options.seed, index, kind, what, statuses, end, bytes: bytes.toString('base64') };
  }

  /** Answers that nobody waited for are counted, too, so only an orderly round adds up exactly, and only without a pause. */
  #count(exactly: boolean, seen: Readonly<Record<string, number>>, report: Report): void {
    for (const status of new Set([...Object.keys(seen), ...Object.keys(report.statuses)])) {
      const counted = (report.statuses[status] ?? 0) - (this.#last?.statuses[status] ?? 0);
      const answered = seen[status] ?? 0;
      const isRight = exactly ? counted === answered : counted >= answered;
      if (!isRight) this.fault(`status ${status}: ${String(answered)} answers, ${String(counted)} counted`);
    }
  }

  #judgeHeap(): void {
    if (this.#options.requests < LONG || this.#options.target !== undefined) return;
    const warm = this.#heapMb.slice(WARM_ROUNDS);
    const third = Math.floor(warm.length / 3);
    const grown = medianOf(warm.slice(-third)) - medianOf(warm.slice(0, third));
    if (grown > HEAP_SPREAD_MB) this.fault(`the heap has grown by ${String(grown)} MB`);
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}
