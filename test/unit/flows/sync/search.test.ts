import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Failure, readAnswer } from '../../../../src/flows/sync/answer.ts';
import {
  type Calls,
  isServiceAtFault,
  partAccepted,
  partFailed,
  type Search,
  UNTRIED,
  type UpdateState,
  wholeBatch,
} from '../../../../src/flows/sync/search.ts';
import { type Exchange } from '../../../../src/resilience/ports.ts';
import { answer } from './builders.ts';

interface One {
  readonly id: number;
  readonly state: UpdateState;
}

const NONE_ACCEPTED: Calls = { begun: 5, newestAccepted: 0, failedSince: 5 };

function failureOf(exchange: Exchange): Failure {
  const read = readAnswer(exchange, new Set());
  if (read.do !== 'failed') throw new Error(`is ${read.do}`);
  return read;
}

const REFUSED = failureOf(answer(404));
const TIMED_OUT = failureOf({ do: 'failed', why: 'timeout', ambiguous: true });

function ones(count: number, state: UpdateState = UNTRIED): One[] {
  return Array.from({ length: count }, (_, id) => ({ id, state }));
}

/** Of an update that was in so many calls that failed, the first of them the fourth of all. */
function failed(failures: number, aloneAt: number | null = null): UpdateState {
  const retry = { failures, against: 0, sinceMs: 0, succeededBefore: 0, failedBefore: 0 };
  return { retry: failures === 0 ? null : retry, failedAt: 4, aloneAt };
}

function idsOf(search: Search<One>): number[][] {
  return search.parts.map(({ members }) => members.map(({ id }) => id));
}

/** How many calls a batch has to fail in before it is searched; null: it never is. */
function triesOf(failure: Failure, calls: Calls): number | null {
  for (let tries = 1; tries < 20; tries += 1)
    if (partFailed(wholeBatch(ones(4, failed(tries - 1))), failure, calls).parts.length > 0) return tries;
  return null;
}

/** Plays a search against a service that refuses every part with a culprit in it. */
function play(members: readonly One[], culprits: ReadonlySet<One>): { found: One[]; accepted: One[]; calls: number } {
  let search = wholeBatch(members);
  const accepted: One[] = [];
  let calls = 0;
  for (let [part] = search.parts; part !== undefined; [part] = search.parts) {
    calls += 1;
    if (part.members.some((member) => culprits.has(member))) search = partFailed(search, REFUSED, NONE_ACCEPTED);
    else {
      accepted.push(...part.members);
      search = partAccepted(search, [], NONE_ACCEPTED);
    }
  }
  expect([search.accepted, search.undecided]).toEqual([accepted.length, []]);
  return { found: search.culprits.map(({ member }) => member), accepted, calls };
}

describe('the search of a batch that fails', () => {
  test('is empty for nothing, whatever it is told', () => {
    expect(partFailed(wholeBatch<One>([]), REFUSED, NONE_ACCEPTED)).toEqual(wholeBatch([]));
    expect(partAccepted(wholeBatch<One>([]), [], NONE_ACCEPTED)).toEqual(wholeBatch([]));
  });

  test('sends the halves in the order of the batch, before what else is left', () => {
    const halves = partFailed(wholeBatch(ones(3)), REFUSED, NONE_ACCEPTED);
    expect(idsOf(halves)).toEqual([[0, 1], [2]]);
    expect(idsOf(partFailed(halves, REFUSED, NONE_ACCEPTED))).toEqual([[0], [1], [2]]);
  });

  test('sends what else is left first after a time-out, for it keeps others waiting', () => {
    const halves = partFailed(wholeBatch(ones(3, failed(1))), TIMED_OUT, NONE_ACCEPTED);
    expect(idsOf(partFailed(halves, TIMED_OUT, NONE_ACCEPTED))).toEqual([[2], [0], [1]]);
  });

  test('finds every culprit and no other, within 2·k·⌈log2 n⌉ calls after the first', () => {
    const batches = fc
      .integer({ min: 1, max: 100 })
      .map((size) => ones(size))
      .chain((members) => fc.record({ members: fc.constant(members), culprits: fc.subarray(members) }));
    const law = fc.property(batches, fc.boolean(), ({ members, culprits: some }, isFew) => {
      const culprits = new Set(isFew ? some.slice(0, 3) : some);
      const { found, accepted, calls } = play(members, culprits);
      expect(found).toEqual([...culprits]);
      expect(accepted).toEqual(members.filter((member) => !culprits.has(member)));
      expect(calls - 1).toBeLessThanOrEqual(2 * culprits.size * Math.ceil(Math.log2(members.length)));
    });
    fc.assert(law);
  });
});

describe('a batch is searched', () => {
  test.each([301, 400, 403, 404, 405, 409, 410, 413, 418, 422, 451])('at once: %i', (status) => {
    expect(triesOf(failureOf(answer(status)), NONE_ACCEPTED)).toBe(1);
  });

  test.each<[string, Exchange]>([
    ['408', answer(408)],
    ['425', answer(425)],
    ['500', answer(500)],
    ['501', answer(501)],
    ['599', answer(599)],
    ['an error_msg', answer(200, { error_msg: 'no' })],
    ['more than it may be', { do: 'failed', why: 'oversized', ambiguous: true }],
    ['a reset', { do: 'failed', why: 'reset', ambiguous: true }],
    ['no HTTP', { do: 'failed', why: 'protocol', ambiguous: true }],
    ['a time-out', { do: 'failed', why: 'timeout', ambiguous: true }],
  ])('after a second try: %s', (_name, exchange) => {
    expect(triesOf(failureOf(exchange), NONE_ACCEPTED)).toBe(2);
  });

  test.each([401, 429, 502, 503, 504])(
    'after a fourth try while others are accepted, after an eighth while none is: %i',
    (status) => {
      const failure = failureOf(answer(status));
      expect(triesOf(failure, { begun: 5, newestAccepted: 5, failedSince: 5 })).toBe(4);
      expect(triesOf(failure, { begun: 5, newestAccepted: 4, failedSince: 5 })).toBe(8);
    },
  );

  test.each<[string, Exchange]>([
    ['no connection', { do: 'failed', why: 'connect', ambiguous: false }],
    ['no connection in time', { do: 'failed', why: 'timeout', ambiguous: false }],
    ['429 with a time to wait', { do: 'answer', status: 429, retryAfterMs: 1000, body: Buffer.alloc(0), latencyMs: 1 }],
  ])('never: %s', (_name, exchange) => {
    const search = partFailed(wholeBatch(ones(4, failed(19))), failureOf(exchange), NONE_ACCEPTED);
    const undecided = search.undecided.flatMap(({ members }) => members);
    expect([search.parts, search.culprits, undecided.length]).toEqual([[], [], 4]);
  });

  test('as often as its most unlucky member has failed', () => {
    const [first, ...others] = ones(3);
    const unlucky = { id: 9, state: failed(1) };
    const search = partFailed(wholeBatch([...(first === undefined ? [] : [first]), unlucky, ...others]), TIMED_OUT, {
      begun: 5,
      newestAccepted: 0,
      failedSince: 5,
    });
    expect(search.parts).toHaveLength(2);
  });

  test('further, if another answer comes in the middle', () => {
    const halves = partFailed(wholeBatch(ones(4)), REFUSED, NONE_ACCEPTED);
    expect(idsOf(partFailed(halves, failureOf(answer(500)), NONE_ACCEPTED))).toEqual([[0], [1], [2, 3]]);
  });

  test('without the part for which it is too early to say', () => {
    const halves = partFailed(wholeBatch(ones(4)), REFUSED, NONE_ACCEPTED);
    const after = partFailed(halves, failureOf(answer(503)), NONE_ACCEPTED);
    expect(idsOf(after)).toEqual([[2, 3]]);
    expect(after.undecided.map(({ members }) => members.map(({ id }) => id))).toEqual([[0, 1]]);
  });
});

function alone(state: UpdateState): Search<One> {
  return wholeBatch(ones(1, state));
}

describe('an update that fails alone', () => {
  test('has proven nothing the first time', () => {
    const { culprits } = partFailed(alone(failed(3)), REFUSED, { begun: 9, newestAccepted: 9, failedSince: 5 });
    expect(culprits).toMatchObject([{ isProven: false }]);
  });

  test.each([
    [6, false],
    [7, true],
  ])('is at fault the second time if the newest call that was accepted is the %ith: %s', (newestAccepted, isProven) => {
    const { culprits } = partFailed(alone(failed(3, 6)), REFUSED, { begun: 9, newestAccepted, failedSince: 5 });
    expect(culprits).toMatchObject([{ isProven }]);
  });

  test('is a culprit whatever it fails with from then on', () => {
    for (const exchange of [answer(503), answer(500), answer(429), answer(401)])
      expect(partFailed(alone(failed(1, 6)), failureOf(exchange), NONE_ACCEPTED).culprits).toHaveLength(1);
  });
});

test('an update that failed with others is found by the calls that were accepted since', () => {
  const found = [4, 5].map((newestAccepted) =>
    partFailed(alone(failed(3)), REFUSED, { begun: 9, newestAccepted, failedSince: 5 }),
  );
  expect(found.map(({ culprits }) => culprits[0]?.othersAccepted)).toEqual([false, true]);
});

test('ten parts that are not answered in time show the same', () => {
  const after = { ...wholeBatch(ones(40, failed(1))), timedOut: 9 };
  const timedOut = partFailed(after, TIMED_OUT, NONE_ACCEPTED);
  expect([after, timedOut, { ...timedOut, accepted: 1 }].map(isServiceAtFault)).toEqual([false, true, false]);
});

function withCulprits(count: number, othersAccepted = false): Search<One> {
  const culprit = {
    member: { id: 0, state: UNTRIED },
    failure: REFUSED,
    failedAt: 9,
    othersAccepted,
    isProven: false,
  };
  return { ...wholeBatch<One>([]), culprits: Array.from({ length: count }, () => culprit) };
}

describe('ten culprits', () => {
  test('and nothing accepted show that the service fails for everybody', () => {
    expect([withCulprits(9), withCulprits(10)].map(isServiceAtFault)).toEqual([false, true]);
  });

  test('do not, if one of the batch was accepted, or others since they failed first', () => {
    expect([{ ...withCulprits(10), accepted: 1 }, withCulprits(10, true)].map(isServiceAtFault)).toEqual([
      false,
      false,
    ]);
  });
});
