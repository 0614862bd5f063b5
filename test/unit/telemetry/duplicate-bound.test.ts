import { expect, test } from 'vitest';
import { duplicateBounds } from '../../../src/telemetry/duplicate-bound.ts';
import { engineStatus } from '../../support/engine-status.ts';

test('is nothing where nothing is under way', () => {
  expect(duplicateBounds(engineStatus(), 1000)).toEqual([
    { flow: 'scoring', records: 0, inFlight: 0, answered: 0, unsaved: 0, unsavedForMs: null },
  ]);
});

test('is what is in flight, what is answered and not written, and what is not committed, with its age', () => {
  const status = engineStatus({ flow: { inFlight: 3, answered: 5, unsaved: 7, unsavedSinceMs: 400 } });
  expect(duplicateBounds(status, 1000)).toEqual([
    { flow: 'scoring', records: 15, inFlight: 3, answered: 5, unsaved: 7, unsavedForMs: 600 },
  ]);
});

test('counts no record that only waits or is only read', () => {
  const waits = [{ cause: 'service_down', records: 40, sinceMs: 0, error: '', position: null }] as const;
  expect(duplicateBounds(engineStatus({ flow: { buffered: 100, waits } }), 1000)).toMatchObject([{ records: 0 }]);
});
