import { describe, expect, test } from 'vitest';
import { type Attempted, Caller, type ScoringAttempt } from '../../../src/resilience/caller.ts';
import { type EndedCall, Gate } from '../../../src/resilience/gate.ts';
import { type Exchange } from '../../../src/resilience/ports.ts';
import { buildAttribution } from '../../support/attribution-builder.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const BODY = Buffer.from('{"trans_id":"T1"}');
const ATTEMPT: ScoringAttempt = {
  key: 'cust-1',
  isFirst: true,
  record: { topic: 'payments.created', partition: 0, offset: 7n },
  mayBeScored: false,
};
const answer = (status: number, body: string | Buffer, retryAfterMs: number | null = null): Exchange => ({
  do: 'answer',
  status,
  retryAfterMs,
  body: Buffer.from(body),
  latencyMs: 12,
});

interface Bench {
  readonly caller: Caller;
  /** What the gate was told. */
  readonly ended: EndedCall[];
}

function bench(score: (isRepeat: boolean) => Promise<Exchange>, concurrency = 1): Bench {
  const clock = new ManualClock();
  const attribution = buildAttribution();
  const gate = new Gate({ scope: 'scoring', attribution, bucket: null, clock, emit: () => undefined });
  const ended: EndedCall[] = [];
  const caller = new Caller({
    api: { score: async (_body, _headers, isRepeat) => await score(isRepeat === true) },
    concurrency,
    gate: {
      room: (nowMs) => gate.room(nowMs),
      begin: (nowMs) => gate.begin(nowMs),
      end: (pass, call) => {
        ended.push(call);
        gate.end(pass, call);
      },
    },
    clock,
  });
  return { caller, ended };
}

const judged = async (exchange: Exchange, attempt: Partial<ScoringAttempt> = {}): Promise<Attempted> =>
  await bench(async () => await Promise.resolve(exchange)).caller.score(BODY, { ...ATTEMPT, ...attempt });

describe('the gate', () => {
  test('refuses to queue', async () => {
    const open: ((exchange: Exchange) => void)[] = [];
    const { caller } = bench(async () => await new Promise((resolve) => open.push(resolve)), 2);
    const running = [caller.score(BODY, ATTEMPT), caller.score(BODY, ATTEMPT)];
    expect(caller.free(0)).toBe(0);
    await expect(caller.score(BODY, ATTEMPT)).rejects.toMatchObject({ code: 'INTERNAL' });
    await settled();
    for (const end of open) end(answer(200, '{}'));
    await Promise.all(running);
    expect(caller.free(0)).toBe(2);
  });

  test('has given the slot back when the attempt is over', async () => {
    const { caller } = bench(async () => await Promise.resolve(answer(200, '{}')));
    for (let n = 0; n < 3; n += 1) {
      expect((await caller.score(BODY, ATTEMPT)).do).toBe('done');
      expect(caller.free(0)).toBe(1);
    }
  });

  test.each<[string, Exchange, Partial<ScoringAttempt>, Partial<EndedCall>]>([
    ['a score', answer(200, '{}'), {}, { end: { do: 'ok' }, delivered: 1 }],
    ['409, where it is to be expected', answer(409, '{}'), { mayBeScored: true }, { end: { do: 'ok' }, delivered: 0 }],
    ['409', answer(409, '{}'), {}, { end: { do: 'refused', cause: 'service_refuses' }, delivered: 0 }],
    ['422', answer(422, '{}'), {}, { end: { do: 'refused', cause: 'service_refuses' } }],
    ['403', answer(403, '{}'), {}, { end: { do: 'failed', cause: 'service_refuses' } }],
    ['429', answer(429, '{}', 5), {}, { end: { do: 'failed', cause: 'service_down' } }],
    ['500', answer(500, '{}'), {}, { end: { do: 'failed', cause: 'service_down' } }],
    ['nothing sent', { do: 'fenced' }, {}, { end: { do: 'void' } }],
  ])('learns of %s what it says of the service', async (_what, exchange, attempt, told) => {
    const { caller, ended } = bench(async () => await Promise.resolve(exchange));
    await caller.score(BODY, { ...ATTEMPT, ...attempt });
    const { key, record } = ATTEMPT;
    expect(ended).toMatchObject([{ key, isFirst: true, record, ...told }]);
  });

  test('a repeat is known as one, to the service client, too', async () => {
    const repeats: boolean[] = [];
    const { caller, ended } = bench(async (isRepeat) => {
      repeats.push(isRepeat);
      return await Promise.resolve(answer(200, '{}'));
    });
    await caller.score(BODY, ATTEMPT);
    await caller.score(BODY, { ...ATTEMPT, isFirst: false });
    expect([repeats, ended.map(({ isFirst }) => isFirst)]).toEqual([
      [false, true],
      [true, false],
    ]);
  });
});

test('hands on an answer that is an object', async () => {
  const body = Buffer.from('{"score":0.5}');
  const done = { do: 'done', status: 200, latencyMs: 12, answer: { score: 0.5 }, body };
  expect(await judged(answer(200, body))).toEqual(done);
  expect((await judged(answer(200, '\uFEFF{"score":0.5}'))).do).toBe('done');
  expect((await judged(answer(201, '{"score":0.5}'))).do).toBe('done');
});

test.each([
  ['nothing', ''],
  ['a list', '[]'],
  ['null', 'null'],
  ['HTML', '<html>'],
  ['half an object', '{"score":'],
  ['broken UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
])('cannot use a 200 that brings %s, which may have been a score', async (_name, body) => {
  expect(await judged(answer(200, body))).toMatchObject({ do: 'failed', why: 'unusable_answer', ambiguous: true });
});

test.each(['broken', { code: 1 }, true, 7])('takes a 200 with error_msg %j for a failure', async (message) => {
  const body = JSON.stringify({ score: 0.5, error_msg: message });
  expect(await judged(answer(200, body))).toMatchObject({ do: 'failed', why: 'error_msg', ambiguous: false });
});

test.each(['', null, false])('takes error_msg %j for none', async (message) => {
  expect((await judged(answer(200, JSON.stringify({ error_msg: message })))).do).toBe('done');
});

test('cuts the error_msg of a refusal, far behind what a letter keeps of it', async () => {
  const refused = await judged(answer(400, JSON.stringify({ error_msg: 'x'.repeat(10_000) })));
  expect(refused).toMatchObject({ do: 'refused', why: 'status_400', status: 400, errorMessage: 'x'.repeat(4096) });
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

test('a 409 says that the payment is scored where that is to be expected, and else refuses the record', async () => {
  expect(await judged(answer(409, '{}'), { mayBeScored: true })).toMatchObject({ do: 'already_scored', status: 409 });
  expect(await judged(answer(409, '{}'))).toMatchObject({ do: 'refused', why: 'status_409' });
});

test('a 400 is a refusal, also where the payment may have been scored', async () => {
  expect(await judged(answer(400, '{}'), { mayBeScored: true })).toMatchObject({ do: 'refused', why: 'status_400' });
});

test('a 429 says for how long', async () => {
  expect(await judged(answer(429, '', 7_000))).toMatchObject({ do: 'rate_limited', why: 'status_429', afterMs: 7_000 });
});

test.each([
  ['timeout', 'timed_out'],
  ['connect', 'connection_failed'],
  ['reset', 'connection_failed'],
  ['protocol', 'connection_failed'],
] as const)('calls %s %s', async (failed, why) => {
  const verdict = await judged({ do: 'failed', why: failed, ambiguous: failed !== 'connect' });
  expect(verdict).toMatchObject({ do: 'failed', why, ambiguous: failed !== 'connect', status: null });
});

test('cannot use an answer beyond every bound', async () => {
  const verdict = await judged({ do: 'failed', why: 'oversized', ambiguous: true });
  expect(verdict).toMatchObject({ do: 'failed', why: 'unusable_answer', ambiguous: true });
});

test.each([
  [404, 'service_refuses'],
  [302, 'service_refuses'],
  [200, 'service_refuses'],
  [408, 'service_down'],
  [500, 'service_down'],
] as const)('where it is not the record that is at fault, a %i means %s', async (status, cause) => {
  expect(await judged(answer(status, ''))).toMatchObject({ cause });
});

test('passes on that there was no session or no leave to write', async () => {
  expect(await judged({ do: 'fenced' })).toEqual({ do: 'fenced' });
  const none: Exchange = { do: 'no_session', why: 'credentials_refused', retryMs: 5 };
  expect(await judged(none)).toEqual(none);
});
