import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import kafkajs from 'kafkajs';
import { ShopFloor } from '../../src/app/demo/shop-floor.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { ReleaseStack } from '../../src/lifecycle/release-stack.ts';
import { type Shops } from '../../src/sandbox/shops.ts';
import { type HealthReport } from '../../src/telemetry/ports.ts';
import { type ChaosArguments, MOST_CONNECTORS } from './arguments.ts';
import { type Stroke } from './chronicle.ts';
import { type Deeds, requiredOf } from './deeds.ts';
import { type Fleet } from './fleet.ts';
import { type LogLine } from './log-lines.ts';
import { Nemesis } from './nemesis.ts';
import { leaksOf, loginsAtOnce, type MailFound, mostLoginsAMinute, reckonMail } from './other-promises.ts';
import { probe } from './probe.ts';
import { type Evidence, type Gap, reckon, type Reckoned } from './reckoning.ts';
import { readTopics } from './reader.ts';
import { recoveriesOf, type Recovery } from './recoveries.ts';
import { delaysOf, goodOnly, type GoodDelays, memoryRiseOf, type OddEnds, oddEndsOf } from './hostile.ts';
import { isOdd } from './odd-kinds.ts';
import { isOddRun, openOdd, shopsOf } from './odd-traffic.ts';
import { Sampler, type SamplerParts, type Sample } from './sampler.ts';
import { planOf, type Scenario } from './schedule.ts';
import { type Freeze, type LifeEnd, type Sighting, type TopicContents } from './sightings.ts';
import { type Slope, slopesOf } from './slopes.ts';
import { setStage, type Stage, WEBHOOK_SECRET } from './stage.ts';
import { type Stalls, stallsOf } from './stalls.ts';
import { type StuckRound, stuckRoundOf } from './stuck.ts';

export interface CampaignOptions extends Omit<ChaosArguments, 'json' | 'page'> {
  readonly registryUrl: string | null;
  readonly say: (line: string) => void;
  /** `hostile` without odd records and odd answers: what it is compared with. */
  readonly isQuiet?: boolean;
  /** Aborted: no further faults; what was begun is ended and reckoned. */
  readonly signal: AbortSignal;
}

/** All that a campaign found out. */
export interface Outcome {
  readonly deeds: Deeds;
  /** Those that must have happened. */
  readonly required: readonly string[];
  readonly strokes: readonly Stroke[];
  /** The beginning of the traffic, its end, and the end of the whole; `performance.now()`. */
  readonly span: { readonly startedMs: number; readonly calmMs: number; readonly endMs: number };
  readonly found: Reckoned;
  readonly delays: GoodDelays;
  readonly odd: OddEnds;
  /** The same run without odd records: how long its records took; null: there was none, or it did not come through. */
  readonly without: GoodDelays | null;
  /** What connectors had more of in the second half of the traffic, bytes. */
  readonly memoryRise: number;
  readonly mail: MailFound;
  /** Forged webhooks that were answered 401. */
  readonly forgedRefused: number;
  readonly logins: { readonly atOnce: number; readonly mostAMinute: number };
  /** Statuses of which another one was accepted. */
  readonly alteredUpdates: number;
  /** Ways out of faults that connectors must have taken, as their events tell. */
  readonly recoveries: readonly Recovery[];
  /** Secrets, and ids of payments, in what the connectors printed. */
  readonly leaks: number;
  /** How often a committed offset went back. */
  readonly regressions: number;
  /** Answers of `/livez` that were not 200. */
  readonly notLive: number;
  /** The most memory that a connector had. */
  readonly peakBytes: number;
  /** How memory and handles of each life that was long enough went on. */
  readonly slopes: readonly Slope[];
  readonly samples: readonly Sample[];
  /** How long a fresh payment, its status and a webhook took after the faults; null: not within a minute. */
  readonly probeMs: number | null;
  /** Null: some partition had no owner, or two. */
  readonly lagAtEnd: number | null;
  readonly ends: readonly LifeEnd[];
  readonly freezes: readonly Freeze[];
  readonly sightings: readonly Sighting[];
  readonly log: readonly LogLine[];
  readonly stalls: Stalls;
  /** For each payment that stuck, what the kill in the middle of it did. */
  readonly stuckRounds: readonly StuckRound[];
  /** When all faults have ended, everything must be through within this time. */
  readonly settleLimitMs: number;
  /** From the last fault's end until everything was through, perhaps beyond `settleLimitMs`; null: it was not, though waited for. */
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
/** Where the service or its login was ill: logins are 60 s apart at worst, and waits for a next attempt 31 s. */
const HEAL_LIMIT_MS = 100_000;
const ILL: ReadonlySet<Scenario> = new Set(['service', 'all', 'reviews', 'network', 'erased', 'slice', 'soak']);
/** Every odd record has ended by then. */
const ODD_LIMIT_MS = 300_000;
/** A failure proves something only while others succeed: good payments go on for so long after the last odd one. */
const ODD_TAIL_MS = 120_000;
/** What is late is waited for all the same: it is not lost. */
const PATIENCE_MS = 240_000;
/** Where all is committed and nothing has moved for so long, what is missing will not come. */
const STILL_MS = 20_000;
/** After the faults, webhooks that wait for their next attempt go so often. */
const HURRY_MS = 4000;
/** Between two looks from outside. */
const SAMPLE_MS = 1000;
/** Beside the floods. */
const REVIEWS_PER_SECOND = 5;
/** Of each topic; few where much has to finish in one. */
const PARTITIONS = 12;
const PARTITIONS_STUCK = 2;
/** For a score to be written and a commit to be answered on a busy machine. */
const COMMIT_ANSWER_MS = 750;

/** Runs one campaign from its first process to the end of its last. */
export async function runCampaign(options: CampaignOptions): Promise<Outcome> {
  const opened = new ReleaseStack();
  try {
    const stage = await setStage({
      ...options,
      partitions: partitionsOf(options),
      connectors: MOST_CONNECTORS,
      isHostile: options.scenario === 'hostile',
      opened,
    });
    return await play(stage, options);
  } finally {
    for (const { what, error } of await opened.release()) options.say(`${what} could not be closed: ${error}`);
  }
}

async function play(stage: Stage, options: CampaignOptions): Promise<Outcome> {
  const { fleet, config, service, witness, mail } = stage;
  const { say, signal, seed, minutes } = options;
  const plan = planOf({ ...options, forMs: minutes * 60_000 });
  for (let connector = 1; connector <= plan.connectors; connector += 1) await fleet.start(connector);
  let isOddOver = false;
  const shops = shopsOf(options, () => isOddOver);
  const floor = openShops(stage, options, shops);
  const startedMs = performance.now();
  const partitionOf = partitioner(partitionsOf(options));
  const nemesis = new Nemesis({ ...stage, ...options, connectors: MOST_CONNECTORS, partitionOf, startedMs });
  const isCalm = (): boolean => nemesis.chronicle.strokes.every(({ toMs }) => toMs !== null);
  const odd = isOddRun(options) ? openOdd({ ...options, config, partitions: partitionsOf(options), isCalm }) : null;
  const sampler = new Sampler({ ...samplerParts(stage), everyMs: SAMPLE_MS });
  say(`The traffic begins: ${String(plan.steps.length)} faults to come, seed ${String(seed)}.`);
  const trickle = mail.flood(REVIEWS_PER_SECOND, plan.endMs, { forged: false });
  await nemesis.follow(plan.steps);
  await sleep(Math.max(0, startedMs + plan.endMs - performance.now()), undefined, { signal }).catch(() => undefined);
  isOddOver = true;
  await odd?.close();
  await sleep(tailMsOf(options), undefined, { signal }).catch(() => undefined);
  floor.close();
  const calmMs = performance.now();
  if (signal.aborted) mail.close();
  await trickle;
  say('The faults have ended and the shops are closed; waiting for what is on its way.');
  const settleLimitMs = settleLimitOf(options);
  const partitions = 2 * (partitionsOf(options) + nemesis.grownBy);
  const patienceMs = options.scenario === 'hostile' ? 0 : PATIENCE_MS;
  const settledMs = await settle(stage, floor, { limitMs: settleLimitMs + patienceMs, partitions });
  say(settledMs === null ? 'It is not through.' : `Everything is through after ${String(settledMs)} ms.`);
  const probed = settledMs === null ? null : await probe(stage, { shops, mail });
  if (probed !== null) say(`The probe went through after ${String(probed.tookMs)} ms.`);
  const stuck: Outcome['stuck'] = settledMs === null ? await fleet.statuses() : new Map();
  const through = probed?.tookMs ?? null;
  const lagAtEnd = through === null ? null : await restingLag(fleet, partitions);
  await sampler.close();
  const evidence = await gather(stage, floor);
  const { topics, sightings } = evidence;
  const windowMs = config.commitIntervalMs + COMMIT_ANSWER_MS;
  const found = reckon(goodOnly(evidence));
  const span = { startedMs, calmMs, endMs: performance.now() };
  const repeats = found.repeats.filter(({ isRetry }) => !isRetry);
  const output = await fleet.output();
  return {
    deeds: { ...nemesis.deeds, ...odd?.deeds(topics) },
    required: options.isQuiet === true ? [] : requiredOf(options.scenario, plan),
    strokes: nemesis.chronicle.strokes,
    span,
    found,
    delays: delaysOf(evidence, performance.timeOrigin),
    odd: oddEndsOf(evidence),
    without: null,
    memoryRise: memoryRiseOf(fleet.vitals, span),
    mail: reckonMail(mail.letters, topics),
    forgedRefused: mail.letters.filter(({ isForged, answers }) => isForged && answers.includes(401)).length,
    logins: { atOnce: loginsAtOnce(witness.logins), mostAMinute: mostLoginsAMinute(witness.logins) },
    leaks: leaksOf(output, [service.password, service.webhookSecret, WEBHOOK_SECRET], new Set(floor.payments.keys())),
    alteredUpdates: alteredUpdates(stage, floor),
    recoveries: recoveriesOf(plan, evidence.log),
    regressions: sampler.regressions,
    notLive: fleet.notLive,
    peakBytes: fleet.peakBytes,
    slopes: slopesOf(fleet.vitals),
    samples: sampler.samples,
    probeMs: through,
    lagAtEnd,
    ends: fleet.ends,
    freezes: evidence.freezes,
    sightings,
    log: evidence.log,
    stalls: stalls(topics, sightings),
    stuckRounds: nemesis.stickings.map((each) => stuckRoundOf(each, { topics, sightings, repeats, windowMs })),
    settleLimitMs,
    settledMs,
    stuck,
    windowMs,
    refused: floor.refused,
  };
}

/** All that can be known when everything is through. */
async function gather(
  { fleet, config, witness, eraser }: Stage,
  floor: ShopFloor,
): Promise<Evidence & { readonly log: readonly LogLine[]; readonly freezes: readonly Freeze[] }> {
  const inTopics = await readTopics(config);
  const log = await fleet.log();
  const { erased } = eraser;
  // What was erased belongs to what was written; what an erasure found that an earlier one had deleted is there once.
  const byPlace = new Map(
    [...inTopics.created, ...erased].map((record) => [`${String(record.partition)}/${String(record.offset)}`, record]),
  );
  const created = [...byPlace.values()].sort((a, b) => a.offset - b.offset);
  return {
    topics: { ...inTopics, created, erased },
    acknowledged: {
      payments: [...floor.payments.keys()],
      statuses: [...floor.payments].flatMap(([transId, status]) => (status === null ? [] : [transId])),
    },
    sightings: [...witness.sightings].sort((a, b) => a.startedMs - b.startedMs),
    freezes: fleet.freezes.map((freeze) => ({ ...freeze, assignedMs: assignedAfter(freeze, log) })),
    sessionMs: config.kafka.sessionTimeoutMs,
    gaps: gapsIn(log, config.topics.created),
    log,
  };
}

/** What the connectors have said is missing of the topic of payments. */
function gapsIn(log: readonly LogLine[], topic: string): readonly Gap[] {
  return log.flatMap(({ event, fields }) =>
    event === 'offset_gap' && fields['topic'] === topic
      ? [
          {
            topic: 'created' as const,
            partition: Number(fields['partition']),
            from: Number(fields['from']),
            to: Number(fields['to']),
          },
        ]
      : [],
  );
}

function alteredUpdates({ service }: Stage, floor: ShopFloor): number {
  return [...floor.payments].filter(([transId, status]) => {
    const seen = service.ledger().transaction(transId);
    if (status === null || seen === null || seen.updateCount === 0) return false;
    return !seen.updates.some((update) => update.status === status);
  }).length;
}

function samplerParts({ config, fleet }: Stage): Omit<SamplerParts, 'everyMs'> {
  const { created, authorized } = config.topics;
  return { brokers: config.kafka.brokers, groupId: config.kafka.groupId, topics: [created, authorized], fleet };
}

/** What is left uncommitted a moment after the probe; it is committed within an interval. */
async function restingLag(fleet: Fleet, partitions: number): Promise<number | null> {
  for (let tries = 1; ; tries += 1) {
    const lag = await fleet.lag(partitions);
    if (lag === 0 || tries === 60) return lag;
    await sleep(250);
  }
}

function openShops({ config, writer }: Stage, { rate }: CampaignOptions, shops: Shops): ShopFloor {
  const { created: topicCreated, authorized: topicAuthorized } = config.topics;
  return new ShopFloor({ shops, writer, topicCreated, topicAuthorized, rate, clock: systemClock });
}

/** For how long good payments go on after the last odd one. */
function tailMsOf({ scenario }: CampaignOptions): number {
  return scenario === 'hostile' ? ODD_TAIL_MS : 0;
}

function partitionsOf({ scenario }: CampaignOptions): number {
  return scenario === 'stuck' ? PARTITIONS_STUCK : PARTITIONS;
}

function settleLimitOf({ scenario, sessionMs }: CampaignOptions): number {
  if (scenario === 'hostile') return ODD_LIMIT_MS - ODD_TAIL_MS;
  const moreMs = scenario === 'stuck' ? UNSTICK_LIMIT_MS : 0;
  return SETTLE_LIMIT_MS + 2 * sessionMs + moreMs + (ILL.has(scenario) ? HEAL_LIMIT_MS : 0);
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
  { service, fleet, mail, eraser }: Stage,
  floor: ShopFloor,
  { limitMs, partitions }: { readonly limitMs: number; readonly partitions: number },
): Promise<number | null> {
  const beganMs = performance.now();
  const erased = new Set(eraser.erased.map(({ transId }) => transId));
  // Whether odd ones have ended is known by what is committed.
  const openOnes = (): number =>
    mail.open +
    [...floor.payments].filter(([transId, status]) => {
      if (isOdd(transId)) return false;
      const seen = service.ledger().transaction(transId);
      const isScored = erased.has(transId) || (seen !== null && seen.scored > 0);
      return !isScored || (status !== null && (seen === null || seen.updateCount === 0));
    }).length;
  let hurriedMs = beganMs;
  let before = { open: Infinity, atMs: beganMs };
  while (performance.now() - beganMs < limitMs) {
    const open = openOnes();
    const isCommitted = floor.open === 0 && (await fleet.lag(partitions)) === 0;
    if (open === 0 && isCommitted) return Math.round(performance.now() - beganMs);
    if (open !== before.open || !isCommitted) before = { open, atMs: performance.now() };
    if (performance.now() - before.atMs > STILL_MS) return null;
    await sleep(250);
    if (performance.now() - hurriedMs < HURRY_MS) continue;
    mail.hurry();
    hurriedMs = performance.now();
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
