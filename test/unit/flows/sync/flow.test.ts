import { describe, expect, test } from 'vitest';
import { type Step } from '../../../../src/engine/ports.ts';
import { type UpdateCarry } from '../../../../src/flows/sync/flow.ts';
import { UNTRIED } from '../../../../src/flows/sync/search.ts';
import { settled } from '../../../support/manual-clock.ts';
import { answer, approved, idsOf, job, owned, record, rig, RULES, TS, type Rig } from './builders.ts';

/** Runs one update of each id, in order. */
function runAll({ flow }: Rig, ids: readonly string[]): Promise<Step<UpdateCarry>>[] {
  return ids.map(async (id) => await flow.run(job(flow, record(approved(id)))));
}

/** The kind and cause of a step. */
function brief(step: Step<UpdateCarry>): string {
  if (step.do === 'wait') return `wait ${step.why} ${String(step.forMs)}`;
  return step.do === 'dead_letter' ? step.letter.reason : step.do;
}

function ageOut({ flow, clock }: Rig): void {
  clock.advance(500);
  flow.tick(clock.monotonicMs());
}

describe('an update that is refused', () => {
  test('because its transaction was refused, is not sent', async () => {
    const bench = rig();
    bench.alignment.note('t', { do: 'refused', partition: 0 });
    const [step] = runAll(bench, ['t']);
    expect(await step).toEqual({ do: 'dead_letter', letter: { reason: 'transaction_not_scored', stage: 'sync' } });
    expect(bench.flow.room()).toBe(9);
  });

  test('because its score tells a card and it has no acq_ref_id, is not sent', async () => {
    const bench = rig({ rules: { ...RULES, chargebackProtection: true, cardMethods: ['card'] } });
    bench.alignment.note('t', { do: 'scored', partition: 0, httpStatus: 200, latencyMs: 9, paymentMethod: 'card' });
    const { flow } = bench;
    const step = await flow.run(job(flow, record(approved('t', { acq_ref_id: null }))));
    expect(brief(step)).toBe('acq_ref_id_missing');
  });

  test('by the service under its id, becomes a letter, the others are delivered', async () => {
    const bench = rig();
    const steps = runAll(bench, ['a', 'b', 'c']);
    bench.api.give(answer(200, { b: { ok: false } }));
    expect((await Promise.all(steps)).map(brief)).toEqual(['delivered', 'rejected_by_service', 'delivered']);
  });
});

describe('an update that is not done yet', () => {
  test('waits where the answer says so, a little longer by chance, with the bytes that were sent', async () => {
    const bench = rig();
    const [step] = runAll(bench, ['a']);
    ageOut(bench);
    bench.api.give({ do: 'answer', status: 503, retryAfterMs: 9000, body: Buffer.alloc(0), latencyMs: 1 });
    const end = await step;
    expect(end).toMatchObject({ do: 'wait', forMs: 9500, why: 'service_down', error: 'status_503' });
    const fragment = end?.do === 'wait' ? end.carry?.fragment.toString() : '';
    expect(bench.api.bodies).toEqual([`{${String(fragment)}}`]);
  });

  test('backs off by its own failures and by chance, and is tried again in 8 s at the latest', async () => {
    const bench = rig();
    const { flow } = bench;
    const steps = [0, 3, 9].map(async (failures) => {
      const retry = { failures, against: 0, sinceMs: 0, succeededBefore: 0, failedBefore: 0 };
      const state = failures === 0 ? UNTRIED : { retry, failedAt: 0, aloneAt: null };
      const carry = { fragment: Buffer.from('"a":{}'), state };
      return await flow.run(job(flow, record(approved(`t${String(failures)}`)), { carry }));
    });
    bench.api.give({ do: 'failed', why: 'connect', ambiguous: false });
    const ends = await Promise.all(steps);
    expect(ends.map(brief)).toEqual(['wait service_down 150', 'wait service_down 1200', 'wait service_down 8000']);
    expect(ends).toMatchObject([{ error: 'connection_failed' }, {}, {}]);
  });

  test.each([
    [{ do: 'no_session', why: 'credentials_refused', retryMs: 30_000 } as const, 'wait credentials_refused 2000'],
    [{ do: 'fenced' } as const, 'wait kafka 500'],
    [answer(403), 'wait service_refuses 150'],
    [answer(400), 'wait service_refuses 150'],
    [answer(500), 'wait service_down 150'],
  ])('%j', async (exchange, expected) => {
    const bench = rig();
    const [step] = runAll(bench, ['a']);
    ageOut(bench);
    bench.api.give(exchange);
    expect(brief((await step) ?? { do: 'release' })).toBe(expected);
  });

  test('is found to fail: it is a repeat, goes alone, and is named while others are accepted', async () => {
    const bench = rig();
    const steps = runAll(bench, ['a', 'b', 'c']);
    for (let calls = 0; calls < 5; calls += 1) {
      bench.api.give(answer(idsOf(bench.api.calls[0]?.body ?? '').includes('a') ? 404 : 200));
      await settled();
    }
    const [odd, ...others] = await Promise.all(steps);
    expect(others.map(brief)).toEqual(['delivered', 'delivered']);
    expect(odd).toMatchObject({ do: 'wait', why: 'record_failing', error: 'status_404' });
    const carry = odd?.do === 'wait' ? odd.carry : undefined;
    if (carry === undefined) throw new Error('it carries nothing');
    expect([bench.flow.isRepeat(carry), bench.flow.repeatRoom()]).toEqual([true, 1]);
    void runAll(bench, ['x']);
    ageOut(bench);
    bench.api.give(answer(200));
    await settled();
    const again = bench.flow.run(job(bench.flow, record(approved('a')), { carry, attempt: 2 }));
    expect([idsOf(bench.api.bodies.at(-1) ?? ''), bench.flow.repeatRoom()]).toEqual([['a'], 0]);
    bench.api.give(answer(404));
    expect(brief(await again)).toBe('status_404');
  });

  test('is asked to wait before it starts, when its id is under way from another partition', async () => {
    const bench = rig();
    const { flow, signals, api, clock } = bench;
    const [first] = runAll(bench, ['a']);
    const second = job(flow, record(approved('a'), { partition: 1 }));
    expect(flow.mayStart(second, clock.monotonicMs())).toBe('batch_open');
    ageOut(bench);
    const waits = await flow.run(second);
    expect(waits).toMatchObject({ do: 'wait', why: 'batch_open', forMs: 50 });
    expect(waits.do === 'wait' ? `{${String(waits.carry?.fragment)}}` : '').toBe(api.bodies[0]);
    api.give(answer(200));
    await first;
    expect(signals.woken).toEqual(['a']);
    expect(flow.mayStart(second, clock.monotonicMs())).toBeNull();
  });

  test('is not sent again with other bytes when its score came meanwhile', () => {
    const bench = rig();
    const { flow, alignment, api } = bench;
    const carry = { fragment: Buffer.from('"a":{"status":"error"}'), state: UNTRIED };
    alignment.note('a', { do: 'refused', partition: 0 });
    void flow.run(job(flow, record(approved('a')), { carry, attempt: 2 }));
    ageOut(bench);
    expect(api.bodies).toEqual(['{"a":{"status":"error"}}']);
  });
});

describe('updates in a batch', () => {
  test('are not held while batches go out', () => {
    const { flow, ...bench } = rig();
    void runAll({ flow, ...bench }, ['a', 'b', 'c', 'd']);
    expect([bench.api.bodies.length, flow.heldBack()]).toEqual([1, null]);
  });

  test('are held while calls do not go out, but for those under way', async () => {
    const bench = rig();
    void runAll(bench, ['a', 'b', 'c']);
    void runAll(bench, ['d', 'e', 'f']);
    bench.api.give({ do: 'no_session', why: 'credentials_refused', retryMs: 30_000 });
    await settled();
    void runAll(bench, ['g', 'h', 'i', 'j']);
    expect([bench.api.calls.length, bench.flow.heldBack()]).toEqual([1, 4]);
  });

  test('are held while the service fails for all of them; then one of them finds out, and all are hurried', async () => {
    const bench = rig({ limits: { maxRecords: 12, maxBytes: 10_000, maxAgeMs: 500, inFlight: 2 } });
    const { flow, api, clock, signals } = bench;
    void runAll(bench, Array.from('abcdefghijkl'));
    for (let calls = 0; api.calls.length > 0; calls += 1) {
      if (calls > 40) throw new Error('the search has no end');
      api.give(answer(404));
      await settled();
    }
    void runAll(bench, ['m', 'n', 'o']);
    expect([api.calls.length, flow.heldBack()]).toEqual([0, 3]);
    // Nobody has looked since: that the time has come by itself sends nothing.
    clock.advance(2_000);
    expect(flow.due()).toBeLessThanOrEqual(2_000);
    flow.tick(clock.monotonicMs());
    expect(api.calls.map(({ body }) => idsOf(body))).toEqual([['o']]);
    api.give(answer(200));
    await settled();
    expect(signals.hurried).toMatchObject([expect.arrayContaining(['service_refuses', 'service_down'])]);
    ageOut(bench);
    expect([api.calls.map(({ body }) => idsOf(body)), flow.heldBack()]).toEqual([[['m', 'n']], null]);
  });

  test('are asked for when a probe is due and all wait for their time', async () => {
    const bench = rig();
    const { flow, api, clock, signals } = bench;
    const [step] = runAll(bench, ['a']);
    ageOut(bench);
    api.give({ do: 'no_session', why: 'service_refuses', retryMs: 30_000 });
    await step;
    flow.tick(clock.monotonicMs());
    expect([signals.hurried, flow.due()]).toEqual([[], 2_500]);
    clock.advance(2_000);
    flow.tick(clock.monotonicMs());
    expect([signals.hurried.length, flow.due()]).toEqual([1, null]);
  });

  test('go out when the service has been left alone for as long as it wished, whoever looks first', async () => {
    const bench = rig();
    void runAll(bench, ['a', 'b', 'c']);
    bench.api.give({ do: 'answer', status: 429, retryAfterMs: 4000, body: Buffer.alloc(0), latencyMs: 1 });
    await settled();
    void runAll(bench, ['d', 'e', 'f']);
    expect(bench.api.calls).toHaveLength(0);
    bench.clock.advance(4_000);
    expect(bench.flow.due()).toBe(4_000);
    bench.flow.tick(bench.clock.monotonicMs());
    expect(bench.api.calls).toHaveLength(1);
  });
});

describe('alignment', () => {
  test('keeps an update that may be too early from starting, and counts one that starts blindly', async () => {
    const bench = rig({ scoreWaitMs: 1000 });
    const { flow, clock, said } = bench;
    const early = job(flow, record(approved('a')));
    expect(flow.mayStart(early, clock.monotonicMs())).toBe('not_scored_yet');
    clock.advance(1000);
    expect(flow.mayStart(early, clock.monotonicMs())).toBeNull();
    const step = flow.run(early);
    expect(said).toEqual([['update_before_score', { waitedMs: 1000 }]]);
    flow.barrier('join');
    await step;
  });

  test('gives an update what its scoring call was', async () => {
    const bench = rig({ scoreWaitMs: 1000 });
    const { alignment, api, said } = bench;
    alignment.note('a', { do: 'scored', partition: 0, httpStatus: 200, latencyMs: 41.2, paymentMethod: null });
    const [step] = runAll(bench, ['a']);
    bench.flow.barrier('stop');
    expect(api.bodies).toEqual([
      `{"a":{"status":"approved","ts":"${TS}","acq_ref_id":"arn","http_status_code":200,"latency":41}}`,
    ]);
    expect(said).toEqual([]);
    api.give(answer(200));
    expect(await step).toEqual({ do: 'delivered' });
  });
});

describe('what was left out of an update', () => {
  test('is counted when it is first sent', () => {
    const { flow, said } = rig();
    const fields = { acq_ref_id: null, extra: {}, latency: 'x', unheard: 1 };
    void flow.run(job(flow, record(approved('a', fields))));
    expect(said).toEqual([
      ['update_field_dropped', { field: 'latency' }],
      ['update_field_dropped', { field: 'extra' }],
      ['update_field_dropped', { field: 'unknown' }],
      ['update_noted', { note: 'approved_without_acq_ref_id' }],
    ]);
  });
});

describe('barriers and tenure', () => {
  test('a stop sends what is open', async () => {
    const bench = rig();
    const steps = runAll(bench, ['a', 'b']);
    bench.flow.barrier('stop');
    expect(bench.api.bodies.map(idsOf)).toEqual([['a', 'b']]);
    bench.api.give(answer(200));
    expect((await Promise.all(steps)).map(brief)).toEqual(['delivered', 'delivered']);
  });

  test('a join gives back what is unsent and lets end what is in flight', async () => {
    const bench = rig();
    const steps = runAll(bench, ['a', 'b', 'c', 'd']);
    bench.flow.barrier('join');
    bench.api.give(answer(200));
    expect((await Promise.all(steps)).map(brief)).toEqual(['delivered', 'delivered', 'delivered', 'release']);
    expect(bench.api.bodies).toHaveLength(1);
  });

  test('an update of a lost partition is not sent', async () => {
    const bench = rig();
    const tenure = owned();
    const step = bench.flow.run(job(bench.flow, record(approved('a')), { tenure }));
    tenure.phase = 'lost';
    ageOut(bench);
    expect(await step).toEqual({ do: 'release' });
    expect(bench.api.bodies).toEqual([]);
  });
});

describe('room', () => {
  test('is one batch more than may be in flight, less what is open or in flight', async () => {
    const bench = rig();
    expect(bench.flow.room()).toBe(9);
    void Promise.all(runAll(bench, ['a', 'b', 'c', 'd']));
    expect(bench.flow.room()).toBe(5);
    bench.api.give(answer(200));
    await settled();
    expect(bench.flow.room()).toBe(8);
    expect(bench.flow.lane(job(bench.flow, record(approved('x'))).item)).toBe('x');
  });
});
