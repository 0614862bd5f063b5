import { describe, expect, test } from 'vitest';
import { checkUpdate, STATUSES } from '../../../../src/sandbox/service/update-rules.ts';

const approved = (change: Record<string, unknown> = {}): unknown => ({
  status: 'approved',
  ts: '2026-03-01T09:30:00Z',
  acq_ref_id: 'arn-1',
  ...change,
});
const declined = (change: Record<string, unknown>): unknown => ({
  status: 'declined',
  ts: '2026-03-01T09:30:00Z',
  ...change,
});

describe('the rules of a status update', () => {
  test.each([
    ['no object', [], 'an update must be an object'],
    ['null', null, 'an update must be an object'],
    ['no status', { ts: '2026-03-01T09:30:00Z' }, 'status is missing'],
    ['an unknown status', approved({ status: 'paid' }), 'status must be one of the seven statuses'],
    ['no ts', { status: 'error' }, 'ts is missing'],
    ['milliseconds', approved({ ts: '2026-03-01T09:30:00.000Z' }), /^ts must be/u],
    ['no zone', approved({ ts: '2026-03-01T09:30:00' }), /^ts must be/u],
    ['a field that is not listed', approved({ extra: {} }), 'an update has a field that is not accepted'],
    ['declined without a reason', declined({}), /^declined needs exactly one/u],
    [
      'declined with both reasons',
      declined({ issuer_reason_code: '05', issuer_decline_reason: 'no' }),
      /^declined needs/u,
    ],
    ['a decline reason on approved', approved({ issuer_decline_reason: 'no' }), /must not come with this status$/u],
    [
      'a reason code on error',
      { status: 'error', ts: '2026-03-01T09:30:00Z', issuer_reason_code: '05' },
      /must not come/u,
    ],
    ['an unknown authentication status', approved({ authentication_status: 'maybe' }), /^authentication_status must/u],
    ['an unknown exemption', approved({ exemption_type_raised: 'vip' }), /^exemption_type_raised must/u],
    ['no exemption in a list', approved({ exemption_type_raised: [] }), /^exemption_type_raised must/u],
    ['a status code as text', approved({ http_status_code: '200' }), 'http_status_code must be a status'],
    ['a latency with decimals', approved({ latency: 1.5 }), 'latency must be whole milliseconds'],
    ['a number as acq_ref_id', approved({ acq_ref_id: 7 }), 'acq_ref_id must be a string'],
  ])('refuses %s', (_, update, sentence) => {
    expect(checkUpdate(update)).toMatch(sentence);
  });

  test('never repeats what was sent', () => {
    const sent = JSON.stringify([
      checkUpdate(approved({ secretfield: 1 })),
      checkUpdate(approved({ status: 'secret' })),
    ]);
    expect(sent).not.toContain('secret');
  });

  test('declined needs no reason where the account has been freed of it, and never takes both', () => {
    const demands = { reasonCodes: null, acqRefId: false, declineReason: false };
    expect(checkUpdate(declined({}), demands)).toBeTypeOf('object');
    const both = declined({ issuer_reason_code: '05', issuer_decline_reason: 'no' });
    expect(checkUpdate(both, demands)).toMatch(/^declined must not have both/u);
  });

  test('a closed list of reason codes refuses others', () => {
    const demands = { reasonCodes: new Set(['05']), acqRefId: false, declineReason: true };
    expect(checkUpdate(declined({ issuer_reason_code: '05' }), demands)).toBeTypeOf('object');
    expect(checkUpdate(declined({ issuer_reason_code: '06' }), demands)).toMatch(/^issuer_reason_code must be one/u);
    expect(checkUpdate(declined({ issuer_decline_reason: 'no' }), demands)).toBeTypeOf('object');
  });

  test('chargeback protection refuses approved by credit card without acq_ref_id, and nothing else', () => {
    const demands = { reasonCodes: null, acqRefId: true, declineReason: true };
    const bare = { status: 'approved', ts: '2026-03-01T09:30:00Z' };
    expect(checkUpdate(bare, demands)).toMatch(/^approved needs acq_ref_id/u);
    expect(checkUpdate(approved(), demands)).toBeTypeOf('object');
    expect(checkUpdate({ ...bare, status: 'approved_recurring' }, demands)).toBeTypeOf('object');
    expect(checkUpdate(bare)).toMatchObject({ hasAcqRefId: false });
  });

  test.each(STATUSES.filter((status) => status !== 'declined'))('accepts %s with status and ts alone', (status) => {
    expect(checkUpdate({ status, ts: '2026-03-01T09:30:00+02:00' })).toMatchObject({ status, hasAcqRefId: false });
  });

  test.each([
    ['declined with a code', declined({ issuer_reason_code: '05' })],
    ['declined with a text', declined({ issuer_decline_reason: 'do not honor' })],
    [
      'approved with all that may come',
      approved({
        issuer_reason_code: '00',
        authentication_status: 'unable',
        exemption_type_raised: ['low_value', 'low_risk'],
        http_status_code: 200,
        latency: 0,
      }),
    ],
  ])('accepts %s', (_, update) => {
    expect(checkUpdate(update)).toBeTypeOf('object');
  });
});
