import { describe, expect, test } from 'vitest';
import { Caller, type Judged } from '../../../src/resilience/caller.ts';
import { Floodgate } from '../../../src/resilience/floodgate.ts';
import { Gate } from '../../../src/resilience/gate.ts';
import { type Exchange } from '../../../src/resilience/ports.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const BODY = Buffer.from('{"trans_id":"T1"}');
const answer = (status: number, body: string | Buffer): Exchange => ({
  do: 'answer',
  status,
  retryAfterMs: null,
  body: Buffer.from(body),
  latencyMs: 12,
});
const callerOf = (score: (body: Buffer) => Promise<Exchange>, concurrency: number, gate?: Gate): Caller => {
  const clock = new ManualClock();
  return new Caller({ api: { score }, concurrency, gate: gate ?? gateOf(clock), clock });
};
const gateOf = (clock: ManualClock): Gate =>
  new Gate({ scope: 'scoring', floodgate: new Floodgate(0.05, 0), bucket: null, clock, emit: () => undefined });
const judged = async (exchange: Exchange, afterAmbiguous = false): Promise<Judged> =>
  await callerOf(async () => await Promise.resolve(exchange), 1).score(BODY, afterAmbiguous);

describe('the gate', () => {
  test('refuses to queue', async () => {
    const open: ((exchange: Exchange) => void)[] = [];
    const caller = callerOf(async () => await new Promise((resolve) => open.push(resolve)), 2);
    const running = [caller.score(BODY, false), caller.score(BODY, false)];
    expect(caller.free(0)).toBe(0);
    await expect(caller.score(BODY, false)).rejects.toMatchObject({ code: 'INTERNAL' });
    await settled();
    for (const end of open) end(answer(200, '{}'));
    await Promise.all(running);
    expect(caller.free(0)).toBe(2);
  });

  test('has given the slot back when the attempt is over', async () => {
    const caller = callerOf(async () => await Promise.resolve(answer(200, '{}')), 1);
    for (let n = 0; n < 3; n += 1) {
      expect((await caller.score(BODY, false)).do).toBe('done');
      expect(caller.free(0)).toBe(1);
    }
  });
});

test('hands on an answer that is an object', async () => {
  expect(await judged(answer(200, '{"score":0.5}'))).toEqual({
    do: 'done',
    status: 200,
    latencyMs: 12,
    answer: { score: 0.5 },
    body: Buffer.from('{"score":0.5}'),
  });
  expect((await judged(answer(200, '\uFEFF{"score":0.5}'))).do).toBe('done');
});

test.each([
  ['nothing', ''],
  ['a list', '[]'],
  ['null', 'null'],
  ['HTML', '<html>'],
  ['half an object', '{"score":'],
  ['broken UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
])('holds when a 200 brings %s, which may have been a score', async (_name, body) => {
  expect(await judged(answer(200, body))).toMatchObject({ do: 'hold', why: 'no_object', ambiguous: true });
});

test.each(['broken', { code: 1 }, true, 7])('retries when a 200 brings error_msg %j', async (message) => {
  const body = JSON.stringify({ score: 0.5, error_msg: message });
  expect(await judged(answer(200, body))).toMatchObject({ do: 'retry', counts: 'error_msg', ambiguous: false });
});

test.each(['', null, false])('takes error_msg %j for none', async (message) => {
  expect((await judged(answer(200, JSON.stringify({ error_msg: message })))).do).toBe('done');
});

test('cuts the error_msg of a refusal, far behind what a letter keeps of it', async () => {
  const refused = await judged(answer(400, JSON.stringify({ error_msg: 'x'.repeat(10_000) })));
  expect(refused).toMatchObject({ do: 'refuse', why: 'status_400', status: 400, errorMessage: 'x'.repeat(4096) });
});

test.each([
  [500, true],
  [502, true],
  [503, false],
  [504, true],
  [429, false],
  [404, false],
])('knows whether a %i leaves it open that the transaction was scored: %s', async (status, ambiguous) => {
  expect(await judged(answer(status, ''))).toMatchObject({ ambiguous });
});

test('remembers that an earlier attempt may have been carried out', async () => {
  expect(await judged(answer(409, '{}'), true)).toMatchObject({ do: 'refuse', why: 'ambiguous_then_refused' });
});

test.each(['timeout', 'connect', 'reset', 'protocol'] as const)('retries after %s without counting it', async (why) => {
  const verdict = await judged({ do: 'failed', why, ambiguous: why !== 'connect' });
  expect(verdict).toMatchObject({ do: 'retry', why, counts: null, ambiguous: why !== 'connect', status: null });
});

test('holds at an answer beyond every bound', async () => {
  const verdict = await judged({ do: 'failed', why: 'oversized', ambiguous: true });
  expect(verdict).toMatchObject({ do: 'hold', ambiguous: true });
});

test('passes on that there was no session or no leave to write', async () => {
  expect(await judged({ do: 'fenced' })).toEqual({ do: 'fenced' });
  const none: Exchange = { do: 'no_session', why: 'credentials_refused', retryMs: 5 };
  expect(await judged(none)).toEqual(none);
});
