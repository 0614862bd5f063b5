import { type Cancel, type Clock } from '../../kernel/clock.ts';
import { type OffsetReader } from './offset-reader.ts';
import { LOOK_MS, type Watched, Watchdog } from './watchdog.ts';

export interface WatchOptions {
  readonly clock: Clock;
  readonly sessionTimeoutMs: number;
  readonly topics: readonly string[];
  readonly offsets: Pick<OffsetReader, 'watermarks' | 'missing'>;
  /** The partitions that are to be read now. */
  readonly reading: () => readonly Watched[];
  /** The membership is to be ended. */
  readonly onSuspect: (error: string) => void;
}

/** Lets a watchdog look at one membership, from `start` to `stop`. */
export class MemberWatch {
  readonly #options: WatchOptions;
  readonly #watchdog: Watchdog;
  #cancel: Cancel | null = null;
  #asking = false;

  constructor(options: WatchOptions) {
    this.#options = options;
    this.#watchdog = new Watchdog(options.sessionTimeoutMs);
  }

  start(): void {
    if (this.#cancel === null) this.#look();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }

  /** A heartbeat, or the sync of a join, has been answered. */
  heartbeat(): void {
    this.#watchdog.heartbeat();
  }

  /**
   * A broker has said that it does not know a topic. Another connection is asked as well, because brokers that lag say so
   * too; a topic that is gone ends the membership at once, where kafkajs would ask again for a quarter of a minute.
   */
  unknownTopic(): void {
    if (this.#cancel !== null && !this.#asking) void this.#askForTopics();
  }

  readonly #look = (): void => {
    const { clock, reading, onSuspect } = this.#options;
    this.#cancel = clock.after(LOOK_MS, this.#look);
    const verdict = this.#watchdog.look(clock.monotonicMs(), reading());
    if (verdict.do === 'end') onSuspect(verdict.error);
    else if (verdict.do === 'ask') void this.#ask(verdict.topics);
  };

  async #askForTopics(): Promise<void> {
    const { offsets, topics, onSuspect } = this.#options;
    this.#asking = true;
    try {
      if ((await offsets.missing(topics)).length > 0 && this.#cancel !== null) onSuspect('UNKNOWN_TOPIC_OR_PARTITION');
    } catch {
      // Brokers that do not answer are no proof against the topic.
    }
    this.#asking = false;
  }

  async #ask(topics: readonly string[]): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    try {
      for (const topic of topics) this.#watchdog.ends(topic, await this.#options.offsets.watermarks(topic));
    } catch {
      // Brokers that do not answer are no proof against this member.
    }
    this.#asking = false;
  }
}
