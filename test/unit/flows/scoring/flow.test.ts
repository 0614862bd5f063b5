import { describe, expect, test } from 'vitest';
import { type WriteOutcome } from '../../../../src/engine/ports.ts';
import { Fault } from '../../../../src/kernel/fault.ts';
import { DELIVERED } from '../../../../src/kernel/outcome.ts';
import { createJob, createRecord, done, failed, type MutableTenure, REFUSED, Rig, UNAVAILABLE } from './rig.ts';

const SCORED_FACT = '{"do":"scored","partition":3,"httpStatus":200,"latencyMs":12,"paymentMethod":"card"}';
const refusedWrite = (why: 'too_large' | 'invalid'): WriteOutcome => ({ do: 'refused', why });

describe('a refused payment', () => {
  test('yields a score without a decision, then the word to sync, then its letter', async () => {
    const rig = new Rig();
    rig.judged = [REFUSED];
    const letter = { reason: 'status_422', stage: 'score', httpStatus: 422, serviceError: 'no such currency' };
    expect(await rig.flow.run(createJob())).toEqual({ do: 'dead_letter', letter });
    expect(rig.log).toEqual(['post', 'write', 'note T1 {"do":"refused","partition":3}']);
    expect(rig.scores[0]).toMatchObject({
      decision: 'unknown',
      failure: 'status_422',
      http_status_code: 422,
      score: null,
    });
  });

  test('is not posted again when its score cannot be written at once', async () => {
    const rig = new Rig();
    rig.judged = [REFUSED];
    rig.outcomes = [UNAVAILABLE];
    const steps = await rig.runToEnd(createJob());
    expect(steps.map((step) => step.do)).toEqual(['wait', 'dead_letter']);
    expect(rig.log.filter((entry) => entry === 'post').length).toBe(1);
  });

  test('yields its letter alone where scores of refusals are not wanted', async () => {
    const rig = new Rig({ scoreOnRefusal: false });
    rig.judged = [REFUSED];
    expect(await rig.flow.run(createJob())).toMatchObject({ do: 'dead_letter' });
    expect(rig.log).toEqual(['post', 'note T1 {"do":"refused","partition":3}']);
  });

  test('keeps its own letter when its score can never be written', async () => {
    const rig = new Rig();
    rig.judged = [REFUSED];
    rig.outcomes = [refusedWrite('invalid')];
    expect(await rig.flow.run(createJob())).toMatchObject({ letter: { reason: 'status_422' } });
  });

  test('that may have been scored before is no reason to stop its updates', async () => {
    const rig = new Rig();
    rig.judged = [failed({ ambiguous: true, why: 'timed_out' }), REFUSED];
    const steps = await rig.runToEnd(createJob());
    expect(steps.at(-1)).toMatchObject({ letter: { reason: 'ambiguous_then_refused' } });
    expect(rig.mayBeScored).toEqual([false, true]);
    expect(rig.decided).toHaveLength(1);
    expect(rig.scores[0]).toMatchObject({
      attempts: 2,
      possibly_scored_before: true,
      failure: 'ambiguous_then_refused',
    });
    expect(rig.log.some((entry) => entry.startsWith('note'))).toBe(false);
  });
});

describe('a scored payment', () => {
  test('is published, then told to sync, then delivered', async () => {
    const rig = new Rig();
    expect(await rig.flow.run(createJob())).toEqual({ do: 'delivered' });
    expect(rig.log).toEqual(['post', 'write', `note T1 ${SCORED_FACT}`]);
    expect(rig.scores).toEqual([
      {
        account: 'eu shop',
        trans_id: 'T1',
        frg_trans_id: 'F1',
        decision: 'approve',
        decision_code: 1,
        score: 0.25,
        is_liable: null,
        liability_reason: null,
        validation_ok: null,
        validation_errors: null,
        signals: null,
        frg_device_id: null,
        http_status_code: 200,
        latency_ms: 12,
        attempts: 1,
        possibly_scored_before: false,
        failure: null,
        scored_at: Date.UTC(2026, 0, 1),
        source: { topic: 'payments.created', partition: 3, offset: 42 },
        extra: '{}',
      },
    ]);
  });

  test('is never posted again while its publication fails, and sync is told once, at the end', async () => {
    const rig = new Rig();
    rig.outcomes = [UNAVAILABLE, UNAVAILABLE, UNAVAILABLE];
    const steps = await rig.runToEnd(createJob());
    expect(steps.map((step) => (step.do === 'wait' ? [step.why, step.forMs, step.error] : step.do))).toEqual([
      ['kafka', 100, 'TimeoutError'],
      ['kafka', 200, 'TimeoutError'],
      ['kafka', 400, 'TimeoutError'],
      'delivered',
    ]);
    expect(rig.log).toEqual(['post', 'write', 'write', 'write', 'write', `note T1 ${SCORED_FACT}`]);
    expect(new Set(rig.written.map(({ headers }) => headers['ce_id'])).size).toBe(1);
  });

  test('is never posted again while the schema to write with is not known yet', async () => {
    const faults = [new Fault('REGISTRY_FAILED', 'not yet'), new Fault('REGISTRY_FAILED', 'not yet')];
    const rig = new Rig();
    const encode = (): Buffer => {
      const fault = faults.shift();
      if (fault !== undefined) throw fault;
      return Buffer.from('{}');
    };
    const late = new Rig({ output: { ...rig.output, encoder: { encode } } });
    const steps = await late.runToEnd(createJob());
    expect(steps.map((step) => (step.do === 'wait' ? step.why : step.do))).toEqual([
      'registry',
      'registry',
      'delivered',
    ]);
    expect(late.log.filter((entry) => entry === 'post').length).toBe(1);
  });

  test('that cannot be encoded becomes a letter, not another request', async () => {
    const rig = new Rig();
    const broken = new Rig({ output: { ...rig.output, encoder: { encode: failToEncode } } });
    const letter = { reason: 'connector_fault', stage: 'score', detail: 'score_record' };
    expect(await broken.flow.run(createJob())).toEqual({ do: 'dead_letter', letter });
  });

  test('is delivered without a record where none is wanted', async () => {
    const rig = new Rig({ output: null });
    expect(await rig.flow.run(createJob())).toEqual({ do: 'delivered' });
    expect(rig.log).toEqual(['post', `note T1 ${SCORED_FACT}`]);
  });

  test('is not published by a process that lost it meanwhile', async () => {
    const rig = new Rig();
    const tenure: MutableTenure = { epoch: 1, phase: 'owned' };
    rig.onScore = () => (tenure.phase = 'lost');
    expect(await rig.flow.run(createJob(tenure))).toEqual({ do: 'release' });
    expect(rig.log).toEqual(['post']);
  });

  test('goes without extra, then without signals, when it is too large; then it is a letter', async () => {
    const rig = new Rig();
    const signals = [{ category: 'user', id: 's', related_to: [], type: 'bad' }];
    const answer = { fraugster_approved: 1, rule_hits: [1], evidence: { signals } };
    rig.judged = [done(answer)];
    rig.outcomes = [refusedWrite('too_large'), refusedWrite('too_large'), refusedWrite('too_large')];
    const letter = { reason: 'record_too_large', stage: 'score', detail: 'score_record' };
    expect(await rig.flow.run(createJob())).toEqual({ do: 'dead_letter', letter });
    expect(rig.scores.map(({ extra, signals: kept }) => [extra, kept])).toEqual([
      ['{"rule_hits":[1]}', signals],
      ['{}', signals],
      ['{}', null],
    ]);
    expect(rig.events).toEqual([
      ['score_trimmed', { dropped: 'extra' }],
      ['score_trimmed', { dropped: 'signals' }],
    ]);
    expect(rig.log.at(-1)).toContain('note T1');
  });

  test('with an impossible decision is published as unknown and said', async () => {
    const rig = new Rig();
    rig.judged = [done({ fraugster_approved: 9 })];
    await rig.flow.run(createJob());
    expect(rig.scores[0]).toMatchObject({ decision: 'unknown', decision_code: 9, extra: '{"fraugster_approved":9}' });
    expect(rig.events).toEqual([['answer_unrecognised', { operation: 'score', field: 'fraugster_approved' }]]);
  });
});

describe('room', () => {
  test('is what the gate has free', () => {
    const rig = new Rig();
    rig.free = 5;
    expect(rig.flow.room(0)).toBe(5);
  });

  test('counts publications that run, but ends at twice the requests at once', async () => {
    const rig = new Rig({ concurrency: 2 });
    const ends: (() => void)[] = [];
    const slow = new Rig({
      concurrency: 2,
      output: {
        topic: 'fraud.scores',
        encoder: { encode: () => Buffer.alloc(0) },
        deadlineMs: 1,
        writer: {
          write: async () =>
            await new Promise<WriteOutcome>((resolve) => {
              ends.push(() => {
                resolve({ do: 'written', partition: 0, offset: 0n });
              });
            }),
        },
      },
    });
    expect(rig.flow.room(0)).toBe(4);
    const running = [1, 2, 3, 4].map(async () => await slow.flow.run(createJob()));
    expect(slow.flow.room(0)).toBe(0);
    await new Promise((resolve) => setImmediate(resolve));
    for (const end of ends) end();
    await Promise.all(running);
    expect(slow.flow.room(0)).toBe(4);
  });

  test('stays for scores that wait to be published, while nothing new is scored beside them', async () => {
    const rig = new Rig({ concurrency: 1 });
    rig.outcomes = [UNAVAILABLE, UNAVAILABLE];
    const tenure: MutableTenure = { epoch: 1, phase: 'owned' };
    const jobs = [createJob(tenure, createRecord({ offset: 1n })), createJob(tenure, createRecord({ offset: 2n }))];
    const steps = [];
    for (const job of jobs) steps.push(await rig.flow.run(job));
    const fresh = createJob(tenure, createRecord({ offset: 3n }));
    expect(rig.flow.mayStart(fresh, 0)).toBe('kafka');
    expect(rig.flow.room(0)).toBeGreaterThan(0);
    expect(await rig.flow.run(fresh)).toMatchObject({ do: 'wait', why: 'kafka' });
    expect(rig.log.filter((entry) => entry === 'post').length).toBe(2);
    const [step] = steps;
    if (jobs[0] === undefined || step?.do !== 'wait') throw new Error('the first publication should wait');
    expect(await rig.flow.run({ ...jobs[0], attempt: 2, carry: step.carry })).toEqual({ do: 'delivered' });
    expect(rig.flow.mayStart(fresh, 0)).toBeNull();
  });

  test('is given back by scores of a lost partition', async () => {
    const rig = new Rig({ concurrency: 1 });
    rig.outcomes = [UNAVAILABLE, UNAVAILABLE];
    const tenure: MutableTenure = { epoch: 1, phase: 'owned' };
    await rig.flow.run(createJob(tenure, createRecord({ offset: 1n })));
    await rig.flow.run(createJob(tenure, createRecord({ offset: 2n })));
    expect(rig.flow.mayStart(createJob(), 0)).toBe('kafka');
    tenure.phase = 'lost';
    expect(rig.flow.mayStart(createJob(), 0)).toBeNull();
  });

  test('is that of the service alone, whatever waits to be published: nobody is told of a service that is down', async () => {
    const rig = new Rig({ concurrency: 2 });
    rig.outcomes = [UNAVAILABLE];
    const tenure: MutableTenure = { epoch: 1, phase: 'owned' };
    await rig.flow.run(createJob(tenure, createRecord({ offset: 1n })));
    rig.free = 0;
    expect(rig.flow.room(0)).toBe(0);
    tenure.phase = 'lost';
    expect(rig.flow.room(0)).toBe(0);
  });
});

describe('a lane', () => {
  test('is the key, byte for byte, or the transaction where there is none', () => {
    expect(lane('key', Buffer.from('C1'))).toBe('C1');
    expect(lane('key', Buffer.from([0xff, 0xfe]))).not.toBe(lane('key', Buffer.from([0xfe, 0xff])));
    expect(lane('key', null)).toBe('T1');
    expect(lane('transaction', Buffer.from('C1'))).toBe('T1');
  });
});

function lane(ordering: 'key' | 'transaction', key: Buffer | null): string {
  const { item, record } = createJob(undefined, createRecord({ key }));
  return new Rig({ ordering }).flow.lane(item, record);
}

function failToEncode(): Buffer {
  throw new TypeError('invalid "long"');
}

describe('while calls may not go out', () => {
  test('a score that waits to be published is published all the same', async () => {
    const rig = new Rig();
    rig.outcomes = [UNAVAILABLE];
    const scored = createJob();
    const wait = await rig.flow.run(scored);
    rig.free = 0;
    const carry = wait.do === 'wait' ? wait.carry : undefined;
    expect(carry !== undefined && rig.flow.isAnswered(carry)).toBe(true);
    expect(await rig.flow.run({ ...scored, carry })).toEqual(DELIVERED);
    expect(rig.log.filter((line) => line === 'post')).toHaveLength(1);
  });
});
