import { describe, expect, test } from 'vitest';
import { type Attempted } from '../../../../src/resilience/caller.ts';
import { createJob, failed, REFUSED, Rig, UNAVAILABLE } from './rig.ts';

describe('a payment that the service knows already (409)', () => {
  const KNOWN = failed({ do: 'already_scored', why: 'status_409', status: 409 });

  test('ends: a score record says so without a decision, and sync may send its updates', async () => {
    const rig = new Rig();
    rig.judged = [KNOWN];
    expect(await rig.flow.run(createJob())).toEqual({ do: 'skip', rule: 'already_scored' });
    expect(rig.scores).toMatchObject([{ decision: 'unknown', failure: 'already_scored', http_status_code: 409 }]);
    expect(rig.log.at(-1)).toContain('"do":"scored"');
    expect(rig.decided).toEqual([]);
  });

  test('is expected after an attempt without an answer, and of the first 1,000 records of an assignment', async () => {
    const rig = new Rig();
    rig.judged = [failed({ ambiguous: true })];
    await rig.runToEnd(createJob());
    await rig.flow.run({ ...createJob(), ordinal: 999 });
    await rig.flow.run({ ...createJob(), ordinal: 1_000 });
    expect(rig.mayBeScored).toEqual([false, true, true, false]);
  });

  test('and where none was to be expected, ends alike once it is at fault', async () => {
    const rig = new Rig();
    rig.decisions = ['guard', 'dead_letter'];
    rig.judged = [
      failed({ do: 'refused', why: 'status_409', status: 409 }),
      failed({ do: 'refused', why: 'status_409', status: 409 }),
    ];
    const steps = await rig.runToEnd(createJob());
    expect(steps).toMatchObject([
      { do: 'wait', why: 'dead_letter_guard' },
      { do: 'skip', rule: 'already_scored' },
    ]);
  });

  test('ends without a record where none is wanted', async () => {
    const rig = new Rig({ output: null });
    rig.judged = [KNOWN];
    expect(await rig.flow.run(createJob())).toMatchObject({ do: 'skip' });
    expect(rig.written).toEqual([]);
  });
});

describe('a wait', () => {
  test.each<[string, Attempted, string, number, string?]>([
    ['after a failure', failed(), 'service_down', 100, 'status_503'],
    [
      'without an answer',
      failed({ why: 'connection_failed', error: 'connect', status: null }),
      'service_down',
      100,
      'connect',
    ],
    [
      'after a refusal of everybody',
      failed({ why: 'status_403', error: 'status_403', status: 403, cause: 'service_refuses' }),
      'service_refuses',
      100,
      'status_403',
    ],
    [
      'without a session',
      { do: 'no_session', why: 'credentials_refused', retryMs: 30_000 },
      'credentials_refused',
      1_500,
    ],
    ['behind the fence', { do: 'fenced' }, 'kafka', 750],
  ])('%s', async (_name, judged, why, forMs, error) => {
    const rig = new Rig();
    rig.judged = [judged];
    expect(await rig.flow.run(createJob())).toMatchObject({ do: 'wait', why, forMs, ...(error && { error }) });
  });

  test.each([
    ['service', 'service_down'],
    ['record', 'record_failing'],
    ['guard', 'dead_letter_guard'],
  ] as const)('names what is to blame: the %s', async (blame, why) => {
    const rig = new Rig();
    rig.decisions = [blame];
    rig.judged = [failed()];
    expect(await rig.flow.run(createJob())).toMatchObject({ do: 'wait', why });
  });

  test('hands over all that the decision needs, and keeps what it gives', async () => {
    const rig = new Rig();
    rig.judged = [failed(), failed({ do: 'rate_limited', why: 'status_429', status: 429, afterMs: 7_000 })];
    await rig.runToEnd(createJob());
    expect(rig.decided).toMatchObject([
      { key: 'C1', isFirst: true, state: null, kind: 'failed', afterMs: null },
      { key: 'C1', isFirst: false, state: { failures: 1 }, kind: 'rate_limited', afterMs: 7_000 },
    ]);
  });

  test('counts only requests that were made', async () => {
    const rig = new Rig();
    rig.judged = [
      { do: 'fenced' },
      { do: 'no_session', why: 'service_down', retryMs: 1 },
      failed(),
      failed({ ambiguous: true }),
    ];
    await rig.runToEnd(createJob());
    expect(rig.scores[0]).toMatchObject({ attempts: 3, possibly_scored_before: true });
    expect(rig.mayBeScored).toEqual([false, false, false, false, true]);
  });
});

describe('a payment that fails again and again', () => {
  test('is a dead letter once it is at fault, and says why', async () => {
    const rig = new Rig();
    const broken = failed({ why: 'error_msg', status: 200, errorMessage: 'no shop' });
    rig.judged = [broken, broken];
    rig.decisions = ['record', 'dead_letter'];
    const letter = { reason: 'error_msg', stage: 'score', httpStatus: 200, serviceError: 'no shop' };
    expect((await rig.runToEnd(createJob())).at(-1)).toEqual({ do: 'dead_letter', letter });
    expect(rig.scores).toMatchObject([{ failure: 'error_msg', decision: 'unknown', attempts: 2 }]);
    expect(rig.log.at(-1)).toContain('"do":"refused"');
  });

  test.each(['timed_out', 'connection_failed', 'unusable_answer'] as const)(
    'with %s may be scored: its updates are not stopped',
    async (why) => {
      const rig = new Rig();
      rig.judged = [failed({ why, status: null, latencyMs: null, ambiguous: true })];
      rig.decisions = ['dead_letter'];
      expect(await rig.flow.run(createJob())).toMatchObject({ do: 'dead_letter', letter: { reason: why } });
      expect(rig.log.some((line) => line.startsWith('note'))).toBe(false);
    },
  );

  test('that the guard keeps from its dead letter waits and is sent again', async () => {
    const rig = new Rig();
    rig.decisions = ['guard'];
    rig.judged = [REFUSED];
    const step = await rig.flow.run(createJob());
    expect(step).toMatchObject({ do: 'wait', why: 'dead_letter_guard', carry: { outcome: null, attempts: 1 } });
    expect([rig.scores, rig.log]).toEqual([[], ['post']]);
  });
});

describe('repeats', () => {
  test('are payments that were sent and have no outcome', async () => {
    const rig = new Rig();
    rig.judged = [{ do: 'fenced' }, failed()];
    const first = await rig.flow.run(createJob());
    const second = await rig.flow.run(createJob());
    rig.outcomes = [UNAVAILABLE];
    const third = await rig.flow.run(createJob());
    const kinds = [first, second, third].map(
      (step) => step.do === 'wait' && step.carry && rig.flow.isRepeat(step.carry),
    );
    expect(kinds).toEqual([false, true, false]);
  });

  test('take a quarter of the requests while others wait, all of them else', () => {
    const { flow } = new Rig();
    expect([flow.repeatRoom(0, true), flow.repeatRoom(0, false)]).toEqual([16, 64]);
  });
});
