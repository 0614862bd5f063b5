import { expect, test } from 'vitest';
import { brokenBy } from '../support/kept-seeds.ts';
import {
  anyOrderDoublesNothing,
  anyOrderLosesNothing,
  killsLoseNothing,
  movesDoubleNothing,
  movesLoseNothing,
} from '../support/world-laws.ts';

const RUNS = Number(process.env['WORLDS'] ?? 1000);
const LIMIT_MS = 120_000;

test(
  'loses nothing and keeps every key in order, whatever is killed, lost or assigned anew',
  async () => {
    expect(await brokenBy(movesLoseNothing, RUNS)).toBeNull();
  },
  LIMIT_MS,
);

test(
  'does nothing twice as long as members join, leave and rebalance in good order',
  async () => {
    expect(await brokenBy(movesDoubleNothing, RUNS)).toBeNull();
  },
  LIMIT_MS,
);

test(
  'does nothing twice in whatever order everything that is awaited goes on',
  async () => {
    expect(await brokenBy(anyOrderDoublesNothing, RUNS)).toBeNull();
  },
  LIMIT_MS,
);

test(
  'loses nothing in whatever order everything goes on while members crash, commits fail and barriers are given up',
  async () => {
    expect(await brokenBy(anyOrderLosesNothing, RUNS)).toBeNull();
  },
  LIMIT_MS,
);

test(
  'loses nothing and repeats only what was under way or not committed when it is killed at any await',
  async () => {
    expect(await brokenBy(killsLoseNothing(2), RUNS)).toBeNull();
  },
  LIMIT_MS,
);
