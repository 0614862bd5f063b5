import { describe, expect, test } from 'vitest';
import { type PartitionStatus } from '../../../src/engine/ports.ts';
import { Freshness } from '../../../src/telemetry/freshness.ts';
import { engineStatus } from '../../support/engine-status.ts';

const NOW_MS = 1_700_000_000_000;

function followed() {
  const said: [string, unknown][] = [];
  const freshness = new Freshness((event, fields) => void said.push([event, fields]));
  let monotonicMs = 0;
  return {
    said,
    /** Five seconds later, its partitions are so. */
    look: (...partitions: readonly Partial<PartitionStatus>[]) => {
      monotonicMs += 5000;
      const all = partitions.map((partition) => engineStatus({ partition }).partitions[0]!);
      freshness.look({ ...engineStatus(), partitions: all }, { nowMs: NOW_MS, monotonicMs });
    },
  };
}

const aged = (seconds: number): Partial<PartitionStatus> => ({ oldestUnfinishedMs: NOW_MS - seconds * 1000 });
const EMPTY = {};
const UNKNOWN = { next: 0n, highWatermark: 5n, lastReadMs: null };

describe('Freshness', () => {
  test('says nothing of a flow that keeps up', () => {
    const { look, said } = followed();
    for (const seconds of [0, 59, 3, 59]) look(aged(seconds));
    expect(said).toEqual([]);
  });

  test('says once that the slowest partition is a minute behind, and once that all have caught up', () => {
    const { look, said } = followed();
    look(aged(2), aged(61));
    look(aged(90), aged(50));
    look(aged(6), EMPTY);
    expect(said).toEqual([['fell_behind', { flow: 'scoring', behindMs: 61_000 }]]);
    look(aged(5), EMPTY);
    look(EMPTY, EMPTY);
    expect(said.slice(1)).toEqual([['caught_up', { flow: 'scoring', afterMs: 15_000, mostMs: 90_000 }]]);
  });

  test('is told again after the next time', () => {
    const { look, said } = followed();
    for (const seconds of [70, 0, 80, 0]) look(aged(seconds));
    expect(said.map(([event]) => event)).toEqual(['fell_behind', 'caught_up', 'fell_behind', 'caught_up']);
  });

  test('takes no partition for fresh of which it knows nothing, nor a flow without partitions', () => {
    const { look, said } = followed();
    look(aged(70));
    look(UNKNOWN, EMPTY);
    look();
    expect(said).toHaveLength(1);
    look(EMPTY, EMPTY);
    expect(said).toHaveLength(2);
  });
});
