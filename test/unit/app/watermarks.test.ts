import { beforeEach, expect, test } from 'vitest';
import { keepWatermarksFresh } from '../../../src/app/watermarks.ts';
import { type TopicPartition } from '../../../src/engine/ports.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

let clock: ManualClock;
let ends: Map<string, bigint>;
let asked: string[];
let told: (readonly [string, bigint, number])[];
let wanted: Set<string>;
let isAway: boolean;

beforeEach(() => {
  clock = new ManualClock();
  ends = new Map([
    ['created', 5n],
    ['authorized', 3n],
  ]);
  [asked, told] = [[], []];
  wanted = new Set();
  isAway = false;
});

function start(): () => void {
  return keepWatermarksFresh({
    ends: {
      watermarks: async (topic) => {
        asked.push(topic);
        if (isAway) throw new Error('no broker');
        return await Promise.resolve([{ partition: 0, low: 0n, high: ends.get(topic) ?? 0n }]);
      },
    },
    engine: {
      sawEnd: ({ topic }: TopicPartition, high: bigint, asOfMs: number) => {
        told.push([topic, high, asOfMs]);
      },
    },
    topics: [...ends.keys()],
    wanted: (topic) => wanted.has(topic),
    clock,
  });
}

async function pass(ms: number): Promise<void> {
  await settled();
  for (let passed = 0; passed < ms; passed += 250) {
    clock.advance(250);
    await settled();
  }
}

test('tells the end of every topic each ten seconds, so that the lag of a paused partition grows in sight', async () => {
  start();
  await pass(9_750);
  expect(told).toEqual([]);
  await pass(250);
  expect(told).toEqual([
    ['created', 5n, 10_000],
    ['authorized', 3n, 10_000],
  ]);
  ends.set('authorized', 40n);
  await pass(10_000);
  expect(told.slice(2).map(([topic, high]) => [topic, high])).toEqual([
    ['created', 5n],
    ['authorized', 40n],
  ]);
});

test('tells it four times a second of a topic that somebody waits for, and of no other', async () => {
  wanted.add('created');
  start();
  await pass(1000);
  expect(told.map(([topic]) => topic)).toEqual(Array(5).fill('created'));
});

test('asks again after a look that failed, and not any more once it has ended', async () => {
  isAway = true;
  wanted.add('created');
  const end = start();
  await pass(500);
  expect([asked.length, told]).toEqual([3, []]);
  isAway = false;
  await pass(250);
  expect(told).toHaveLength(1);
  end();
  await pass(20_000);
  expect([asked.length, clock.pending]).toEqual([4, 0]);
});
