import { expect, test } from 'vitest';
import { ScoreCounts } from '../../../../src/flows/scoring/score-counts.ts';

test('counts decisions, what was said of the datapoints, and what may have been scored before', () => {
  const counts = new ScoreCounts();
  counts.scored({ decision: 'approve', validation_ok: true }, false);
  counts.scored({ decision: 'approve', validation_ok: false }, true);
  counts.scored({ decision: 'unknown', validation_ok: null }, false);
  expect(counts.decisions).toEqual({ unknown: 1, decline: 0, approve: 2, manual_review: 0, custom: 0 });
  expect(counts.validations).toEqual({ ok: 1, findings: 1, unsaid: 1 });
  expect(counts.repeated).toBe(1);
});
