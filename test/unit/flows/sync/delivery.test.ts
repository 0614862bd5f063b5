import { describe, expect, test } from 'vitest';
import { type UpdateEnd } from '../../../../src/flows/sync/batch.ts';
import { Delivery } from '../../../../src/flows/sync/delivery.ts';
import { UNTRIED, type UpdateState } from '../../../../src/flows/sync/search.ts';
import { type Gate } from '../../../../src/resilience/gate.ts';
import { type Exchange } from '../../../../src/resilience/ports.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { answer, gateOf, idsOf, listener, member, owned, type Said } from './builders.ts';

type Service = (ids: readonly string[]) => Exchange;

class Bench {
  readonly clock = new ManualClock();
  readonly gate: Gate;
  readonly calls: string[] = [];
  readonly repeats: boolean[] = [];
  readonly said: Said[];
  readonly tooLarge: number[] = [];
  /** What each update has been through. */
  readonly states = new Map<string, UpdateState>();
  service: Service = () => answer(200);
  readonly #delivery: Delivery;

  constructor(change: { readonly believesRefusals?: boolean } = {}) {
    const { said, emit } = listener();
    this.said = said;
    this.gate = gateOf(this.clock, emit);
    const sync = (body: Buffer, _headers?: readonly string[], isRepeat = false): Promise<Exchange> => {
      const ids = idsOf(body.toString());
      this.calls.push(ids.join(''));
      this.repeats.push(isRepeat);
      return Promise.resolve(this.service(ids));
    };
    this.#delivery = new Delivery({
      api: { sync },
      gate: this.gate,
      limits: { maxRecords: 10, maxBytes: 100 },
      clock: this.clock,
      emit,
      failingFill: () => 0,
      onTooLarge: (bytes) => void this.tooLarge.push(bytes),
      onAccepted: () => undefined,
      ...change,
    });
  }

  /** How each of these one-letter ids ended. */
  async send(ids: string, mayGoOn: () => boolean = () => true): Promise<Record<string, UpdateEnd | undefined>> {
    const members = ids.split('').map((id) => member(id, owned(), this.states.get(id) ?? UNTRIED));
    await this.sendMembers(members, mayGoOn);
    if (members.some(({ ends }) => ends.length !== 1)) throw new Error('an update has not ended once');
    for (const { transId, ends } of members)
      if (ends[0]?.do === 'later' && ends[0].state !== undefined) this.states.set(transId, ends[0].state);
    return Object.fromEntries(members.map(({ transId, ends }) => [transId, ends[0]]));
  }

  /** The same in words: `accepted`, the reason of a dead letter, what it waits for. */
  async words(ids: string): Promise<Record<string, string>> {
    const ends = Object.entries(await this.send(ids));
    return Object.fromEntries(
      ends.map(([id, end]) => [id, end?.do === 'letter' ? end.letter.reason : end?.do === 'later' ? end.why : end?.do]),
    ) as Record<string, string>;
  }

  async sendMembers(members: readonly ReturnType<typeof member>[], mayGoOn = (): boolean => true): Promise<void> {
    const openedMs = this.clock.monotonicMs() - 250;
    await this.#delivery.send({ members, closedBy: 'age', openedMs, mayGoOn });
  }

  get maybeSent(): number {
    return this.#delivery.maybeSent;
  }

  get letters(): number {
    return this.said.filter(([event]) => event === 'hold_started').length;
  }
}

/** Answers so whatever holds one of these ids. */
function gives(culprits: string, exchange: Exchange): Service {
  return (ids) => (ids.some((id) => culprits.includes(id)) ? exchange : answer(200));
}

function refuses(culprits: string, status = 400): Service {
  return gives(culprits, answer(status, { error_msg: 'bad' }));
}

const ACCEPTED = { do: 'accepted' };
const TIMEOUT: Exchange = { do: 'failed', why: 'timeout', ambiguous: true };
const MANY = 'abcdefghijklmnop';

function letter(status: number): object {
  const refused = { reason: `status_${String(status)}`, stage: 'sync', httpStatus: status, serviceError: 'bad' };
  return { do: 'letter', letter: refused };
}

describe('a refused batch', () => {
  test.each([301, 400, 403, 404, 409, 410, 413, 422])(
    'is halved until the culprit stands alone; refused again after others, it is a dead letter: %i',
    async (status) => {
      const bench = new Bench();
      bench.service = refuses('c', status);
      const { c, ...others } = await bench.send('abcd');
      expect(others).toEqual({ a: ACCEPTED, b: ACCEPTED, d: ACCEPTED });
      expect(c).toMatchObject({ do: 'later', why: 'record_failing', error: `status_${String(status)}` });
      expect(bench.calls).toEqual(['abcd', 'ab', 'cd', 'c', 'd']);
      expect(bench.repeats).toEqual([false, true, true, true, true]);
      expect(bench.said.filter(([event]) => event === 'batch_split')).toEqual([
        ['batch_split', { records: 4, status }],
        ['batch_split', { records: 2, status }],
      ]);
      expect(await bench.send('c')).toEqual({ c: letter(status) });
    },
  );

  test('makes no dead letter before another update was accepted, by a call that began after the refusal', async () => {
    const bench = new Bench();
    bench.service = refuses('d');
    expect(await bench.words('abcd')).toMatchObject({ c: 'accepted', d: 'record_failing' });
    expect(await bench.words('d')).toEqual({ d: 'record_failing' });
    await bench.send('x');
    expect(await bench.send('d')).toEqual({ d: letter(400) });
  });

  test('makes no dead letters where everything is refused alike', async () => {
    const bench = new Bench();
    bench.service = refuses('abc');
    const refused = { a: 'service_refuses', b: 'service_refuses', c: 'service_refuses' };
    for (let n = 0; n < 5; n += 1) expect(await bench.words('abc')).toEqual(refused);
  });

  test('makes dead letters of it at once where refusals are believed, as of updates that were refused before', async () => {
    const bench = new Bench({ believesRefusals: true });
    bench.service = refuses(MANY);
    const ends = Object.values(await bench.send(MANY));
    expect(ends).toEqual(Array.from(MANY, () => letter(400)));
    expect(bench.gate.why).toBeNull();
  });

  test('is none where refusals are believed and everybody gets 403: it may be our access', async () => {
    const bench = new Bench({ believesRefusals: true });
    bench.service = refuses(MANY, 403);
    expect(new Set(Object.values(await bench.words(MANY)))).toEqual(new Set(['service_refuses']));
    expect(bench.gate.why).toBe('service_refuses');
  });

  test('is searched no further after ten culprits with nothing accepted: the breaker opens, and nobody is at fault', async () => {
    const bench = new Bench();
    bench.service = refuses(MANY);
    expect(await bench.words(MANY)).toEqual(Object.fromEntries(Array.from(MANY, (id) => [id, 'service_refuses'])));
    expect(bench.calls.filter((ids) => ids.length === 1)).toHaveLength(10);
    expect(bench.gate.why).toBe('service_refuses');
    expect(bench.said.find(([event]) => event === 'hold_started')).toMatchObject([
      'hold_started',
      { cause: 'service_refuses', scope: 'sync breaker', error: 'status_400', position: 'payments.authorized:0:106' },
    ]);
    expect([...bench.states.values()].filter(({ aloneAt }) => aloneAt !== null)).toEqual([]);
  });

  test('makes no dead letters of what was found before the service became well in the middle of it', async () => {
    const bench = new Bench();
    await bench.send('x');
    const alone = new Set<string>();
    bench.service = (ids) => {
      if (ids.length === 1 && ids[0] !== undefined) alone.add(ids[0]);
      return alone.size > 8 ? answer(200) : answer(400, { error_msg: 'bad' });
    };
    const ends = Object.values(await bench.words(MANY));
    expect([
      ends.filter((end) => end === 'accepted').length,
      ends.filter((end) => end === 'record_failing').length,
    ]).toEqual([8, 8]);
    expect(new Set(Object.values(await bench.words('a')))).toEqual(new Set(['accepted']));
  });

  test('makes no dead letters of a service that refuses everything from one moment on, in the middle of a search', async () => {
    const bench = new Bench();
    bench.service = (ids) => (bench.calls.length > 4 ? answer(404) : refuses('p', 404)(ids));
    await bench.send('abcdefpg');
    expect(bench.calls.slice(0, 5)).toEqual(['abcdefpg', 'abcd', 'efpg', 'ef', 'pg']);
    const words: string[] = [];
    for (let round = 0; round < 4; round += 1)
      for (const id of 'pg') if (bench.gate.why === null) words.push(...Object.values(await bench.words(id)));
    expect([words.length, new Set(words)]).toEqual([8, new Set(['record_failing'])]);
  });

  test('ends its search when the service stops answering', async () => {
    const bench = new Bench();
    const down: Exchange = { do: 'failed', why: 'connect', ambiguous: false };
    bench.service = (ids) => (ids.includes('d') && ids.length < 4 ? down : refuses('d')(ids));
    expect(await bench.words('abcd')).toEqual({ a: 'accepted', b: 'accepted', c: 'batch_open', d: 'batch_open' });
    expect(bench.calls).toEqual(['abcd', 'ab', 'cd']);
  });

  test('ends its search when the breaker opens meanwhile', async () => {
    const bench = new Bench();
    bench.service = (ids) => {
      if (bench.calls.length === 2) bench.gate.end(bench.gate.begin(0), NO_SESSION);
      return refuses('d')(ids);
    };
    const later = 'service_refuses';
    expect(await bench.words('abcd')).toEqual({ a: 'accepted', b: 'accepted', c: later, d: later });
    expect(bench.calls).toEqual(['abcd', 'ab']);
  });

  test('is not searched further when a join is near', async () => {
    const bench = new Bench();
    bench.service = refuses('d');
    const ends = await bench.send('abcd', () => bench.calls.length < 2);
    expect(ends).toEqual({ a: ACCEPTED, b: ACCEPTED, c: { do: 'release' }, d: { do: 'release' } });
  });

  test('is searched on without the updates of a lost partition', async () => {
    const bench = new Bench();
    const lost = owned();
    const members = ['a', 'b', 'c', 'd'].map((id) => member(id, id === 'c' ? lost : owned()));
    bench.service = (ids) => {
      lost.phase = 'lost';
      return refuses('d')(ids);
    };
    await bench.sendMembers(members);
    expect(bench.calls).toEqual(['abcd', 'ab', 'd']);
    expect(members.map(({ ends }) => ends[0]?.do)).toEqual(['accepted', 'accepted', 'release', 'later']);
  });
});

const NO_SESSION = {
  key: 'z',
  isFirst: true,
  record: { topic: 't', partition: 0, offset: 0n },
  end: { do: 'no_session', cause: 'service_refuses' },
  answer: { status: null, afterMs: null },
  delivered: 0,
} as const;

describe('a batch that fails in another way', () => {
  test.each<[string, Exchange, number, string]>([
    ['500', answer(500), 2, 'status_500'],
    ['408', answer(408), 2, 'status_408'],
    ['error_msg', answer(200, { error_msg: 'no' }), 2, 'error_msg'],
    ['a reset', { do: 'failed', why: 'reset', ambiguous: true }, 2, 'connection_failed'],
    ['a time-out', TIMEOUT, 2, 'timed_out'],
    ['503', answer(503), 4, 'status_503'],
    ['401', answer(401), 4, 'status_401'],
  ])('waits for another batch; then its culprit goes alone: %s', async (_name, exchange, tries, error) => {
    const bench = new Bench();
    await bench.send('x');
    bench.service = gives('p', exchange);
    for (let n = 1; n < tries; n += 1) {
      expect(await bench.words('abp')).toEqual({ a: 'batch_open', b: 'batch_open', p: 'batch_open' });
      await bench.send('x');
    }
    const { p, ...mates } = await bench.send('abp');
    expect(mates).toEqual({ a: ACCEPTED, b: ACCEPTED });
    expect(p).toMatchObject({ do: 'later', why: 'record_failing', error });
    expect([bench.states.get('p')?.aloneAt, bench.states.get('a')?.aloneAt]).toEqual([expect.any(Number), null]);
  });

  test('waits for the service while nothing is accepted', async () => {
    const bench = new Bench();
    bench.service = () => TIMEOUT;
    expect(await bench.words('abcd')).toMatchObject({ a: 'service_down', d: 'service_down' });
    bench.service = () => answer(403);
    expect(await bench.words('efgh')).toMatchObject({ e: 'service_refuses', h: 'service_refuses' });
  });

  test.each<[string, Exchange, object]>([
    ['500', answer(500), { reason: 'status_500', stage: 'sync', httpStatus: 500 }],
    ['a time-out', TIMEOUT, { reason: 'timed_out', stage: 'sync' }],
  ])(
    'makes a dead letter of its culprit after 8 failures alone over 5 minutes, while others are accepted: %s',
    async (_name, exchange, expected) => {
      const bench = new Bench();
      bench.service = gives('p', exchange);
      const ends: UpdateEnd[] = [];
      for (let n = 0; n < 14 && ends.at(-1)?.do !== 'letter'; n += 1) {
        for (let other = 0; other < 5; other += 1) await bench.send('x');
        bench.clock.advance(50_000);
        await bench.send('x');
        ends.push((await bench.send('p'))['p'] ?? { do: 'release' });
      }
      // Once in a batch that might have held others; then 8 times alone.
      expect(ends.map((end) => end.do)).toEqual([...Array<string>(8).fill('later'), 'letter']);
      expect(ends.at(-1)).toEqual({ do: 'letter', letter: expected });
    },
  );

  test('proves nothing against its culprit while the breaker is open', async () => {
    const bench = new Bench();
    bench.service = gives('p', answer(404));
    await bench.send('p');
    await bench.send('x');
    bench.gate.end(bench.gate.begin(0), NO_SESSION);
    bench.clock.advance(2_000);
    expect(await bench.words('p')).toEqual({ p: 'service_refuses' });
  });

  test('with 429 waits as the service asks, and is never searched', async () => {
    const bench = new Bench();
    bench.service = () => ({ do: 'answer', status: 429, retryAfterMs: 9_000, body: Buffer.alloc(0), latencyMs: 1 });
    const { a } = await bench.send('ab');
    expect(a).toMatchObject({ why: 'service_down', forMs: 9_500 });
    for (let n = 0; n < 10; n += 1) expect(await bench.words('ab')).toEqual({ a: 'service_down', b: 'service_down' });
    expect(new Set(bench.calls)).toEqual(new Set(['ab']));
  });
});

test('twenty batches in a row that fail at their first attempt open the breaker; an accepted part begins the count anew', async () => {
  const bench = new Bench();
  bench.service = () => answer(503);
  const fail = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n += 1) await bench.send(String.fromCodePoint(0x4e00 + n));
  };
  await fail(0, 18);
  // Repeats do not count.
  await bench.send('\u4e00');
  bench.service = refuses('p');
  await bench.send('ap');
  bench.service = () => answer(503);
  await fail(18, 37);
  expect(bench.gate.why).toBeNull();
  await fail(37, 38);
  expect(bench.gate.why).toBe('service_down');
});

describe('an accepted batch', () => {
  test('ends all of its updates by one call', async () => {
    const bench = new Bench();
    expect(await bench.send('ab')).toEqual({ a: ACCEPTED, b: ACCEPTED });
    const batch = { closedBy: 'age', records: 2, bytes: 47, status: 200, fill: 0.47, lingerMs: 250 };
    expect(bench.said).toEqual([['batch_sent', batch]]);
  });

  test('may refuse single updates under their ids', async () => {
    const bench = new Bench();
    bench.service = () => answer(200, { b: { error_msg: 'no such transaction' } });
    const rejected = {
      reason: 'rejected_by_service',
      stage: 'sync',
      httpStatus: 200,
      serviceError: 'no such transaction',
    };
    expect(await bench.send('ab')).toEqual({ a: ACCEPTED, b: { do: 'letter', letter: rejected } });
  });

  test('of which all were refused under their ids is none: they wait for another', async () => {
    const bench = new Bench();
    bench.service = (ids) => answer(207, Object.fromEntries(ids.map((id) => [id, { ok: false }])));
    expect(await bench.words('ab')).toEqual({ a: 'service_refuses', b: 'service_refuses' });
    expect(await bench.words(MANY)).toMatchObject({ a: 'service_refuses', p: 'service_refuses' });
    expect(bench.gate.why).toBe('service_refuses');
  });

  test('is counted where its answer has a shape that nobody described', async () => {
    const bench = new Bench();
    bench.service = () => answer(200, { status: 'ok' });
    expect(await bench.send('ab')).toEqual({ a: ACCEPTED, b: ACCEPTED });
    expect(bench.said).toContainEqual(['answer_unrecognised', { operation: 'sync', field: 'top_level' }]);
  });
});

test('a body that is too large for several updates is told of, one that is too large alone is not', async () => {
  const bench = new Bench();
  bench.service = (ids) => (ids.length > 1 ? answer(413) : answer(200));
  await bench.send('abc');
  expect(bench.tooLarge).toHaveLength(2);
  bench.tooLarge.length = 0;
  bench.service = () => answer(413);
  await bench.send('a');
  expect(bench.tooLarge).toEqual([]);
});

test('culprits are named and wait while the dead-letter guard blocks, and all others are accepted', async () => {
  const bench = new Bench();
  const waiting: string[] = [];
  for (let n = 0; n < 60; n += 1) {
    const id = String.fromCodePoint(0x4e00 + n);
    bench.service = refuses(id);
    await bench.send(`${id}xyz`);
    await bench.send('x');
    const word = (await bench.words(id))[id] ?? '';
    if (word !== 'status_400') waiting.push(word);
  }
  expect(waiting.length).toBeGreaterThan(20);
  expect(new Set(waiting)).toEqual(new Set(['dead_letter_guard']));
  expect(bench.gate.why).toBeNull();
  expect(await bench.words('abc')).toEqual({ a: 'accepted', b: 'accepted', c: 'accepted' });
});

test('counts the updates that are sent again although they may have been taken, and no others', async () => {
  const bench = new Bench();
  const undecided: readonly [Exchange, counted: boolean][] = [
    [{ do: 'failed', why: 'timeout', ambiguous: true }, true],
    [{ do: 'failed', why: 'connect', ambiguous: false }, false],
    [answer(504), true],
    [answer(503), false],
    [answer(429), false],
    [{ do: 'fenced' }, false],
  ];
  for (const [exchange, counted] of undecided) {
    const before = bench.maybeSent;
    bench.service = () => exchange;
    await bench.send('abc');
    expect([exchange, bench.maybeSent - before]).toEqual([exchange, counted ? 3 : 0]);
  }
  bench.service = () => answer(200);
  await bench.send('abc');
  expect(bench.maybeSent).toBe(6);
});
