import { FenceFeed } from '../../src/edges/kafka/fence-feed.ts';
import { systemClock } from '../../src/edges/system/clock.ts';
import { type Members, type Reader } from './members.ts';
import { type KafkaWorld, SESSION_MS } from './worlds.ts';

const LOOK_MS = 50;
const COMMIT_MS = 250;

/** What has stood still, and for how long at most, in milliseconds. */
export interface Stalls {
  /** No request might have left. */
  readonly fenceMs: number;
  /** No commit has succeeded, with one tried every quarter of a second. */
  readonly commitMs: number;
}

/** A member that commits all the time, as an engine does, and knows how long it could not work. */
export class Pulse {
  readonly reader: Reader;
  readonly #fence: FenceFeed;
  readonly #world: KafkaWorld;
  #ending = false;
  #done: Promise<unknown> = Promise.resolve();
  #fenceMs = 0;
  #commitMs = 0;
  #commits = 0;

  private constructor(world: KafkaWorld, reader: Reader, fence: FenceFeed) {
    this.#world = world;
    this.reader = reader;
    this.#fence = fence;
  }

  /** A member of the group with a pulse from now on. */
  static async of(
    { world, members }: { readonly world: KafkaWorld; readonly members: Members },
    groupId: string,
    topics: readonly string[],
  ): Promise<Pulse> {
    const fence = new FenceFeed({ clock: systemClock, sessionTimeoutMs: SESSION_MS });
    const pulse = new Pulse(world, await members.keeper(groupId, topics, { fence }), fence);
    pulse.#done = Promise.all([pulse.#watch(), pulse.#commit()]);
    return pulse;
  }

  /** Forgets how long things have stood still so far. */
  reset(): void {
    this.#fenceMs = 0;
    this.#commitMs = 0;
  }

  get mayWrite(): boolean {
    return this.#fence.mayWrite();
  }

  get commits(): number {
    return this.#commits;
  }

  get stalls(): Stalls {
    return { fenceMs: Math.round(this.#fenceMs), commitMs: Math.round(this.#commitMs) };
  }

  async stop(): Promise<void> {
    this.#ending = true;
    await this.#done;
  }

  async #watch(): Promise<void> {
    let openAtMs = performance.now();
    while (!this.#ending) {
      const nowMs = performance.now();
      if (this.#fence.mayWrite()) openAtMs = nowMs;
      this.#fenceMs = Math.max(this.#fenceMs, nowMs - openAtMs);
      await this.#world.rest(LOOK_MS);
    }
  }

  async #commit(): Promise<void> {
    let savedAtMs = performance.now();
    while (!this.#ending) {
      const commits = this.reader.commits();
      let succeeded = false;
      try {
        if (commits.length > 0) await this.reader.source.commit(commits);
        succeeded = commits.length > 0;
      } catch {
        // That is what is measured.
      }
      this.#commitMs = Math.max(this.#commitMs, performance.now() - savedAtMs);
      if (succeeded) {
        savedAtMs = performance.now();
        this.#commits += 1;
      }
      await this.#world.rest(COMMIT_MS);
    }
  }
}
