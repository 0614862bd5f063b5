import { type Cancel, type Clock, within } from '../kernel/clock.ts';
import { type Emit } from '../kernel/emit.ts';
import { nameOf } from '../kernel/fault.ts';
import { type HoldCause } from '../kernel/outcome.ts';
import { DependencyState, LOOK_MS, PROBE_LIMIT_MS } from '../resilience/dependency-state.ts';

/** The scope of the block reasons that are named here. */
export const PROBE_SCOPE = 'probe';

/** Something that this process cannot do without. */
export interface Dependency {
  readonly cause: HoldCause;
  /** When real traffic was last answered, monotonic; null: never, or not known. Asked once a second. */
  readonly answeredAtMs: () => number | null;
  /** One bounded request that changes nothing: null, or the name of why it was not answered. */
  readonly probe: () => Promise<string | null>;
}

/**
 * Names each dependency that has stopped answering, and says when it answers again: the block reason of its cause, with the
 * scope `probe`. Probes only where no real traffic was answered for a while, one at a time for each dependency. Decides
 * nothing else: no failure of a probe ends a membership, keeps a record back or lets one go. Returns what ends it.
 */
export function watchDependencies(
  dependencies: readonly Dependency[],
  { clock, emit }: { readonly clock: Clock; readonly emit: Emit },
): Cancel {
  const watches = dependencies.map((dependency) => new Watch(dependency, clock, emit));
  const look = (): void => {
    for (const watch of watches) watch.look();
    cancel = clock.after(LOOK_MS, look);
  };
  let cancel = clock.after(0, look);
  return () => {
    cancel();
    for (const watch of watches) watch.stop();
  };
}

class Watch {
  readonly #dependency: Dependency;
  readonly #clock: Clock;
  readonly #emit: Emit;
  readonly #state: DependencyState;
  /** The probe under way, perhaps after its time is up; null: none is. */
  #probe: Promise<string | null> | null = null;
  #isWaiting = false;
  #stopped = false;

  constructor(dependency: Dependency, clock: Clock, emit: Emit) {
    this.#dependency = dependency;
    this.#clock = clock;
    this.#emit = emit;
    this.#state = new DependencyState(clock.monotonicMs());
  }

  look(): void {
    const isDue = this.#state.look(this.#clock.monotonicMs(), this.#dependency.answeredAtMs());
    if (isDue && !this.#isWaiting) void this.#wait();
  }

  stop(): void {
    this.#stopped = true;
  }

  /** For a probe to end. One that did not end in its time is waited for once more: never are there two at once. */
  async #wait(): Promise<void> {
    this.#isWaiting = true;
    this.#state.begin(this.#clock.monotonicMs());
    this.#probe ??= this.#begin();
    const end = await within(this.#clock, PROBE_LIMIT_MS, this.#probe);
    this.#isWaiting = false;
    this.#end(end === 'late' ? 'timeout' : end);
  }

  async #begin(): Promise<string | null> {
    try {
      return await this.#dependency.probe();
    } catch (error) {
      return nameOf(error);
    } finally {
      this.#probe = null;
    }
  }

  #end(error: string | null): void {
    const change = this.#state.end(this.#clock.monotonicMs(), error);
    if (change === null || this.#stopped) return;
    const reason = { cause: this.#dependency.cause, scope: PROBE_SCOPE };
    if (change.now === 'silent') this.#emit('hold_started', { ...reason, error: change.error });
    else this.#emit('hold_ended', { ...reason, afterMs: change.afterMs });
  }
}

/**
 * When a count of answers last rose, as it is seen by one who asks every `LOOK_MS`: the time of the look before, which is
 * never later than the answer.
 */
export function whenLastRisen(count: () => number, clock: Clock): () => number | null {
  let known = count();
  let lookedAtMs: number | null = null;
  let risenAtMs: number | null = null;
  return () => {
    const now = count();
    if (now !== known) risenAtMs = lookedAtMs;
    known = now;
    lookedAtMs = clock.monotonicMs();
    return risenAtMs;
  };
}
