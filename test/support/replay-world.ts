import { Replay, type ReplayParts } from '../../src/app/replay/replay.ts';
import { prepare, type ReplayAdmin, type ReplayRequest } from '../../src/app/replay/prepare.ts';
import { Engine } from '../../src/engine/engine.ts';
import {
  type DeadLetters,
  type Flow,
  type Job,
  type Reading,
  type SourceRecord,
  type Step,
} from '../../src/engine/ports.ts';
import { DELIVERED, type Letter } from '../../src/kernel/outcome.ts';
import { StopRequest } from '../../src/lifecycle/stop-request.ts';
import { type PlanParameters } from '../../src/replay/plan.ts';
import { type Progress } from '../../src/replay/progress.ts';
import { type ReplayReport } from '../../src/replay/report.ts';
import { TokenBucket } from '../../src/resilience/token-bucket.ts';
import { InMemoryBroker } from './in-memory-broker.ts';
import { type InMemorySource } from './in-memory-source.ts';
import { ManualClock, settled } from './manual-clock.ts';

export const UPDATES = 'updates';
export const LIVE = 'live';
const CLUSTER = 'AAAAAA';
const LIMITS = { partitionRecords: 64, partitionSpan: 1e6, flowRecords: 200, flowBytes: 1e9 };
export const TYPED: PlanParameters = {
  topic: UPDATES,
  from: 'earliest',
  to: 'latest',
  everyUpdate: false,
  transIds: [],
};

/** An update on its way to the service. */
export interface Request {
  readonly id: string;
  /** Of the update, as it was written. */
  readonly status: string;
  readonly by: 'live' | 'replay';
  /** The service carries it out and answers. */
  readonly carryOut: () => void;
}

/** A service that keeps the last status that it was sent of each transaction, whoever sent it. */
export class StatusService {
  readonly statuses = new Map<string, string>();
  readonly sent: { readonly id: string; readonly status: string; readonly by: Request['by'] }[] = [];
  /** Under way; in the order in which they were sent. */
  readonly requests: Request[] = [];

  async send(id: string, status: string, by: Request['by']): Promise<void> {
    await new Promise<void>((resolve) => {
      const request: Request = {
        id,
        status,
        by,
        carryOut: () => {
          this.requests.splice(this.requests.indexOf(request), 1);
          this.statuses.set(id, status);
          this.sent.push({ id, status, by });
          resolve();
        },
      };
      this.requests.push(request);
    });
  }

  /** Carries out all that is under way. */
  answerAll(): void {
    while (this.requests.length > 0) this.requests[0]?.carryOut();
  }
}

interface Status {
  readonly id: string;
  readonly status: string;
}

/** Sends updates `id status` one by one, in order per id; a record that is not one is a letter. */
export class StatusFlow implements Flow<Status, undefined> {
  readonly name = 'statuses';
  readonly #service: StatusService;
  readonly #by: Request['by'];
  readonly #check: () => void;
  #running = 0;

  /** `check` throws where the process that sends is dead. */
  constructor(service: StatusService, by: Request['by'], check: () => void = () => undefined) {
    this.#service = service;
    this.#by = by;
    this.#check = check;
  }

  attach(): void {}

  read({ value }: SourceRecord): Reading<Status> {
    const [id, status] = value?.toString().split(' ') ?? [];
    if (id === undefined) return { do: 'skip', rule: 'tombstone' };
    if (status === undefined) return { do: 'dead_letter', letter: { reason: 'not_an_object', stage: 'read' } };
    return { do: 'item', item: { id, status } };
  }

  lane({ id }: Status): string {
    return id;
  }

  mayStart(): null {
    return null;
  }

  room(): number {
    return 16 - this.#running;
  }

  async run({ item }: Job<Status, undefined>): Promise<Step<undefined>> {
    this.#running += 1;
    this.#check();
    await this.#service.send(item.id, item.status, this.#by);
    this.#running -= 1;
    return DELIVERED;
  }

  due(): null {
    return null;
  }

  tick(): void {}

  barrier(): void {}
}

/** One start of a replay: a process with a time of its own, so that a killed one stands still for ever. */
export class ReplayProcess {
  readonly clock = new ManualClock();
  readonly stop = new StopRequest();
  readonly progress: Progress[] = [];
  readonly notes: string[] = [];
  readonly ids: string[] = [];
  readonly letters: Letter[] = [];
  readonly sources: InMemorySource[] = [];
  isKilled = false;
  /** Null while it runs. */
  outcome: ReplayReport | 'stopped early' | { readonly failed: unknown } | null = null;

  /** kill -9: what it has sent may still be carried out. */
  kill(): void {
    this.isKilled = true;
    for (const source of this.sources) source.vanish();
  }

  /** What has been killed does nothing any more, whatever promise of it goes on. */
  check(): void {
    if (this.isKilled) throw new Error('killed');
  }

  get report(): ReplayReport {
    const { outcome } = this;
    if (outcome === null || outcome === 'stopped early') throw new Error('no report');
    if ('failed' in outcome) throw outcome.failed;
    return outcome;
  }
}

/** A topic of updates, the service that they go to, the live group, and replays of them. */
export class ReplayWorld {
  readonly broker = new InMemoryBroker();
  readonly service = new StatusService();
  readonly #liveClock = new ManualClock();
  #written = 0;

  constructor(partitions = 1) {
    this.broker.createTopic(UPDATES, partitions);
  }

  /** Writes an update; its status is unlike any other. */
  write(id: string, partition = 0): string {
    this.#written += 1;
    const status = `s${String(this.#written)}`;
    this.broker.append(UPDATES, partition, { key: id, value: `${id} ${status}`, timestampMs: this.#written });
    return status;
  }

  /** Of each id, in the order of the log. */
  newest(): Map<string, string> {
    const newest = new Map<string, string>();
    for (const { value } of this.broker.records(UPDATES)) {
      const [id = '', status] = value?.toString().split(' ') ?? [];
      if (status !== undefined) newest.set(id, status);
    }
    return newest;
  }

  /** Where the live group stands in a partition. */
  goneLive(partition: number, offset: bigint): void {
    this.broker.commitAs(LIVE, { topic: UPDATES, partition, offset, metadata: '' });
  }

  async startLive(): Promise<void> {
    await this.#engine().start();
  }

  /** Whether the live group has come to the end of everything. */
  get isLiveDone(): boolean {
    const partitions = Array.from({ length: this.broker.partitions(UPDATES) }, (_, partition) => partition);
    return partitions.every(
      (partition) =>
        (this.broker.committed(LIVE, UPDATES, partition)?.offset ?? 0n) >=
        this.broker.watermarks(UPDATES, partition).high,
    );
  }

  start(typed: Partial<PlanParameters> = {}, over: Partial<ReplayRequest & { mostIds: number; rate: number }> = {}) {
    const process = new ReplayProcess();
    const parameters = { ...TYPED, ...typed };
    const request: ReplayRequest = { id: 'x', parameters, force: false, dryRun: false, ...over };
    const parts = this.parts(process, over);
    const run = async (): Promise<ReplayReport | 'stopped early'> => {
      const prepared = await prepare(parts, request);
      return prepared === null ? 'stopped early' : await new Replay(parts, request, prepared).run();
    };
    run().then(
      (outcome) => {
        process.outcome = outcome;
      },
      (error: unknown) => {
        process.outcome = { failed: error };
      },
    );
    return process;
  }

  /** A tenth of a second for these, and one fetch for all. */
  async step(processes: readonly ReplayProcess[], mostRecords = 500): Promise<void> {
    await this.broker.step(mostRecords);
    await settled();
    this.#liveClock.advance(100);
    for (const { clock } of processes) clock.advance(100);
    await settled();
  }

  /** Steps until this one has ended, the service answering at once. */
  async finish(process: ReplayProcess): Promise<ReplayReport> {
    for (let steps = 0; process.outcome === null; steps += 1) {
      if (steps > 2000) throw new Error(`the replay does not end: ${JSON.stringify(process.progress.at(-1))}`);
      this.service.answerAll();
      await this.step([process]);
    }
    return process.report;
  }

  /** What a start works with. */
  parts(process: ReplayProcess, { mostIds, rate }: { mostIds?: number; rate?: number }): ReplayParts {
    const { broker, service } = this;
    const { clock, stop } = process;
    const deadLetters: DeadLetters = {
      write: async (_record, letter) => {
        process.letters.push(letter);
        return await Promise.resolve('written');
      },
    };
    return {
      sourceOf: (groupId, topic) => {
        process.check();
        const source = broker.source(groupId, [topic]);
        process.sources.push(source);
        return source;
      },
      schemas: { fetch: async () => await Promise.resolve({ do: 'ready' }) },
      clock,
      draw: () => 0.5,
      emit: () => undefined,
      clusterHash: CLUSTER,
      commitIntervalMs: 250,
      drainTimeoutMs: 5000,
      barrierMs: 2000,
      buffer: { maxRecords: LIMITS.flowRecords, maxBytes: LIMITS.flowBytes, maxSpan: LIMITS.partitionSpan },
      stop,
      admin: adminOf(broker, process),
      groupId: 'live-replay-x',
      sessionTimeoutMs: 6000,
      note: (line) => {
        process.notes.push(line);
      },
      liveGroupId: LIVE,
      newSync: () => ({
        flow: new StatusFlow(service, 'replay', () => {
          process.check();
        }),
        deadLetters,
      }),
      describe: (item) => ({ day: '2026-03-01', status: (item as Status).status }),
      bucket: rate === undefined ? null : new TokenBucket(rate, clock.monotonicMs()),
      tell: (progress) => {
        process.progress.push(progress);
      },
      onId: (transId) => {
        process.ids.push(transId);
      },
      ...(mostIds === undefined ? {} : { mostIds }),
    };
  }

  #engine(): Engine {
    return new Engine({
      source: this.broker.source(LIVE, [UPDATES]),
      flows: new Map<string, Flow<unknown, unknown>>([[UPDATES, new StatusFlow(this.service, 'live')]]),
      deadLetters: { write: async () => await Promise.resolve('written') },
      schemas: { fetch: async () => await Promise.resolve({ do: 'ready' }) },
      clock: this.#liveClock,
      draw: () => 0.5,
      emit: () => undefined,
      commitIntervalMs: 250,
      clusterHash: CLUSTER,
      nonce: 'live',
      parked: new Set(),
      onGap: 'earliest',
      barrierMs: 2000,
      pressure: LIMITS,
    });
  }
}

/** The cluster as a replay asks it. */
export function adminOf(broker: InMemoryBroker, process: ReplayProcess): ReplayAdmin {
  const partitionsOf = (topic: string): number[] =>
    Array.from({ length: broker.partitions(topic) }, (_, partition) => partition);
  return {
    topics: async () => await Promise.resolve([]),
    watermarks: async (topic) =>
      await Promise.resolve(
        // Kafka names them in no order.
        partitionsOf(topic)
          .toReversed()
          .map((partition) => Object.assign({ partition }, broker.watermarks(topic, partition))),
      ),
    offsetsAt: async () => await Promise.resolve(new Map()),
    committed: async (groupId, topic) => {
      const found = partitionsOf(topic).flatMap((partition) => {
        const commit = broker.committed(groupId, topic, partition);
        return commit === null ? [] : [[partition, commit] as const];
      });
      return await Promise.resolve(new Map(found));
    },
    memberCount: async () => await Promise.resolve(0),
    commitFor: async (groupId, topic, offsets) => {
      process.check();
      for (const [partition, offset] of offsets) broker.commitAs(groupId, { topic, partition, offset, metadata: '' });
      await Promise.resolve();
    },
  };
}
