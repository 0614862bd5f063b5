import { beforeEach, describe, expect, test } from 'vitest';
import { watchDependencies, whenLastRisen } from '../../../src/app/dependency-watch.ts';
import { type Cancel } from '../../../src/kernel/clock.ts';
import { type Emit } from '../../../src/kernel/emit.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

/** A dependency that is asked by hand. */
class Asked {
  begun = 0;
  /** The most probes under way at once. */
  most = 0;
  answeredAtMs: number | null = null;
  /** How the next probes end; null: not before they are told to. */
  result: (() => Promise<string | null>) | null = async () => await Promise.resolve(null);
  readonly #open: ((end: string | null) => void)[] = [];

  readonly probe = async (): Promise<string | null> => {
    this.begun += 1;
    this.most = Math.max(this.most, this.#open.length + 1);
    if (this.result !== null) return await this.result();
    return await new Promise((resolve) => this.#open.push(resolve));
  };

  endAll(end: string | null): void {
    for (const resolve of this.#open.splice(0)) resolve(end);
  }
}

let clock: ManualClock;
let said: unknown[];
let kafka: Asked;
let registry: Asked;
let end: Cancel;

beforeEach(() => {
  clock = new ManualClock();
  said = [];
  const emit: Emit = (event, fields) => said.push([clock.monotonicMs(), event, fields]);
  [kafka, registry] = [new Asked(), new Asked()];
  end = watchDependencies(
    [
      { cause: 'kafka', answeredAtMs: () => kafka.answeredAtMs, probe: kafka.probe },
      { cause: 'registry', answeredAtMs: () => registry.answeredAtMs, probe: registry.probe },
    ],
    { clock, emit },
  );
});

async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    clock.advance(500);
    await settled();
  }
}

const refused = async (): Promise<string> => await Promise.resolve('ECONNREFUSED');

describe('a dependency', () => {
  test('that does not answer is a block reason of its cause until it does, and no other one is', async () => {
    await pass(10_000);
    kafka.result = refused;
    await pass(15_000);
    expect(said).toEqual([
      [expect.any(Number), 'hold_started', { cause: 'kafka', scope: 'probe', error: 'ECONNREFUSED' }],
    ]);
    kafka.result = async () => await Promise.resolve(null);
    await pass(15_000);
    expect(said.slice(1)).toEqual([
      [expect.any(Number), 'hold_ended', { cause: 'kafka', scope: 'probe', afterMs: expect.any(Number) as number }],
    ]);
  });

  test('whose probes never end is named all the same, and never probed twice at once', async () => {
    await pass(10_000);
    kafka.result = null;
    await pass(13_000);
    expect(said).toMatchObject([[expect.any(Number), 'hold_started', { error: 'timeout' }]]);
    await pass(60_000);
    expect([kafka.most, said.length]).toEqual([1, 1]);
    kafka.result = async () => await Promise.resolve(null);
    kafka.endAll(null);
    await pass(9000);
    expect(said.at(-1)).toMatchObject([expect.any(Number), 'hold_ended', { cause: 'kafka' }]);
  });

  test('is not named for one probe that comes to nothing late', async () => {
    await pass(10_000);
    kafka.result = null;
    for (const { begun } = kafka; kafka.begun === begun;) await pass(500);
    await pass(3500);
    kafka.endAll('ECONNRESET');
    await settled();
    kafka.result = async () => await Promise.resolve(null);
    await pass(30_000);
    expect(said).toEqual([]);
  });

  test('whose probe throws does not answer', async () => {
    kafka.result = async () => await Promise.reject(new RangeError('a text'));
    await pass(5000);
    expect(said).toMatchObject([[expect.any(Number), 'hold_started', { cause: 'kafka', error: 'RangeError' }]]);
  });

  test('that answers real traffic is not probed', async () => {
    await pass(1000);
    const begun = kafka.begun;
    for (let n = 0; n < 60; n += 1) {
      kafka.answeredAtMs = clock.monotonicMs();
      await pass(1000);
    }
    expect(kafka.begun).toBe(begun);
    expect(registry.begun).toBeGreaterThan(10);
  });
});

test('nothing is probed or said after the end, and no timer is left', async () => {
  await pass(3000);
  kafka.result = null;
  await pass(6000);
  end();
  const begun = kafka.begun + registry.begun;
  kafka.endAll('timeout');
  await pass(60_000);
  expect(kafka.begun + registry.begun).toBe(begun);
  expect([said, clock.pending]).toEqual([[], 0]);
});

test('a count has last risen at the look before the one that sees it higher', () => {
  let count = 5;
  const risen = whenLastRisen(() => count, clock);
  expect(risen()).toBeNull();
  clock.advance(1000);
  count += 1;
  clock.advance(1000);
  expect(risen()).toBe(0);
  clock.advance(1000);
  expect(risen()).toBe(0);
});
