import { expect, test } from 'vitest';
import { followFreshness } from '../../../src/app/freshness.ts';
import { type EngineStatus } from '../../../src/engine/ports.ts';
import { engineStatus } from '../../support/engine-status.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('looks every five seconds while the engine runs, until it is ended', () => {
  const clock = new ManualClock(1_700_000_000_000);
  const said: string[] = [];
  let status: EngineStatus | null = null;
  const end = followFreshness({ status: () => status }, { clock, emit: (event) => void said.push(event) });
  clock.advance(5000);
  const old = { partition: { oldestUnfinishedMs: 1_600_000_000_000 } };
  status = engineStatus({ ...old, phase: 'joining' });
  clock.advance(5000);
  expect(said).toEqual([]);
  status = engineStatus(old);
  clock.advance(5000);
  expect(said).toEqual(['fell_behind']);
  end();
  status = engineStatus();
  clock.advance(60_000);
  expect(said).toEqual(['fell_behind']);
});
