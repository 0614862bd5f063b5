import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DependencyState, LOOK_MS, PROBE_LIMIT_MS } from '../../../src/resilience/dependency-state.ts';

/** A dependency, its traffic and the process, on a clock of whole milliseconds. */
interface Course {
  /** When the dependency does not answer: from, until. */
  readonly away?: readonly [fromMs: number, untilMs: number];
  /** When the process stands still. */
  readonly still?: readonly [fromMs: number, untilMs: number];
  /** Whether real traffic is answered all the time that the dependency answers. */
  readonly isBusy?: boolean;
  /** How long an answer takes. */
  readonly answersInMs?: number;
  /** Looks begin so late. */
  readonly phaseMs?: number;
  readonly untilMs: number;
}

interface Seen {
  readonly probes: number[];
  readonly silentAtMs: number[];
  readonly answeringAtMs: number[];
}

type Probe = { readonly endsAtMs: number; readonly error: string | null };

function isIn(atMs: number, of: Course['away']): boolean {
  return of !== undefined && atMs >= of[0] && atMs < of[1];
}

/** When a timer of this time runs. */
function wake(atMs: number, { still }: Course): number {
  return still !== undefined && isIn(atMs, still) ? still[1] : atMs;
}

/** What becomes of a probe: what is asked while the dependency is frozen is answered when it thaws. */
function probeAt(atMs: number, course: Course): Probe {
  const { away, still, answersInMs = 5 } = course;
  const answeredAtMs = (away !== undefined && isIn(atMs, away) ? away[1] : atMs) + answersInMs;
  const limitAtMs = atMs + PROBE_LIMIT_MS;
  // Of two that are due when the process wakes up, the timer runs first.
  const isLate = answeredAtMs >= limitAtMs || (isIn(limitAtMs, still) && isIn(answeredAtMs, still));
  return isLate
    ? { endsAtMs: wake(limitAtMs, course), error: 'timeout' }
    : { endsAtMs: wake(answeredAtMs, course), error: null };
}

/** Looks and probes as they are made of a real one: one probe at a time, each with its limit. */
function follow(course: Course): Seen {
  const { away, isBusy = false, phaseMs = 0, untilMs } = course;
  const state = new DependencyState(phaseMs);
  const seen: Seen = { probes: [], silentAtMs: [], answeringAtMs: [] };
  let probe: Probe | null = null;
  const end = ({ endsAtMs, error }: Probe): void => {
    const change = state.end(endsAtMs, error);
    if (change?.now === 'silent') seen.silentAtMs.push(endsAtMs);
    if (change?.now === 'answering') seen.answeringAtMs.push(endsAtMs);
  };
  for (let atMs = phaseMs; atMs < untilMs; atMs = wake(atMs + LOOK_MS, course)) {
    if (probe !== null && probe.endsAtMs <= atMs) {
      end(probe);
      probe = null;
    }
    const lastAnswerMs = away !== undefined && isIn(atMs, away) ? away[0] - 1 : atMs;
    if (!state.look(atMs, isBusy ? lastAnswerMs : null) || probe !== null) continue;
    state.begin(atMs);
    seen.probes.push(atMs);
    probe = probeAt(atMs, course);
  }
  return seen;
}

/** A state whose first probe is under way. */
function failing(): DependencyState {
  const state = new DependencyState(0);
  state.look(0, null);
  state.begin(0);
  return state;
}

describe('a dependency', () => {
  test('that stops answering is silent within 13 s, and answering within 9 s of its return, whenever that is', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20_000 }),
        fc.integer({ min: 15_000, max: 60_000 }),
        fc.integer({ min: 0, max: 999 }),
        fc.boolean(),
        (fromMs, forMs, phaseMs, isBusy) => {
          const away = [fromMs, fromMs + forMs] as const;
          const { silentAtMs, answeringAtMs } = follow({ away, isBusy, phaseMs, untilMs: fromMs + forMs + 30_000 });
          expect([silentAtMs.length, answeringAtMs.length]).toEqual([1, 1]);
          expect((silentAtMs[0] ?? Infinity) - away[0]).toBeLessThanOrEqual(13_000);
          expect((answeringAtMs[0] ?? Infinity) - away[1]).toBeLessThanOrEqual(9000);
        },
      ),
    );
  });

  test('that answers is never silent, however slow within the limit, also when the process stands still', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: PROBE_LIMIT_MS - 1 }),
        fc.integer({ min: 0, max: 30_000 }),
        fc.integer({ min: 1, max: 120_000 }),
        fc.integer({ min: 0, max: 999 }),
        (answersInMs, fromMs, forMs, phaseMs) => {
          const still = [fromMs, fromMs + forMs] as const;
          const untilMs = fromMs + forMs + 30_000;
          expect(follow({ still, answersInMs, phaseMs, untilMs }).silentAtMs).toEqual([]);
        },
      ),
    );
  });

  test('that is slow once is not silent', () => {
    expect(follow({ away: [4500, 8500], untilMs: 60_000 })).toMatchObject({ silentAtMs: [], answeringAtMs: [] });
  });

  test('is probed every four to five seconds while nothing else asks it', () => {
    const { probes } = follow({ untilMs: 60_000 });
    expect(probes.length).toBeGreaterThanOrEqual(12);
    expect(probes.length).toBeLessThanOrEqual(15);
  });

  test('that answers real traffic is probed once, at the start', () => {
    expect(follow({ isBusy: true, untilMs: 600_000 }).probes).toEqual([0]);
  });
});

describe('a state', () => {
  test('names why the last probe was not answered', () => {
    const state = failing();
    expect(state.end(10, 'timeout')).toBeNull();
    expect(state.end(20, 'ECONNREFUSED')).toEqual({ now: 'silent', error: 'ECONNREFUSED' });
  });

  test('is said once, however long it lasts, and says for how long when it is over', () => {
    const state = failing();
    state.end(10, 'timeout');
    state.end(20, 'timeout');
    expect(state.end(30, 'timeout')).toBeNull();
    expect(state.end(520, null)).toEqual({ now: 'answering', afterMs: 500 });
    expect(state.end(530, null)).toBeNull();
  });

  test('is not ended by traffic that was answered before: only by a probe', () => {
    const state = failing();
    state.end(10, 'timeout');
    state.end(20, 'timeout');
    expect(state.look(1000, 999)).toBe(false);
    expect(state.look(4500, 4499)).toBe(true);
  });

  test('forgets a failure from before the process stood still', () => {
    const state = failing();
    state.end(10, 'timeout');
    expect(state.look(30_000, null)).toBe(true);
    state.begin(30_000);
    expect(state.end(30_010, 'timeout')).toBeNull();
    expect(state.end(30_020, 'timeout')).toMatchObject({ now: 'silent' });
  });
});
