import { type Screen } from '../../edges/system/screen.ts';
import { type Terminal } from '../../edges/system/terminal.ts';
import { type Clock, type Draw, pause } from '../../kernel/clock.ts';
import { Fault } from '../../kernel/fault.ts';
import { ReleaseStack } from '../../lifecycle/release-stack.ts';
import { StopRequest } from '../../lifecycle/stop-request.ts';
import { type CastParts, openShops, readOutputs } from './cast.ts';
import { Latencies } from './latencies.ts';
import { momentLine, summaryLines } from './lines.ts';
import { Live } from './live.ts';
import { type Moment } from './moment.ts';
import { Observer } from './observer.ts';
import { type OutputsReader } from './outputs-reader.ts';
import { Performer } from './performer.ts';
import { isAsPromised, isComplete, reckon, type Reckoning } from './reckoning.ts';
import { type Places } from './scene.ts';
import { type ShopFloor } from './shop-floor.ts';
import { makeIll, setStage, type Stage } from './stage.ts';

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
  /** Draws a live picture on a screen that this opens; null: a line each second. */
  readonly live: null | { readonly openScreen: (onKey: (key: string) => void) => Screen; readonly colour: boolean };
}

const SECOND_MS = 1000;
/** How long what is on its way may take after the shops have closed, as long as something moves. */
const STALLED_AFTER_MS = 60_000;
const ILL_MS = 10_000;

/**
 * Shows the connector at work: a broker, a registry, the screening service, made-up shops, and the connector itself as a
 * process of its own. Answers 0 only if every payment was scored, every status linked, every review published and every
 * poison record dead-lettered.
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
  #live: Live | null = null;

  constructor(options: DemoOptions, opened: ReleaseStack, stop: StopRequest) {
    this.#options = options;
    this.#opened = opened;
    this.#stop = stop;
  }

  async run(): Promise<number> {
    const { terminal, clock, draw, node } = this.#options;
    const opened = this.#opened;
    const stage = await setStage({ terminal, clock, opened, say: this.#say });
    this.#say(`Kafka: ${stage.kafka.brokers.join(',')} (${stage.kafka.how}); registry: ${stage.kafka.registryUrl}`);
    this.#say(
      `Screening service: ${stage.service.baseUrl}/sandbox/ledger; status of the connector: ${stage.opsUrl}/status`,
    );
    const performer = await Performer.start({ stage, node, opened, say: this.#say });
    const parts: CastParts = { stage, clock, draw, opened, latencies: new Latencies() };
    const outputs = await readOutputs(parts);
    const floor = await openShops(parts, this.#options.rate);
    const acts = { stage, floor, performer, outputs };
    const { service, opsUrl } = stage;
    await this.#watch(
      acts,
      new Observer({ service, opsUrl, performer, floor, outputs, latencies: parts.latencies, clock }),
    );
    floor.close();
    const end = await this.#await(acts);
    await this.#live?.freeze();
    this.#live?.tell('The connector is told to stop; it takes webhooks a few seconds longer.');
    const exit = await performer.stop();
    await this.#leave();
    if (performer.broken !== null) throw new Fault('CHILD_FAILED', performer.broken);
    return this.#conclude(acts, end, exit);
  }

  readonly #say = (line: string): void => {
    const { terminal, json } = this.#options;
    if (this.#live !== null) this.#live.tell(line);
    else if (json) terminal.complain(line);
    else terminal.say(line);
  };

  /** Shows what happens until time is up or a stop is asked for. */
  async #watch(acts: Acts, observer: Observer): Promise<void> {
    const { clock, forMs } = this.#options;
    const startedMs = clock.monotonicMs();
    const endMs = forMs === null ? Infinity : startedMs + forMs;
    await this.#openLive(acts, observer);
    let before: Moment | null = null;
    for (let second = 1; this.#stop.reason === null && acts.performer.broken === null; second += 1) {
      const nextMs = Math.min(startedMs + second * SECOND_MS, endMs);
      await Promise.race([pause(clock, nextMs - clock.monotonicMs()), this.#stop.asked()]);
      if (this.#live === null) before = await this.#show(observer, before);
      if (clock.monotonicMs() >= endMs) return;
    }
  }

  async #show(observer: Observer, before: Moment | null): Promise<Moment> {
    const { terminal, json } = this.#options;
    const now = await observer.look();
    terminal.say(json ? JSON.stringify(now) : momentLine(now, before));
    return now;
  }

  async #openLive(acts: Acts, observer: Observer): Promise<void> {
    const { live, clock, forMs } = this.#options;
    if (live === null) return;
    const keys = this.#keys(acts);
    this.#live = await Live.open({ ...live, observer, clock, forMs, keys, places: () => placesOf(acts) });
    this.#opened.push('live picture', async () => {
      await this.#leave();
    });
  }

  /** What each key does. */
  #keys({ stage, floor, performer }: Acts): Readonly<Record<string, () => string>> {
    return {
      q: () => (this.#stop.ask('q') ? 'No more payments.' : 'It is about to end; Ctrl-C ends it at once.'),
      k: () => {
        performer.kill();
        return 'kill -9: another connector takes over when Kafka has given up the dead one.';
      },
      b: () => {
        makeIll(stage, ILL_MS);
        this.#live?.ill(ILL_MS);
        return 'The service answers 503 to everything: payments wait, none is lost.';
      },
      p: () => {
        void floor.spoil();
        return 'A record that is no JSON was written: it becomes a dead letter.';
      },
    };
  }

  /** Gives the screen back and leaves the last picture above what follows. */
  async #leave(): Promise<void> {
    const live = this.#live;
    this.#live = null;
    for (const line of (await live?.close()) ?? []) this.#options.terminal.say(line);
  }

  /** Waits until nothing is on its way any more, or nothing moves. */
  async #await({ stage, floor, performer, outputs }: Acts): Promise<Reckoning> {
    const { clock } = this.#options;
    this.#live?.wait();
    this.#say('The shops are closed; waiting for what is on its way.');
    const ledger = stage.service.ledger();
    let best = Infinity;
    let movedMs = clock.monotonicMs();
    for (;;) {
      const now = reckon(floor, ledger, outputs.found);
      const poison = Math.max(0, floor.poison - outputs.letters);
      const open = floor.open + stage.service.pendingReviews() + poison;
      if (performer.broken !== null || (open === 0 && isComplete(now))) return now;
      if (now.lost + open < best) {
        best = now.lost + open;
        movedMs = clock.monotonicMs();
      }
      if (clock.monotonicMs() - movedMs > STALLED_AFTER_MS) return now;
      await pause(clock, SECOND_MS / 4);
    }
  }

  #conclude({ floor, performer, outputs }: Acts, end: Reckoning, exit: number | null): number {
    const { terminal, json } = this.#options;
    const { kills } = performer;
    const { poison } = floor;
    const { letters } = outputs;
    const kept = isAsPromised(end, kills) && letters >= poison && exit === 0;
    if (json) terminal.say(JSON.stringify({ summary: { ...end, poison, letters, kills, kept } }));
    else for (const line of summaryLines({ end, kills, poison, letters, kept })) terminal.say(line);
    if (exit !== 0) terminal.complain(`The connector ended with ${String(exit)} when it was asked to stop.`);
    return kept ? 0 : 1;
  }
}

interface Acts {
  readonly stage: Stage;
  readonly floor: ShopFloor;
  readonly performer: Performer;
  readonly outputs: OutputsReader;
}

function placesOf({ stage, performer }: Acts): Places {
  const { kafka, service, opsUrl, config, topicPrefix } = stage;
  const { created, authorized, reviews, scores } = config.topics;
  return {
    statusUrl: `${opsUrl}/status`,
    ledgerUrl: `${service.baseUrl}/sandbox/ledger`,
    activityUrl: `${service.baseUrl}/sandbox/activity`,
    kafka: `${kafka.brokers.join(',')} (${kafka.how})`,
    registryUrl: kafka.registryUrl,
    logFile: performer.logFile,
    topics: { prefix: topicPrefix, created, authorized, reviews, scores },
  };
}
