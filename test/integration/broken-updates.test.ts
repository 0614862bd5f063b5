import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type BrokenAnswerName } from '../../src/sandbox/service/broken-answers.ts';
import { oddStatus, type OddAnswer } from '../support/odd-answers.ts';
import { headerTexts } from '../support/topic-log.ts';
import { expectAllSettled, expectNothingTold, StruckWorld } from './struck-world.ts';

let struck: StruckWorld;

beforeAll(async () => {
  struck = await StruckWorld.open({ ...inject('kafka'), env: { DEAD_LETTER_MAX_SHARE: '1' } });
});
afterAll(async () => {
  await struck.close();
});

/** The same update of a payment, at the service. */
const timesReported = (id: string): number => struck.seen(id)?.updateCount ?? 0;

describe('an answer to a batch', () => {
  test.for(['hang', 'close', 'truncated', 'length_long', 'not_http', 'huge_body', 'huge_headers'] as const)(
    'that is none is asked for again: %s',
    async (as) => {
      const id = await struck.strikeUpdate({ answer: { as, carriedOut: true } });
      expect(timesReported(id)).toBe(2);
    },
  );

  const UNKNOWN: readonly BrokenAnswerName[] = ['html', 'garbage', 'invalid_json', 'not_object', 'gzip'];
  test.for([...UNKNOWN, 'empty', 'no_content', 'wrong_type', 'bom'] as const)(
    'of success is one, whatever its body is: nothing is sent twice: %s',
    async (as) => {
      expect(timesReported(await struck.strikeUpdate({ answer: { as } }))).toBe(1);
    },
  );

  test('with an error_msg and 200 is no acceptance: it is sent again', async () => {
    expect(timesReported(await struck.strikeUpdate({ answer: { as: 'error_msg' } }, 2))).toBe(1);
  });

  test.for([
    ['slow headers', { slowHeadersMs: 3000 }],
    ['a dripping body', { answer: { as: 'html' }, dripMs: 200 }],
    ['a slow answer', { latencyMs: 3000 }],
  ] as const)('that takes too long is given up, and the batch sent again: %s', async ([, fault]) => {
    expect(timesReported(await struck.strikeUpdate(fault))).toBe(2);
  });

  test.for([408, 429, 500, 502, 503, 504])('%i is tried again', async (code) => {
    expect(timesReported(await struck.strikeUpdate({ status: { code } }))).toBe(1);
  });

  test.for([301, 307, 403, 404, 405, 409])('%i is no letter where it comes once', async (code) => {
    const fault = { status: { code, ...(code < 400 ? { location: 'elsewhere' } : {}) } };
    expect(timesReported(await struck.strikeUpdate(fault))).toBe(1);
  });

  test.for([
    ['before it is carried out', { resetBeforeShare: 1 }, 1],
    ['after it is carried out', { resetShare: 1 }, 2],
  ] as const)('that is a reset connection is sent again: %s', async ([, fault, times]) => {
    expect(timesReported(await struck.strikeUpdate(fault))).toBe(times);
  });

  test('that says the token is over is one login, and the batch is sent again', async () => {
    const { logins } = struck.ledger.summary();
    expect(timesReported(await struck.strikeUpdate({ answer: { as: 'token_expired' } }))).toBe(1);
    expect(struck.ledger.summary().logins).toBe(logins + 1);
  });
});

describe('a refusal', () => {
  test.for(['error_msg', 'ok_false', 'errors'] as const)(
    'under the id of an update is its letter alone: %s',
    async (form) => {
      const [culprit = '', ...mates] = await struck.pay(4);
      await struck.scored(culprit, ...mates);
      struck.world.service.faults.set({ patchPerId: { transIds: [culprit], form, code: 207 } });
      await struck.report(...mates, culprit);
      const letter = headerTexts(await struck.letterOf('authorized', culprit));
      expect(letter).toMatchObject({
        'dlq.reason': 'rejected_by_service',
        'dlq.stage': 'sync',
        'dlq.http_status': '207',
      });
      await struck.reported(...mates);
      struck.world.service.faults.set({});
      expect(mates.map(timesReported)).toEqual([1, 1, 1]);
    },
  );

  test('of a body as too large makes smaller ones, and no letter', async () => {
    const ids = await struck.pay(40);
    await struck.scored(...ids);
    struck.world.service.faults.set({ maxRequestBytes: 1500 });
    await struck.report(...ids);
    await struck.reported(...ids);
    struck.world.service.faults.set({});
    expect(new Set(ids.map(timesReported))).toEqual(new Set([1]));
    expect(struck.connector.said('batch_split').length).toBeGreaterThan(0);
  });

  test.for([413, 422])('%i of a batch is searched for its culprit, and its mates are sent', async (code) => {
    const ids = await struck.pay(21);
    await struck.scored(...ids);
    const [culprit = '', another = '', ...mates] = ids;
    const { batches } = struck.ledger.summary();
    struck.world.service.faults.set({
      rules: [{ operations: ['sync'], only: { transIds: [culprit] }, status: { code } }],
    });
    await struck.report(culprit, ...mates);
    await struck.reported(...mates);
    // Where it was found last, nothing has been accepted since.
    await struck.report(another);
    const letter = headerTexts(await struck.letterOf('authorized', culprit));
    expect(letter).toMatchObject({ 'dlq.reason': `status_${String(code)}`, 'dlq.stage': 'sync' });
    await struck.reported(another);
    struck.world.service.faults.set({});
    expect(timesReported(culprit)).toBe(0);
    // Two batches at most hold the twenty, one culprit costs 2·⌈log2 20⌉ calls, and goes alone a few times.
    expect(struck.ledger.summary().batches - batches).toBeLessThanOrEqual(20);
  });
});

test('in all of this nothing was lost or out of order, each letter was meant, and nothing was told of what was in it', async () => {
  await expectAllSettled(struck);
  const expected = [...Array<string>(3).fill('rejected_by_service'), 'status_413', 'status_422'];
  expect(struck.reasons.toSorted()).toEqual(expected.toSorted());
  await expectNothingTold(struck);
});

describe('an id that always gets the same answer', () => {
  const ODD: Readonly<Record<string, OddAnswer>> = {
    ...Object.fromEntries([301, 401, 403, 404, 409, 410, 500, 503].map((code) => [`status_${code}`, oddStatus(code)])),
    error_msg: { answer: { as: 'error_msg' } },
    connection_failed: { resetBeforeShare: 1 },
    timed_out: { answer: { as: 'hang' } },
  };
  const GOOD = 150;
  let odd: StruckWorld;

  beforeAll(async () => {
    const env = { DEAD_LETTER_MAX_SHARE: '0.5', SCORING_MAX_ATTEMPTS: '3', SCORING_REFUSE_AFTER_MS: '2000' };
    odd = await StruckWorld.open({ ...inject('kafka'), env });
  });
  afterAll(async () => {
    await odd.close();
  });

  test('ends with the name of that answer, and all others are delivered', async () => {
    const kinds = Object.keys(ODD);
    const ids = await odd.pay(GOOD + kinds.length);
    await odd.scored(...ids);
    const culprits = new Map(kinds.map((kind, index) => [kind, ids[index] ?? '']));
    const good = ids.slice(kinds.length);
    const rules = [...culprits].map(([kind, id]) =>
      Object.assign({ operations: ['sync' as const], only: { transIds: [id] } }, ODD[kind]),
    );
    odd.world.service.faults.set({ rules });
    await odd.report(...good.slice(0, 60), ...culprits.values());
    // A failure proves something only while others are accepted.
    const missing = (): number => kinds.length - odd.reasons.length;
    for (let next = 60; next < GOOD && missing() > 0; next += 3) {
      await odd.report(...good.slice(next, next + 3));
      await odd.reported(...good.slice(next, next + 3));
    }
    for (const [kind, id] of culprits)
      expect(headerTexts(await odd.letterOf('authorized', id))).toMatchObject({
        'dlq.reason': kind,
        'dlq.stage': 'sync',
      });
    await odd.reported(...good.slice(0, 60));
    odd.world.service.faults.set({});
    expect(odd.reasons.toSorted()).toEqual(kinds.toSorted());
    await expectAllSettled(odd, { hangs: true });
    await expectNothingTold(odd);
  }, 120_000);
});
