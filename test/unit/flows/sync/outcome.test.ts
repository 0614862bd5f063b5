import { describe, expect, test } from 'vitest';
import { type Failure, readAnswer, toRejection } from '../../../../src/flows/sync/answer.ts';
import { type FailedUpdate, toAttempt, toCallEnd, toEnd } from '../../../../src/flows/sync/outcome.ts';
import { UNTRIED, type UpdateState } from '../../../../src/flows/sync/search.ts';
import { type Blame, type RetryState } from '../../../../src/resilience/attribution.ts';
import { type Exchange } from '../../../../src/resilience/ports.ts';
import { answer } from './builders.ts';

const RETRY: RetryState = { failures: 3, against: 0, sinceMs: 0, succeededBefore: 0, failedBefore: 0 };
const IN_COMPANY: UpdateState = { retry: RETRY, failedAt: 2, aloneAt: null };
const ALONE: UpdateState = { retry: RETRY, failedAt: 2, aloneAt: 4 };

function failureOf(exchange: Exchange): Failure {
  const read = readAnswer(exchange, new Set());
  if (read.do !== 'failed') throw new Error(`is ${read.do}`);
  return read;
}

/** An update that failed with 404 among others, while the service works. */
function failed(change: Partial<FailedUpdate> = {}): FailedUpdate {
  const failure = failureOf(answer(404));
  return { state: UNTRIED, failure, culprit: null, failedAt: 7, isWorking: true, ...change };
}

function culprit(failure: Failure, isProven = false): Pick<FailedUpdate, 'failure' | 'culprit'> {
  return { failure, culprit: { failure, failedAt: 9, othersAccepted: isProven, isProven } };
}

function waitOf(update: FailedUpdate, blame: Blame, forMs = 60_000): object {
  return toEnd(update, { do: 'retry', forMs, state: RETRY, blame });
}

describe('an attempt counts', () => {
  test('for nobody where an update failed among others', () => {
    expect(toAttempt(failed({ state: IN_COMPANY }))).toMatchObject({ kind: 'shared', isFirst: false, state: RETRY });
  });

  test.each([
    ['a refusal that proves nothing', answer(404), false, 'failed'],
    ['a refusal', answer(404), true, 'refused'],
    ['401', answer(401), true, 'refused'],
    ['408', answer(408), true, 'failed'],
    ['500', answer(500), true, 'failed'],
    ['429', answer(429), true, 'rate_limited'],
  ] as const)('against one that failed alone, as what it is: %s', (_name, exchange, isProven, kind) => {
    const update = failed({ state: ALONE, ...culprit(failureOf(exchange), isProven) });
    expect(toAttempt(update)).toMatchObject({ kind, isFirst: false, state: RETRY });
  });

  test('anew for one that fails alone for the first time', () => {
    const update = failed({ state: IN_COMPANY, ...culprit(failureOf(answer(500))) });
    expect(toAttempt(update)).toMatchObject({ kind: 'failed', isFirst: true, state: null });
  });
});

describe('an update that is tried again', () => {
  test('waits for its next batch, unnamed, while others are accepted', () => {
    expect(waitOf(failed(), 'record')).toEqual({
      do: 'later',
      why: 'batch_open',
      forMs: 2_000,
      state: { retry: RETRY, failedAt: 7, aloneAt: null },
      error: '',
    });
  });

  test.each<[string, FailedUpdate, Blame]>([
    ['fails for everybody', failed(), 'service'],
    ['accepted none lately', failed({ isWorking: false }), 'record'],
  ])('waits for a service that %s, 8 s at most', (_name, update, blame) => {
    expect(waitOf(update, blame)).toMatchObject({ why: 'service_refuses', forMs: 8_000, error: 'status_404' });
  });

  test('waits as long as the service asks', () => {
    const limited: Exchange = { do: 'answer', status: 429, retryAfterMs: 60_000, body: Buffer.alloc(0), latencyMs: 1 };
    expect(waitOf(failed({ failure: failureOf(limited) }), 'record')).toMatchObject({
      why: 'service_down',
      forMs: 60_000,
    });
  });

  test.each([
    ['record', 'record_failing'],
    ['guard', 'dead_letter_guard'],
  ] as const)('goes alone and is named, if it was found to fail: %s', (blame, why) => {
    const update = failed(culprit(failureOf(answer(404))));
    const state = { retry: RETRY, failedAt: 7, aloneAt: 9 };
    expect(waitOf(update, blame)).toEqual({ do: 'later', why, forMs: 60_000, state, error: 'status_404' });
  });

  test.each([
    [true, false, 'record_failing'],
    [false, true, 'record_failing'],
    [false, false, 'service_refuses'],
  ])(
    'is named as failing only where others were accepted: lately %s, since it failed first %s',
    (isWorking, since, why) => {
      expect(waitOf(failed({ isWorking, ...culprit(failureOf(answer(404)), since) }), 'record')).toMatchObject({ why });
    },
  );

  test('keeps when it failed first, in company and alone', () => {
    expect(waitOf(failed({ state: ALONE, ...culprit(failureOf(answer(404))) }), 'record')).toMatchObject({
      state: { failedAt: 2, aloneAt: 4 },
    });
  });

  test('stays among others where it was refused by its id', () => {
    expect(waitOf(failed(culprit(toRejection(207, null))), 'guard')).toMatchObject({ state: { aloneAt: null } });
  });
});

test('a dead letter says the status and the words of the service, if there were any', () => {
  const failures = [
    failureOf(answer(404, { error_msg: 'no' })),
    failureOf({ do: 'failed', why: 'reset', ambiguous: true }),
  ];
  const ends = failures.map((failure) => toEnd(failed({ failure }), { do: 'dead_letter' }));
  expect(ends).toEqual([
    { do: 'letter', letter: { reason: 'status_404', stage: 'sync', httpStatus: 404, serviceError: 'no' } },
    { do: 'letter', letter: { reason: 'connection_failed', stage: 'sync' } },
  ]);
});

test.each([
  ['an acceptance', answer(200), 3, false, 'ok'],
  ['an acceptance of none', answer(207), 0, false, 'refused'],
  ['an acceptance of none, as before', answer(207), 0, true, 'ok'],
  ['400', answer(400), 0, false, 'refused'],
  ['400, as before', answer(400), 0, true, 'ok'],
  ['403, as before', answer(403), 0, true, 'failed'],
  ['500', answer(500), 0, false, 'failed'],
  ['nothing sent', { do: 'fenced' }, 0, false, 'void'],
] as const)('says of the health of the service: %s', (_name, exchange, delivered, believes, end) => {
  expect(toCallEnd(readAnswer(exchange, new Set()), delivered, believes).do).toBe(end);
});
