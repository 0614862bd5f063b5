import { createKafkaSource } from '../../edges/kafka/source.ts';
import { FenceFeed } from '../../edges/kafka/fence-feed.ts';
import { createKafkaWriter } from '../../edges/kafka/writer.ts';
import { type Terminal } from '../../edges/system/terminal.ts';
import { assignUnits } from '../../engine/assignment.ts';
import { type Clock, type Draw, pause } from '../../kernel/clock.ts';
import { Fault } from '../../kernel/fault.ts';
import { ReleaseStack } from '../../lifecycle/release-stack.ts';
import { StopRequest } from '../../lifecycle/stop-request.ts';
import { createShops } from '../../sandbox/shops.ts';
import { type LedgerTransaction } from '../../sandbox/service/ledger.ts';
import { FRAUD_REVIEW_SCHEMA } from '../../screening/avro.generated.ts';
import { kafkaOf, registryOf } from '../parts.ts';
import { type Moment, momentLine, summaryLines } from './lines.ts';
import { Performer } from './performer.ts';
import { isAsPromised, isComplete, reckon, type Reckoning } from './reckoning.ts';
import { ReviewsReader } from './reviews-reader.ts';
import { ShopFloor } from './shop-floor.ts';
import { setStage, type Stage } from './stage.ts';
import { fetchLag } from './status.ts';

export interface DemoOptions {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly draw: Draw;
  /** The Node that runs this process. */
  readonly node: string;
  /** Null: until a stop is asked for. */
  readonly forMs: number | null;
  /** Payments a second. */
  readonly rate: number;
  /** JSON lines instead of lines for people. */
  readonly json: boolean;
}

const SECOND_MS = 1000;
/** How long what is on its way may take after the shops have closed, as long as something moves. */
const STALLED_AFTER_MS = 60_000;
const CUSTOMERS = 1000;

/**
 * Shows the connector at work: a broker, a registry, the screening service, made-up shops, and the connector itself as a
 * process of its own. Answers 0 only if every payment was scored, every status linked and every review published.
 */
export async function runDemo(options: DemoOptions): Promise<number> {
  const opened = new ReleaseStack();
  const stop = new StopRequest();
  const { terminal } = options;
  const deaf = terminal.onStop((signal) => {
    if (!stop.ask(signal)) terminal.exit(1);
  });
  try {
    return await new Demo(options, opened, stop).run();
  } finally {
    for (const { what, error } of await opened.release()) terminal.complain(`${what} could not be closed: ${error}`);
    deaf();
  }
}

class Demo {
  readonly #options: DemoOptions;
  readonly #opened: ReleaseStack;
  readonly #stop: StopRequest;

  constructor(options: DemoOptions, opened: ReleaseStack, stop: StopRequest) {
    this.#options = options;
    this.#opened = opened;
    this.#stop = stop;
  }

  async run(): Promise<number> {
    const { terminal, clock, node } = this.#options;
    const stage = await setStage({ terminal, clock, opened: this.#opened, say: this.#say });
    this.#say(`Kafka: ${stage.kafka.brokers.join(',')} (${stage.kafka.how}); registry: ${stage.kafka.registryUrl}`);
    this.#say(
      `Screening service: ${stage.service.baseUrl}/sandbox/ledger; status of the connector: ${stage.opsUrl}/status`,
    );
    const performer = await Performer.start({ stage, node, opened: this.#opened, say: this.#say });
    const reviews = await this.#readReviews(stage);
    const floor = await this.#openShops(stage);
    await this.#watch(stage, { floor, performer, reviews });
    floor.close();
    const end = await this.#await(stage, { floor, performer, reviews });
    const exit = await performer.stop();
    if (performer.broken !== null) throw new Fault('CHILD_FAILED', performer.broken);
    const kept = isAsPromised(end, performer.kills) && exit === 0;
    if (this.#options.json) terminal.say(JSON.stringify({ summary: { ...end, kills: performer.kills, kept } }));
    else for (const line of summaryLines(end, performer.kills, kept)) terminal.say(line);
    if (exit !== 0) terminal.complain(`The connector ended with ${String(exit)} when it was asked to stop.`);
    return kept ? 0 : 1;
  }

  readonly #say = (line: string): void => {
    const { terminal, json } = this.#options;
    if (json) terminal.complain(line);
    else terminal.say(line);
  };

  async #readReviews({ config }: Stage): Promise<ReviewsReader> {
    const { clock, draw } = this.#options;
    const sessionTimeoutMs = config.kafka.sessionTimeoutMs;
    const registry = registryOf(config, { clock });
    const source = createKafkaSource({
      client: kafkaOf(config, silent),
      groupId: `${config.kafka.groupId}-reviews`,
      sessionTimeoutMs,
      topics: [config.topics.reviews],
      clock,
      draw,
      emit: silent,
      fence: new FenceFeed({ clock, sessionTimeoutMs }),
      assign: assignUnits,
    });
    const reader = new ReviewsReader(source, registry.decoder(FRAUD_REVIEW_SCHEMA), registry);
    this.#opened.push('reader of reviews', async () => {
      await source.stop();
      await registry.close();
    });
    await source.start(reader);
    return reader;
  }

  async #openShops({ config }: Stage): Promise<ShopFloor> {
    const { clock, draw, rate } = this.#options;
    const writer = createKafkaWriter({ client: kafkaOf(config, silent), clock, draw, emit: silent });
    this.#opened.push('writer of the shops', async () => {
      await writer.close();
    });
    await writer.connect();
    const shops = createShops({ seed: Math.floor(draw() * 2 ** 31), customers: CUSTOMERS });
    const { created, authorized } = config.topics;
    return new ShopFloor({ shops, writer, topicCreated: created, topicAuthorized: authorized, rate, clock });
  }

  /** Shows each second until time is up or a stop is asked for. */
  async #watch(stage: Stage, acts: Acts): Promise<void> {
    const { clock, forMs } = this.#options;
    const startedMs = clock.monotonicMs();
    const endMs = forMs === null ? Infinity : startedMs + forMs;
    let before: Moment | null = null;
    for (let second = 1; this.#stop.reason === null && acts.performer.broken === null; second += 1) {
      const nextMs = Math.min(startedMs + second * SECOND_MS, endMs);
      await Promise.race([pause(clock, nextMs - clock.monotonicMs()), this.#stop.asked()]);
      before = await this.#show(stage, acts, { second, before });
      if (clock.monotonicMs() >= endMs) return;
    }
  }

  async #show(stage: Stage, acts: Acts, at: { second: number; before: Moment | null }): Promise<Moment> {
    const { terminal, json } = this.#options;
    const ledger = stage.service.ledger();
    const now: Moment = {
      second: at.second,
      created: acts.floor.payments.size,
      lag: await fetchLag(stage.opsUrl),
      decisions: countDecisions(ledger.transactions()),
      ledger: ledger.summary(),
      published: acts.reviews.found.events,
    };
    terminal.say(json ? JSON.stringify(now) : momentLine(now, at.before));
    return now;
  }

  /** Waits until nothing is on its way any more, or nothing moves. */
  async #await(stage: Stage, { floor, performer, reviews }: Acts): Promise<Reckoning> {
    const { clock } = this.#options;
    this.#say('The shops are closed; waiting for what is on its way.');
    const ledger = stage.service.ledger();
    const reckonNow = (): Reckoning => reckon(floor, ledger, reviews.found);
    let best = Infinity;
    let movedMs = clock.monotonicMs();
    for (;;) {
      const now = reckonNow();
      const open = floor.open + stage.service.pendingReviews();
      if (performer.broken !== null || (open === 0 && isComplete(now))) return now;
      if (now.lost + open < best) {
        best = now.lost + open;
        movedMs = clock.monotonicMs();
      }
      if (clock.monotonicMs() - movedMs > STALLED_AFTER_MS) return now;
      await pause(clock, SECOND_MS / 4);
    }
  }
}

/** The demo's own clients say nothing: what there is to see is the connector's. */
function silent(): void {
  // Nothing is said.
}

interface Acts {
  readonly floor: ShopFloor;
  readonly performer: Performer;
  readonly reviews: ReviewsReader;
}

const DECISIONS = ['decline', 'approve', 'manual_review', 'custom'] as const;

function countDecisions(transactions: Iterable<LedgerTransaction>): Moment['decisions'] {
  const counts = { decline: 0, approve: 0, manual_review: 0, custom: 0 };
  for (const { decision } of transactions) {
    const name = DECISIONS[decision ?? -1];
    if (name !== undefined) counts[name] += 1;
  }
  return counts;
}
