import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, inject, test } from 'vitest';
import { type OddAnswer, oddBody, oddPrefix, oddRules, oddStatus } from '../support/odd-answers.ts';
import { headerTexts } from '../support/topic-log.ts';
import { expectNothingTold, StruckWorld } from './struck-world.ts';

const GOOD = 240;
/** By the reason of the dead letter that each comes to. */
const ODD: Readonly<Record<string, OddAnswer>> = {
  ...Object.fromEntries(
    [301, 307, 400, 401, 402, 403, 404, 405, 410, 418, 422, 451, 500, 501, 502, 503, 504, 599].map((code) => [
      `status_${String(code)}`,
      oddStatus(code),
    ]),
  ),
  error_msg: { answer: { as: 'error_msg' } },
  unusable_answer: oddBody(200, 'not_object'),
  connection_failed: { resetBeforeShare: 1 },
  timed_out: { answer: { as: 'hang' } },
};

let struck: StruckWorld;
afterEach(async () => {
  await struck.close();
});

test('payments that always get an odd answer, one of each kind, keep nobody else waiting, and each ends under its name', async () => {
  const env = { DEAD_LETTER_MAX_SHARE: '0.5', SCORING_MAX_ATTEMPTS: '3', SCORING_REFUSE_AFTER_MS: '2000' };
  struck = await StruckWorld.open({ ...inject('kafka'), env });
  const { world } = struck;
  const ids = new Map(Object.keys(ODD).map((kind) => [kind, `${oddPrefix(kind)}1`]));
  world.service.faults.set({ rules: oddRules(ODD) });
  await struck.scored(...(await struck.pay(20)));
  await world.send(world.topics.created, ...[...ids.values()].map((id) => struck.payment(id)));
  const beganMs = performance.now();
  await struck.scored(...(await struck.pay(GOOD)));
  expect(performance.now() - beganMs).toBeLessThan(10_000);
  // A failure proves something only while others succeed.
  for (let n = 0; n < 150 && struck.reasons.length < ids.size; n += 1) {
    await struck.scored(...(await struck.pay(5)));
    await sleep(100);
  }
  expect(struck.reasons.toSorted()).toEqual([...ids.keys()].toSorted());
  for (const [kind, id] of ids)
    expect(headerTexts(await struck.letterOf('created', id))).toMatchObject({
      'dlq.reason': kind,
      'dlq.stage': 'score',
    });
  await expectNothingTold(struck);
}, 120_000);

test('headers without a value, which Kafka allows, pass through: to the service, and into a dead letter', async () => {
  struck = await StruckWorld.open(inject('kafka'));
  const { world } = struck;
  const headers = { traceparent: null, tracestate: [null, null], note: null, notes: [null, 'x'] };
  const [good, bad] = ['no-values', 'no-values-unreadable'];
  await world.send(
    world.topics.created,
    { ...struck.payment(good), headers },
    { key: bad, value: 'this is no JSON', headers },
  );
  await struck.scored(good, ...(await struck.pay(5)));
  const letter = await struck.letterOf('created', bad);
  expect(letter.headers).toMatchObject({ traceparent: null, note: null });
}, 120_000);

test('after a kill -9 a service that answers 409 to what it knows is no reason to wait: each payment ends, and is scored once', async () => {
  struck = await StruckWorld.open({ ...inject('kafka'), env: { COMMIT_INTERVAL_MS: '5000' } });
  const { world } = struck;
  world.service.faults.set({ conflictOnRepeat: true, latencyMs: 20 });
  const ids = await struck.pay(400);
  await struck.scored(...ids.slice(0, 50));
  await struck.kill();
  await struck.scored(...ids, ...(await struck.pay(50)));
  expect(struck.ledger.summary().repeatedScorings).toBe(0);
  expect(struck.reasons).toEqual([]);
  expect(await struck.connector.outcome('scoring', 'skip:already_scored')).toBeGreaterThan(0);
}, 120_000);
