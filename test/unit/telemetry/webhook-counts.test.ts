import { expect, test } from 'vitest';
import { type WebhookResult } from '../../../src/kernel/emit.ts';
import { hasFailed, WebhookCounts } from '../../../src/telemetry/webhook-counts.ts';

const RESULTS: Readonly<Record<WebhookResult, 'accepted' | 'unavailable' | 'refused'>> = {
  published: 'accepted',
  duplicate: 'accepted',
  parked: 'accepted',
  unavailable: 'unavailable',
  bad_path: 'refused',
  bad_method: 'refused',
  bad_type: 'refused',
  too_large: 'refused',
  too_slow: 'refused',
  malformed: 'refused',
  bad_signature: 'refused',
  bad_timestamp: 'refused',
  outside_window: 'refused',
  not_an_object: 'refused',
};
const each = Object.entries(RESULTS) as [WebhookResult, 'accepted' | 'unavailable' | 'refused'][];

test.each(each)('a webhook that ended as %s is %s', (result, kind) => {
  const counts = new WebhookCounts();
  counts.count({ result });
  const { accepted, unavailable, refused } = counts.report();
  expect({ accepted, unavailable, refused }).toEqual({
    accepted: kind === 'accepted' ? 1 : 0,
    unavailable: kind === 'unavailable' ? 1 : 0,
    refused: kind === 'refused' ? { [result]: 1 } : {},
  });
  expect(hasFailed(result)).toBe(kind !== 'accepted');
});

test('every webhook is counted once', () => {
  const counts = new WebhookCounts();
  for (const [result] of each) counts.count({ result });
  const { accepted, published, duplicate, parked, unavailable, refused } = counts.report();
  expect(accepted).toBe(published + duplicate + parked);
  expect(accepted + unavailable + Object.values(refused).reduce((sum, count) => sum + count, 0)).toBe(each.length);
});
