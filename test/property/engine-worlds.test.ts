import { expect, test } from 'vitest';
import { brokenBy } from '../support/kept-seeds.ts';
import {
  anyOrderDoublesNothing,
  anyOrderLosesNothing,
  expiryTakesOnlyUnread,
  killsAndExpiry,
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

test(
  'delivers all that was read and counts exactly what was not, whenever retention takes what lies below, at or above the reading position',
  async () => {
    expect(await brokenBy(expiryTakesOnlyUnread, RUNS)).toBeNull();
  },
  LIMIT_MS,
);

test(
  'loses nothing unreported and repeats nothing more when it is killed at any await and records expire meanwhile',
  async () => {
    expect(await brokenBy(killsAndExpiry(2), RUNS)).toBeNull();
  },
  LIMIT_MS,
);
