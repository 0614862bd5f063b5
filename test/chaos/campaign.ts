import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { ShopFloor } from '../../src/app/demo/shop-floor.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { createShops } from '../../src/sandbox/shops.ts';
import { type HealthReport } from '../../src/telemetry/health.ts';
import { type ChaosArguments } from './arguments.ts';
import { type LogLine } from './fleet.ts';
import { leadersOf } from './leaders.ts';
import { type Deeds, Nemesis } from './nemesis.ts';
import { reckon, type Reckoned } from './reckoning.ts';
import { readTopics } from './reader.ts';
import { planOf } from './schedule.ts';
import { type Freeze, type LifeEnd, type Sighting, type TopicContents } from './sightings.ts';
import { setStage, type Stage } from './stage.ts';
import { type Stalls, stallsOf } from './stalls.ts';
import { type StuckRound, stuckRoundOf } from './stuck.ts';

export interface CampaignOptions extends Omit<ChaosArguments, 'json'> {
  readonly registryUrl: string | null;
  readonly say: (line: string) => void;
  /** Aborted: no further faults; what was begun is ended and reckoned. */
  readonly signal: AbortSignal;
}

/** All that a campaign found out. */
export interface Outcome {
  readonly deeds: Deeds;
  readonly found: Reckoned;
  readonly ends: readonly LifeEnd[];
  readonly freezes: readonly Freeze[];
  readonly sightings: readonly Sighting[];
  readonly log: readonly LogLine[];
  readonly stalls: Stalls;
  /** For each payment that stuck, what the kill in the middle of it did. */
  readonly stuckRounds: readonly StuckRound[];
  /** When all faults have ended, everything must be through within this time. */
  readonly settleLimitMs: number;
  /** From the last fault's end until everything was through; null: it was not within `settleLimitMs`. */
  readonly settledMs: number | null;
  /** What the connectors said of themselves when it was not through. */
  readonly stuck: ReadonlyMap<string, HealthReport | null>;
  /** Commit interval and what the writing of a score and the commit may take: what was answered within it may be repeated after a kill. */
  readonly windowMs: number;
  /** Writes that Kafka did not acknowledge to the producer. */
  readonly refused: number;
}

/** Beside two sessions: the partitions of a connector that is gone are waited for, and the group may join twice. */
const SETTLE_LIMIT_MS = 48_000;
/** A payment that stuck waits up to 31 s for its next attempt, and its customer's later ones go one after the other. */
const UNSTICK_LIMIT_MS = 60_000;
const CUSTOMERS = 1000;
/** Of each topic; few where much has to finish in one. */
const PARTITIONS = 12;
const PARTITIONS_STUCK = 2;
/** For a score to be written and a commit to be answered on a busy machine. */
const COMMIT_ANSWER_MS = 750;

/** Runs one campaign from its first process to the end of its last. */
export async function runCampaign(options: CampaignOptions): Promise<Outcome> {
  const opened = new ReleaseStack();
  try {
    const stage = await setStage({ ...options, partitions: partitionsOf(options), opened });
    return await play(stage, options);
  } finally {
    for (const { what, error } of await opened.release()) options.say(`${what} could not be closed: ${error}`);
  }
}

async function play(stage: Stage, options: CampaignOptions): Promise<Outcome> {
  const { fleet, config, witness, nodes, stuck: stuckPayment } = stage;
  const { say, signal, seed, minutes } = options;
  const plan = planOf({ ...options, forMs: minutes * 60_000 });
  for (let connector = 1; connector <= plan.connectors; connector += 1) await fleet.start(connector);
  const floor = openShops(stage, options);
  const startedMs = performance.now();
  const topics = [config.topics.created, config.topics.authorized];
  const leaders = async (): Promise<ReadonlyMap<string, number>> => await leadersOf(config.kafka.brokers, topics);
  const partitionOf = partitioner(partitionsOf(options));
  const nemesis = new Nemesis({
    fleet,
    nodes,
    witness,
    stuck: stuckPayment,
    partitionOf,
    say,
    startedMs,
    signal,
    leaders,
  });
  say(`The traffic begins: ${String(plan.steps.length)} faults to come, seed ${String(seed)}.`);
  await nemesis.follow(plan.steps);
  await sleep(Math.max(0, startedMs + plan.endMs - performance.now()), undefined, { signal }).catch(() => undefined);
  floor.close();
  say('The faults have ended and the shops are closed; waiting for what is on its way.');
  const settleLimitMs = settleLimitOf(options);
  const settledMs = await settle(stage, floor, { limitMs: settleLimitMs, partitions: 2 * partitionsOf(options) });
  say(settledMs === null ? 'It is not through.' : `Everything is through after ${String(settledMs)} ms.`);
  const stuck: Outcome['stuck'] = settledMs === null ? await fleet.statuses() : new Map();
  const inTopics = await readTopics(config);
  const log = await fleet.log();
  const sightings = [...witness.sightings].sort((a, b) => a.startedMs - b.startedMs);
  const freezes = fleet.freezes.map((freeze) => ({ ...freeze, assignedMs: assignedAfter(freeze, log) }));
  const acknowledged = {
    payments: [...floor.payments.keys()],
    statuses: [...floor.payments].flatMap(([transId, status]) => (status === null ? [] : [transId])),
  };
  const windowMs = config.commitIntervalMs + COMMIT_ANSWER_MS;
  const found = reckon({ topics: inTopics, acknowledged, sightings, freezes });
  const repeats = found.repeats.filter(({ isRetry }) => !isRetry);
  return {
    deeds: nemesis.deeds,
    found,
    ends: fleet.ends,
    freezes,
    sightings,
    log,
    stalls: stalls(inTopics, sightings),
    stuckRounds: nemesis.stickings.map((each) =>
      stuckRoundOf(each, { topics: inTopics, sightings, repeats, windowMs }),
    ),
    settleLimitMs,
    settledMs,
    stuck,
    windowMs,
    refused: floor.refused,
  };
}

function openShops({ config, writer }: Stage, { seed, rate }: CampaignOptions): ShopFloor {
  const { created: topicCreated, authorized: topicAuthorized } = config.topics;
  const shops = createShops({ seed, customers: CUSTOMERS });
  return new ShopFloor({ shops, writer, topicCreated, topicAuthorized, rate, clock: systemClock });
}

function partitionsOf({ scenario }: CampaignOptions): number {
  return scenario === 'stuck' ? PARTITIONS_STUCK : PARTITIONS;
}

function settleLimitOf({ scenario, sessionMs }: CampaignOptions): number {
  return SETTLE_LIMIT_MS + 2 * sessionMs + (scenario === 'stuck' ? UNSTICK_LIMIT_MS : 0);
}

/** Where records of a key go, as the writer has them. */
function partitioner(partitions: number): (key: string) => number {
  const choose = kafkajs.Partitioners.DefaultPartitioner();
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => ({
    partitionId,
    partitionErrorCode: 0,
    leader: 1,
    replicas: [],
    isr: [],
  }));
  const known = new Map<string, number>();
  return (key) => {
    const partition = known.get(key) ?? choose({ topic: '', partitionMetadata, message: { key, value: null } });
    known.set(key, partition);
    return partition;
  };
}

/** Waits until all that was acknowledged has been scored and reported, and all is committed. */
async function settle(
  { service, fleet }: Stage,
  floor: ShopFloor,
  { limitMs, partitions }: { readonly limitMs: number; readonly partitions: number },
): Promise<number | null> {
  const beganMs = performance.now();
  const isThrough = (): boolean =>
    [...floor.payments].every(([transId, status]) => {
      const seen = service.ledger().transaction(transId);
      return seen !== null && seen.scored > 0 && (status === null || seen.updateCount > 0);
    });
  while (performance.now() - beganMs < limitMs) {
    if (floor.open === 0 && isThrough() && (await fleet.lag(partitions)) === 0)
      return Math.round(performance.now() - beganMs);
    await sleep(250);
  }
  return null;
}

/** When a life that woke was given its partitions anew. */
function assignedAfter({ owner, toMs }: Omit<Freeze, 'assignedMs'>, log: readonly LogLine[]): number | null {
  const line = log.find(
    ({ owner: said, event, time }) =>
      said === owner && event === 'partitions_assigned' && time - performance.timeOrigin >= toMs,
  );
  return line === undefined ? null : line.time - performance.timeOrigin;
}

function stalls({ created }: TopicContents, sightings: readonly Sighting[]): Stalls {
  const first = new Map<string, number>();
  for (const { kind, transId, startedMs } of sightings) {
    if (kind === 'score' && !first.has(transId)) first.set(transId, startedMs);
  }
  return stallsOf(
    created.flatMap(({ transId, partition, timestampMs }) => {
      const workedMs = first.get(transId);
      return workedMs === undefined ? [] : [{ partition, writtenMs: timestampMs - performance.timeOrigin, workedMs }];
    }),
  );
}
