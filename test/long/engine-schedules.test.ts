import { expect, test } from 'vitest';
import { brokenBy } from '../support/kept-seeds.ts';
import {
  anyOrderDoublesNothing,
  anyOrderLosesNothing,
  killsLoseNothing,
  movesDoubleNothing,
  movesLoseNothing,
} from '../support/world-laws.ts';

const RUNS = Number(process.env['WORLDS'] ?? 10_000);
/** Of so many schedules every await is tried. */
const WHOLE_RUNS = Math.ceil(RUNS / 100);

test('loses nothing and keeps every key in order in ten thousand worlds of moves', async () => {
  expect(await brokenBy(movesLoseNothing, RUNS)).toBeNull();
});

test('does nothing twice in ten thousand worlds of moves in good order', async () => {
  expect(await brokenBy(movesDoubleNothing, RUNS)).toBeNull();
});

test('does nothing twice in ten thousand orders of all that is awaited', async () => {
  expect(await brokenBy(anyOrderDoublesNothing, RUNS)).toBeNull();
});

test('loses nothing in ten thousand orders with crashes, failing commits and barriers that are given up', async () => {
  expect(await brokenBy(anyOrderLosesNothing, RUNS)).toBeNull();
});

test('loses nothing when killed at four awaits of each of ten thousand orders', async () => {
  expect(await brokenBy(killsLoseNothing(4), RUNS)).toBeNull();
});

test('loses nothing when killed at every await of a hundred orders', async () => {
  expect(await brokenBy(killsLoseNothing('each'), WHOLE_RUNS)).toBeNull();
});
