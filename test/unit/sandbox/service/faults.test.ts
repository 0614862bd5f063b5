import { describe, expect, test } from 'vitest';
import { BROKEN_ANSWERS } from '../../../../src/sandbox/service/broken-answers.ts';
import { FAULT_NAMES, NO_FAULTS, readFaults } from '../../../../src/sandbox/service/faults.ts';

describe('reading faults', () => {
  test.each([
    [null, /JSON object/u],
    [{ latency: 5 }, /"latency" is not a fault; known are latencyMs/u],
    [{ latencyMs: -1 }, /^latencyMs must/u],
    [{ latencyMs: '5' }, /^latencyMs must/u],
    [{ latencyMs: Number.NaN }, /^latencyMs must/u],
    [{ slowBodyMs: 600_001 }, /^slowBodyMs must/u],
    [{ dripMs: 0.5 }, /^dripMs must/u],
    [{ resetShare: 1.1 }, /^resetShare must/u],
    [{ status: 503 }, /^status must/u],
    [{ status: { code: 99, share: 1 } }, /^status\.code must/u],
    [{ status: { share: 1 } }, /^status\.code must be given/u],
    [{ status: { code: 503, share: 1, retryafter: 1 } }, /"status\.retryafter" is not/u],
    [{ status: { code: 503, share: 1, retryAfter: 'a\r\nb: c' } }, /^status\.retryAfter must/u],
    [{ status: { code: 302, location: 'a\nb' } }, /^status\.location must/u],
    [{ answer: { as: 'nonsense' } }, /^answer\.as must be one of right, hang/u],
    [{ latencyShape: { kind: 'square' } }, /^latencyShape\.kind must be one of exponential, lognormal, bimodal/u],
    [{ latencyShape: { kind: 'bimodal', fastMs: 1, slowMs: 2 } }, /^latencyShape\.slowShare must be given/u],
    [{ latencyShape: { kind: 'lognormal', medianMs: 0, p99Ms: 2 } }, /^latencyShape\.medianMs must/u],
    [{ only: {} }, /^only must have transIds, transIdPrefixes or customers/u],
    [{ only: { transIds: [''] } }, /^only\.transIds\[0\] must/u],
    [{ next: 1.5 }, /^next must/u],
    [{ forMs: -1 }, /^forMs must/u],
    [{ rules: [{ latencyMs: 1 }, { status: { code: 1 } }] }, /^rules\[1\]\.status\.code must/u],
    [{ rules: [{ loginStatus: 503 }] }, /"rules\[0\]\.loginStatus" is not/u],
    [{ loginStatus: 42 }, /^loginStatus must/u],
    [{ patchRejects: 't-1' }, /^patchRejects must/u],
    [{ patchPerId: { transIds: ['t-1'], form: 'no' } }, /^patchPerId\.form must/u],
    [{ operations: ['scoring'] }, /^operations\[0\] must/u],
    [{ capacity: { atOnce: 0 } }, /^capacity\.atOnce must/u],
    [{ rateLimit: {} }, /^rateLimit\.perSecond must be given/u],
    [{ busy: { above: 1 } }, /^busy\.latencyMs must be given/u],
    [{ maxRequestBytes: -1 }, /^maxRequestBytes must/u],
    [{ closeAfterAnswer: true }, /^closeAfterAnswer must/u],
    [{ webhooks: { signature: 'none' } }, /^webhooks\.signature must be one of right/u],
    [{ expireTokens: 1 }, /^expireTokens must/u],
    [{ refuseConnectionsMs: 'long' }, /^refuseConnectionsMs must/u],
  ])('refuses %j and names the field', (input, message) => {
    expect(readFaults(input)).toMatch(message);
  });

  test('takes Retry-After as a number or a text, also in rules and limits', () => {
    const status = { code: 429, share: 1, retryAfter: 2 };
    expect(readFaults({ status, rules: [{ status }], capacity: { atOnce: 1, retryAfter: 1e9 } })).toEqual({
      status: { code: 429, share: 1, retryAfter: '2' },
      rules: [{ status: { code: 429, share: 1, retryAfter: '2' } }],
      capacity: { atOnce: 1, retryAfter: '1000000000' },
    });
    expect(readFaults({ status: { code: 429, share: 1, retryAfter: 'soon' } })).toBeTypeOf('object');
  });

  test('takes what it gave', () => {
    expect(readFaults(NO_FAULTS)).toEqual(NO_FAULTS);
    expect(FAULT_NAMES).toEqual(expect.arrayContaining(Object.keys(NO_FAULTS)));
  });

  test.each(Object.keys(BROKEN_ANSWERS))('knows the broken answer %s', (as) => {
    expect(readFaults({ answer: { as } })).toBeTypeOf('object');
  });
});
