import { describe, expect, test } from 'vitest';
import { type UpdateEnd } from '../../../../src/flows/sync/batch.ts';
import { Delivery } from '../../../../src/flows/sync/delivery.ts';
import { NO_TROUBLE, type Trouble } from '../../../../src/flows/sync/trouble.ts';
import { type Exchange } from '../../../../src/resilience/ports.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { answer, gateOf, idsOf, listener, member, owned, type Said, SUSPICION } from './builders.ts';

type Service = (ids: readonly string[]) => Exchange;

class Bench {
  readonly clock = new ManualClock();
  readonly calls: string[] = [];
  readonly said: Said[];
  readonly tooLarge: number[] = [];
  readonly endedHolds: boolean[] = [];
  service: Service = () => answer(200);
  readonly #delivery: Delivery;

  constructor(change: { readonly believesRefusals?: boolean } = {}) {
    const { said, emit } = listener();
    this.said = said;
    const sync = (body: Buffer): Promise<Exchange> => {
      const ids = idsOf(body.toString());
      this.calls.push(ids.join(''));
      return Promise.resolve(this.service(ids));
    };
    this.#delivery = new Delivery({
      api: { sync },
      gate: gateOf(this.clock, emit),
      suspicion: SUSPICION,
      limits: { maxRecords: 10, maxBytes: 100 },
      clock: this.clock,
      emit,
      onTooLarge: (bytes) => void this.tooLarge.push(bytes),
      onAccepted: (endedHold) => void this.endedHolds.push(endedHold),
      ...change,
    });
  }

  /** How each of these one-letter ids ended. */
  async send(ids: string, mayGoOn: () => boolean = () => true): Promise<Record<string, UpdateEnd | undefined>> {
    const members = ids.split('').map((id) => member(id));
    await this.#delivery.send({ members, closedBy: 'age', openedMs: this.clock.monotonicMs() - 250, mayGoOn });
    if (members.some(({ ends }) => ends.length !== 1)) throw new Error('an update has not ended once');
    return Object.fromEntries(members.map(({ transId, ends }) => [transId, ends[0]]));
  }

  maySend(): boolean {
    return this.#delivery.maySend();
  }

  get maybeSent(): number {
    return this.#delivery.maybeSent;
  }

  async sendMembers(members: readonly ReturnType<typeof member>[]): Promise<void> {
    await this.#delivery.send({
      members,
      closedBy: 'age',
      openedMs: this.clock.monotonicMs() - 250,
      mayGoOn: () => true,
    });
  }
}

function refuses(culprits: string, status = 400): Service {
  return (ids) => (ids.some((id) => culprits.includes(id)) ? answer(status, { error_msg: 'bad' }) : answer(200));
}

const ACCEPTED = { do: 'accepted' };
const ALIKE = { do: 'later', why: 'service_refuses', afterMs: 30_000, fixed: true };

function letter(status: number): object {
  const refused = { reason: `status_${String(status)}`, stage: 'sync', httpStatus: status, serviceError: 'bad' };
  return { do: 'letter', letter: refused };
}

describe('a refused batch', () => {
  test.each([400, 413, 422])('is halved until the culprit stands alone: %i', async (status) => {
    const bench = new Bench();
    bench.service = refuses('c', status);
    expect(await bench.send('abcd')).toEqual({ a: ACCEPTED, b: ACCEPTED, c: letter(status), d: ACCEPTED });
    expect(bench.calls).toEqual(['abcd', 'ab', 'cd', 'c', 'd']);
    expect(bench.said.filter(([event]) => event === 'batch_split')).toEqual([
      ['batch_split', { records: 4, status }],
      ['batch_split', { records: 2, status }],
    ]);
  });

  test('makes no letters where everything is refused alike', async () => {
    const bench = new Bench();
    bench.service = refuses('abc');
    expect(await bench.send('abc')).toEqual({ a: ALIKE, b: ALIKE, c: ALIKE });
    expect(await bench.send('a')).toEqual({ a: ALIKE });
  });

  test('makes a letter of a lone update while others were accepted in the last minute', async () => {
    const bench = new Bench();
    await bench.send('x');
    bench.service = refuses('a');
    bench.clock.advance(60_000);
    expect(await bench.send('a')).toEqual({ a: letter(400) });
    bench.clock.advance(1);
    expect(await bench.send('a')).toEqual({ a: ALIKE });
  });

  test('makes letters of it at once where refusals are believed, as of updates that were refused before', async () => {
    const bench = new Bench({ believesRefusals: true });
    bench.service = refuses('ab');
    expect(await bench.send('ab')).toEqual({ a: letter(400), b: letter(400) });
    expect(bench.maySend()).toBe(true);
  });

  test('keeps all others back while everything is refused alike, but for one in 30 s, until one is accepted', async () => {
    const bench = new Bench();
    bench.service = refuses('abcd');
    await bench.send('ab');
    expect(bench.maySend()).toBe(false);
    bench.clock.advance(30_000);
    expect(bench.maySend()).toBe(true);
    const probe = bench.send('ab');
    expect(bench.maySend()).toBe(false);
    expect(await probe).toEqual({ a: ALIKE, b: ALIKE });
    expect(bench.maySend()).toBe(false);
    bench.clock.advance(30_000);
    expect(await bench.send('abx')).toEqual({ a: letter(400), b: letter(400), x: ACCEPTED });
    expect(bench.maySend()).toBe(true);
    expect(bench.endedHolds).toEqual([true]);
    expect(await bench.send('cd')).toEqual({ c: letter(400), d: letter(400) });
  });

  test('makes nine letters and no more of a service that refuses everything from one moment on', async () => {
    const bench = new Bench();
    await bench.send('x');
    bench.service = refuses('abcdefghijklmnop');
    const ends = Object.values(await bench.send('abcdefghijkl'));
    expect(ends.filter((end) => end?.do === 'letter')).toHaveLength(9);
    expect(ends.filter((end) => end?.do === 'later').map(({ why }) => why)).toEqual(Array(3).fill('floodgate'));
    expect(bench.maySend()).toBe(false);
    bench.clock.advance(30_000);
    expect(await bench.send('mx')).toEqual({ m: letter(400), x: ACCEPTED });
    expect(bench.maySend()).toBe(true);
  });

  test('makes no letters of what a probe found before the service became well in the middle of it', async () => {
    const bench = new Bench();
    await bench.send('x');
    bench.service = refuses('abcdefghijklmnop');
    await bench.send('abcdefghijkl');
    bench.clock.advance(30_000);
    const alone = new Set<string>();
    bench.service = (ids) => {
      if (ids.length === 1 && ids[0] !== undefined) alone.add(ids[0]);
      return alone.size > 10 ? answer(200) : answer(400, { error_msg: 'bad' });
    };
    const ends = Object.values(await bench.send('abcdefghijklmnop'));
    expect(ends.filter((end) => end?.do === 'later')).toEqual(Array.from({ length: 10 }, () => ALIKE));
    expect(ends.filter((end) => end?.do === 'accepted')).toHaveLength(6);
    bench.service = refuses('a');
    expect(await bench.send('ab')).toEqual({ a: letter(400), b: ACCEPTED });
  });

  test('ends its search when the service stops answering', async () => {
    const bench = new Bench();
    const down: Exchange = { do: 'failed', why: 'connect', ambiguous: false };
    bench.service = (ids) => (ids.includes('d') && ids.length < 4 ? down : refuses('d')(ids));
    const later = { do: 'later', why: 'service_down', afterMs: null };
    const ends = await bench.send('abcd');
    expect(ends).toMatchObject({ a: ACCEPTED, b: ACCEPTED, c: later, d: later });
    expect(bench.calls).toEqual(['abcd', 'ab', 'cd']);
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
    expect(members.map(({ ends }) => ends[0]?.do)).toEqual(['accepted', 'accepted', 'release', 'letter']);
  });
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

  test('is counted where its answer has a shape that nobody described', async () => {
    const bench = new Bench();
    bench.service = () => answer(200, { status: 'ok' });
    expect(await bench.send('ab')).toEqual({ a: ACCEPTED, b: ACCEPTED });
    expect(bench.said).toContainEqual(['answer_unrecognised', { operation: 'sync', field: 'top_level' }]);
  });
});

describe('a batch that times out or is answered with 500', () => {
  const TIMEOUT: Exchange = { do: 'failed', why: 'timeout', ambiguous: true };

  test('travels in halves while the service accepts others', async () => {
    const bench = new Bench();
    await bench.send('x');
    bench.service = () => TIMEOUT;
    expect(await bench.send('abcd')).toMatchObject({ a: { do: 'later', trouble: { mates: 2 } } });
  });

  test('keeps its size while nothing is accepted: the service is ill, and none of them', async () => {
    const bench = new Bench();
    bench.service = () => TIMEOUT;
    const { a } = await bench.send('abcd');
    expect(a).toMatchObject({ do: 'later', why: 'service_down' });
    expect(a).not.toHaveProperty('trouble');
  });

  test('makes a letter of the one that does it, alone, often and long enough, and not of its mates', async () => {
    const bench = new Bench();
    bench.service = (ids) => (ids.includes('p') ? answer(500) : answer(200));
    let mine = member('p');
    const ends: UpdateEnd[] = [];
    for (let n = 0; n < 12; n += 1) {
      for (let other = 0; other < 5; other += 1) await bench.send('x');
      bench.clock.advance(50_000);
      await bench.send('x');
      mine = { ...member('p'), trouble: ends.at(-1)?.do === 'later' ? troubleOf(ends.at(-1)) : NO_TROUBLE };
      await bench.sendMembers([mine]);
      ends.push(...mine.ends);
      if (ends.at(-1)?.do === 'letter') break;
    }
    expect(ends.map((end) => end.do)).toEqual([...Array<string>(7).fill('later'), 'letter']);
    expect(ends.at(-1)).toEqual({
      do: 'letter',
      letter: { reason: 'status_500', stage: 'sync', httpStatus: 500 },
    });
  });
});

function troubleOf(end: UpdateEnd | undefined): Trouble {
  return end?.do === 'later' && end.trouble !== undefined ? end.trouble : NO_TROUBLE;
}

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

test('culprits wait while letters are a flood', async () => {
  const bench = new Bench();
  bench.service = refuses('ab');
  const flooded: UpdateEnd[] = [];
  for (let n = 0; n < 25 && bench.maySend(); n += 1) {
    const { b } = await bench.send('abxyz');
    if (b?.do === 'later') flooded.push(b);
  }
  expect(flooded).toMatchObject([{ why: 'floodgate', fixed: true }]);
  expect(bench.maySend()).toBe(false);
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
