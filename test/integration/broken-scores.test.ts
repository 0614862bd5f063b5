import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type BrokenAnswerName } from '../../src/sandbox/service/broken-answers.ts';
import { eventually } from '../support/eventually.ts';
import { headerTexts } from '../support/topic-log.ts';
import { expectAllSettled, expectNothingTold, StruckWorld } from './struck-world.ts';

let struck: StruckWorld;

beforeAll(async () => {
  // Many dead letters on purpose: the guard has tests of its own.
  struck = await StruckWorld.open({ ...inject('kafka'), env: { DEAD_LETTER_MAX_SHARE: '1' } });
});
afterAll(async () => {
  await struck.close();
});

/** Answers after which nobody knows whether the payment was scored. */
const USELESS: readonly BrokenAnswerName[] = [
  'hang',
  'close',
  'truncated',
  'length_long',
  'length_short',
  'not_http',
  'html',
  'empty',
  'no_content',
  'garbage',
  'invalid_json',
  'not_object',
  'gzip',
  'gzip_bomb',
  'huge_body',
  'huge_headers',
];

describe('an answer to a payment', () => {
  test.for(USELESS)(
    'that nobody can use is asked for again, and the score says that there may be two: %s',
    async (as) => {
      const score = await struck.strikePayment({ answer: { as } });
      expect(score).toMatchObject({ attempts: 2, possibly_scored_before: true, http_status_code: 200, failure: null });
      expect(score.decision).not.toBe('unknown');
    },
  );

  test('with an error_msg and 200 is never a decision: it is asked for again', async () => {
    const score = await struck.strikePayment({ answer: { as: 'error_msg' } }, 2);
    expect(score).toMatchObject({ attempts: 3, possibly_scored_before: false, decision: 'approve', failure: null });
  });

  test.for(['bom', 'wrong_type', 'gzip_broken'] as const)('is taken by what its body is: %s', async (as) => {
    const score = await struck.strikePayment({ answer: { as } });
    expect(score).toMatchObject({ attempts: 1, decision: 'approve' });
  });

  test.for([
    ['decision_9', { decision: 'unknown', decision_code: 9 }],
    ['decision_text', { decision: 'unknown', decision_code: null }],
    ['decision_missing', { decision: 'unknown', decision_code: null }],
    ['score_null', { decision: 'approve', score: null }],
    ['score_7', { decision: 'approve', score: null }],
    ['score_negative', { decision: 'approve', score: null }],
    ['score_text', { decision: 'approve', score: null }],
    ['id_missing', { decision: 'approve', frg_trans_id: null }],
  ] as const)('with an impossible value is published without it, never as an approval: %s', async ([as, expected]) => {
    expect(await struck.strikePayment({ answer: { as } })).toMatchObject({ attempts: 1, ...expected });
  });

  test('with another frg_trans_id than the service keeps, and with fields nobody knows, is published as it came', async () => {
    const other = await struck.strikePayment({ answer: { as: 'id_other' } });
    expect(other.frg_trans_id).not.toBe(struck.seen(other.trans_id)?.frgTransId);
    const unknown = await struck.strikePayment({ answer: { as: 'unknown_fields' } });
    expect(Object.keys(JSON.parse(unknown.extra) as object).length).toBeGreaterThan(0);
    expect(unknown.decision).toBe('approve');
  });

  test('that finds fault with datapoints is a score with its remarks', async () => {
    const [id = ''] = await struck.pay(1, { bill_ad_ctry: 'Germany' });
    const score = await struck.scoreOf(id);
    expect(score).toMatchObject({ decision: 'approve', validation_ok: false, failure: null });
    expect(score.validation_errors).toMatchObject([{ datapoint: 'bill_ad_ctry' }]);
  });

  test.for([
    ['slow headers', { slowHeadersMs: 3000 }],
    ['a slow body', { slowBodyMs: 3000 }],
    ['a dripping body', { dripMs: 200 }],
    ['a slow answer', { latencyMs: 3000 }],
  ] as const)('that takes longer than the whole attempt may is given up: %s', async ([, fault]) => {
    const score = await struck.strikePayment(fault);
    expect(score).toMatchObject({ attempts: 2, possibly_scored_before: true });
  });

  test('that is slow for one payment in ten costs none of them', async () => {
    struck.world.service.faults.set({
      latencyShape: { kind: 'bimodal', fastMs: 5, slowMs: 5000, slowShare: 0.1 },
      forMs: 1500,
    });
    const ids = await struck.pay(100);
    await struck.scored(...ids);
    struck.world.service.faults.set({});
    const scores = await Promise.all(ids.map(async (id) => await struck.scoreOf(id)));
    expect(scores.filter(({ failure }) => failure !== null)).toEqual([]);
  });
});

describe('a status', () => {
  test.for([301, 302, 307, 308])('%i leads nowhere: the redirect is not followed, the payment waits', async (code) => {
    const score = await struck.strikePayment({ status: { code, location: 'elsewhere' } });
    expect(score).toMatchObject({ attempts: 2, http_status_code: 200 });
    expect(struck.ledger.summary().redirectsFollowed).toBe(0);
  });

  test('201 with a score is as good as 200', async () => {
    const score = await struck.strikePayment({ status: { code: 201 }, answer: { as: 'right' } });
    expect(score).toMatchObject({ attempts: 1, failure: null, http_status_code: 201 });
  });

  test('201 without one is no letter: the payment waits', async () => {
    const score = await struck.strikePayment({ status: { code: 201 } });
    expect(score).toMatchObject({ attempts: 2, failure: null, http_status_code: 200 });
  });

  test.for([402, 403, 404, 405, 406, 410, 418, 451])('%i is no letter: the payment waits', async (code) => {
    const score = await struck.strikePayment({ status: { code } });
    expect(score).toMatchObject({ attempts: 2, http_status_code: 200, failure: null });
  });

  test.for([
    [408, false],
    [425, false],
    [429, false],
    [500, true],
    [501, false],
    [502, true],
    [503, false],
    [504, true],
    [599, false],
  ] as const)('%i is tried again; whether it may have been scored: %s', async ([code, maybe]) => {
    const score = await struck.strikePayment({ status: { code } });
    expect(score).toMatchObject({ attempts: 2, possibly_scored_before: maybe, failure: null });
  });

  test.for([400, 413, 422])(
    '%i is a letter with the words of the service, and a score that says it failed',
    async (code) => {
      const score = await struck.strikePayment({ status: { code } });
      const reason = `status_${String(code)}`;
      expect(score).toMatchObject({ attempts: 1, decision: 'unknown', failure: reason, http_status_code: code });
      const letter = headerTexts(await struck.letterOf('created', score.trans_id));
      expect(letter).toMatchObject({ 'dlq.reason': reason, 'dlq.stage': 'score', 'dlq.http_status': String(code) });
      expect(letter['dlq.service_error']).toBe('a fault of the sandbox');
    },
  );

  test.for([400, 422])('%i after an attempt without an answer says that the payment may be scored', async (code) => {
    const id = struck.newId();
    const only = { transIds: [id] };
    struck.world.service.faults.set({
      rules: [
        { only, next: 1, answer: { as: 'close', carriedOut: true } },
        { only, next: 1, status: { code } },
      ],
    });
    await struck.world.send(struck.world.topics.created, struck.payment(id));
    expect(headerTexts(await struck.letterOf('created', id))['dlq.reason']).toBe('ambiguous_then_refused');
    expect(await struck.scoreOf(id)).toMatchObject({ possibly_scored_before: true, decision: 'unknown' });
    expect(struck.seen(id)?.scored).toBe(1);
    // The service may know it, so its status is told all the same.
    await struck.report(id);
    await struck.reported(id);
    struck.world.service.faults.set({});
  });

  test('409 after an attempt without an answer ends the payment: the service knows it, and its decision is lost', async () => {
    const id = struck.newId();
    const only = { transIds: [id] };
    struck.world.service.faults.set({
      rules: [
        { only, next: 1, answer: { as: 'close', carriedOut: true } },
        { only, next: 1, status: { code: 409 } },
      ],
    });
    await struck.world.send(struck.world.topics.created, struck.payment(id));
    const score = await struck.scoreOf(id);
    expect(score).toMatchObject({ failure: 'already_scored', decision: 'unknown', http_status_code: 409 });
    expect(struck.seen(id)?.scored).toBe(1);
    await struck.report(id);
    await struck.reported(id);
    struck.world.service.faults.set({});
  });

  test('503 that says when to come again is believed, seconds or date; what cannot be read is not', async () => {
    const codes = ['1', '0', '-1', 'soon', '1.5.2026'];
    const ids = codes.map(() => struck.newId());
    const dated = struck.newId();
    const rules = [
      ...codes.map((retryAfter, n) => ({
        only: { transIds: [ids[n] ?? ''] },
        next: 1,
        status: { code: 503, retryAfter },
      })),
      { only: { transIds: [dated] }, next: 1, status: { code: 503, retryAfterDateSeconds: 3 } },
    ];
    struck.world.service.faults.set({ rules });
    const sentMs = performance.now();
    await struck.world.send(struck.world.topics.created, ...[...ids, dated].map((id) => struck.payment(id)));
    const afterMs = async (id: string): Promise<number> => {
      await struck.scored(id);
      return performance.now() - sentMs;
    };
    const waited = await Promise.all([...ids, dated].map(afterMs));
    expect(waited[0]).toBeGreaterThan(1000);
    expect(waited[5]).toBeGreaterThan(1500);
    struck.world.service.faults.set({});
  });
});

describe('a connection', () => {
  test.for([
    ['before the payment is scored', { resetBeforeShare: 1 }],
    ['after it was scored', { resetShare: 1 }],
  ] as const)('that is reset %s is a score that may be the second', async ([, fault]) => {
    expect(await struck.strikePayment(fault)).toMatchObject({ attempts: 2, possibly_scored_before: true });
  });

  test.for([
    ['is refused', { refuseConnectionsMs: 700 }],
    ['is closed as soon as it is made', { dropConnectionsMs: 700 }],
    ['ends after each answer, unsaid', { closeAfterAnswer: 'unsaid' }],
    ['ends after each answer, said', { closeAfterAnswer: 'said' }],
  ] as const)('that %s costs no payment', async ([, fault]) => {
    struck.world.service.faults.set(fault);
    const ids = await struck.pay(15);
    await struck.scored(...ids);
    struck.world.service.faults.set({});
    const scores = await Promise.all(ids.map(async (id) => await struck.scoreOf(id)));
    for (const { failure, attempts, possibly_scored_before: maybe } of scores)
      expect([failure, maybe && attempts === 1]).toEqual([null, false]);
  });

  test('that is never answered, for all payments at once, is bounded; they are scored when it is', async () => {
    struck.world.service.faults.set({ answer: { as: 'hang' } });
    const ids = await struck.pay(150);
    await eventually('a hold names it', async () =>
      ((await struck.connector.status())?.holds ?? []).some(({ cause }) => cause === 'service_down'),
    );
    expect((await struck.connector.flow('scoring'))?.inFlight).toBeLessThanOrEqual(64);
    struck.world.service.faults.set({});
    await struck.scored(...ids);
  });
});

test('in all of this nothing was lost or out of order, each letter was meant, and nothing was told of what was in it', async () => {
  await expectAllSettled(struck);
  const expected = ['status_400', 'status_413', 'status_422', 'ambiguous_then_refused', 'ambiguous_then_refused'];
  expect(struck.reasons.toSorted()).toEqual(expected.toSorted());
  await expectNothingTold(struck);
});
