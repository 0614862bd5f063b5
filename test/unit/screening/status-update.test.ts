import { describe, expect, test } from 'vitest';

import {
  completeUpdate,
  draftUpdate,
  toWireUpdate,
  type ScoringCall,
  type UpdateRules,
  type WireUpdate,
} from '../../../src/screening/status-update.ts';

const RULES: UpdateRules = {
  chargebackProtection: false,
  cardMethods: [],
  unknownMethod: 'card',
  declineReasonRequired: 'always',
  reasonCodes: null,
  exemptionAsArray: false,
};
const PROTECTED: UpdateRules = { ...RULES, chargebackProtection: true, cardMethods: ['card', 'credit_card'] };
const SEND_UNKNOWN: UpdateRules = { ...PROTECTED, unknownMethod: 'send' };
const SCORED: ScoringCall = { httpStatus: 200, latencyMs: 41.6, paymentMethod: 'card' };
const TS = '2026-03-01T09:30:00Z';
const STATUSES = [
  'approved',
  'approved_recurring',
  'declined',
  'declined_fraudscreening',
  'error',
  'frg_declined',
  'payment_pending',
];

function event(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return { trans_id: 't-1', status: 'approved', ts: TS, acq_ref_id: 'arn-1', ...fields };
}

function wire(fields: Record<string, unknown>, rules = RULES, scored: ScoringCall | null = null): WireUpdate {
  return toWireUpdate(event(fields), { ...rules, scored });
}

function sent(update: WireUpdate): Record<string, unknown> {
  return update.do === 'send' ? Object.fromEntries(update.fields) : { refused: update.letter.reason };
}

function reason(update: WireUpdate): string | null {
  return update.do === 'refuse' ? update.letter.reason : null;
}

function dropped(update: WireUpdate): readonly string[] | null {
  return update.do === 'send' ? update.dropped : null;
}

function notes(update: WireUpdate): readonly string[] | null {
  return update.do === 'send' ? update.notes : null;
}

function scoredBy(paymentMethod: string | null): ScoringCall {
  return { ...SCORED, paymentMethod };
}

/** Whether the score's method is needed to decide, or the refusal. */
function draft(fields: Record<string, unknown>, rules: UpdateRules): boolean | string {
  const read = draftUpdate(event({ acq_ref_id: undefined, ...fields }), rules);
  return read.do === 'draft' ? read.missingIfCard !== null : read.letter.reason;
}

function declined(fields: Record<string, unknown>, rules: UpdateRules): WireUpdate {
  return wire({ status: 'declined', ...fields }, rules);
}

describe('an update that can never be sent', () => {
  test.each([undefined, null, '', 'Approved', ' approved', 'refunded', 7, ['approved'], {}])(
    'is refused for the status %j',
    (status) => {
      expect(reason(wire({ status }))).toBe('status_unknown');
    },
  );

  test.each([undefined, null, '', 'yesterday', '2026-03-01', '2026-03-01T09:30:00', 1_772_357_400, {}])(
    'is refused for the time %j',
    (ts) => {
      expect(reason(wire({ ts }))).toBe('ts_invalid');
    },
  );

  test('is refused when it is declined and says no reason', () => {
    expect(reason(wire({ status: 'declined' }))).toBe('decline_reason_missing');
    expect(reason(wire({ status: 'declined', issuer_reason_code: '', issuer_decline_reason: null }))).toBe(
      'decline_reason_missing',
    );
    expect(reason(wire({ status: 'declined', issuer_reason_code: {} }))).toBe('decline_reason_missing');
  });

  test('names the rule and the field, and nothing of the event', () => {
    expect(wire({ status: 'secret' })).toEqual({
      do: 'refuse',
      letter: { reason: 'status_unknown', stage: 'rules', detail: '/status' },
    });
  });
});

describe('approved without acq_ref_id', () => {
  const missing = { acq_ref_id: undefined };
  const all: UpdateRules = { ...PROTECTED, cardMethods: [] };
  test.each<[string, UpdateRules, string | null, ScoringCall | null, 'refused' | 'sent']>([
    ['a card by the event', PROTECTED, 'card', null, 'refused'],
    ['a card by the event, whatever the score says', PROTECTED, 'card', scoredBy('wallet'), 'refused'],
    ['a card by the score', PROTECTED, null, scoredBy('credit_card'), 'refused'],
    ['unknown, never scored here', PROTECTED, null, null, 'refused'],
    ['unknown, scored without a method', PROTECTED, null, scoredBy(null), 'refused'],
    ['another method by the event', PROTECTED, 'wallet', null, 'sent'],
    ['another method by the event, whatever the score says', PROTECTED, 'wallet', scoredBy('card'), 'sent'],
    ['another method by the score', PROTECTED, null, scoredBy('wallet'), 'sent'],
    ['any method where no card methods are listed', all, 'wallet', scoredBy('wallet'), 'refused'],
    ['a card without protection', RULES, 'card', scoredBy('card'), 'sent'],
    ['unknown without protection', RULES, null, null, 'sent'],
    ['unknown, which is to be sent', SEND_UNKNOWN, null, null, 'sent'],
    [
      'unknown, which is to be sent, also where this process remembers a card',
      SEND_UNKNOWN,
      null,
      scoredBy('card'),
      'sent',
    ],
    ['unknown, which is to be sent, no card methods listed', { ...SEND_UNKNOWN, cardMethods: [] }, null, null, 'sent'],
    ['a card by the event, where unknown is to be sent', SEND_UNKNOWN, 'card', null, 'refused'],
  ])('%s', (_, rules, method, scored, end) => {
    const update = wire({ ...missing, pmt_method: method }, rules, scored);
    expect(reason(update)).toBe(end === 'refused' ? 'acq_ref_id_missing' : null);
    expect(notes(update)).toEqual(end === 'refused' ? null : ['approved_without_acq_ref_id']);
  });

  test('is decided from the event alone where that is possible', () => {
    expect(draft({ pmt_method: 'card' }, PROTECTED)).toBe('acq_ref_id_missing');
    expect(draft({}, all)).toBe('acq_ref_id_missing');
    expect(draft({}, PROTECTED)).toBe(true);
    expect(draft({ pmt_method: 'wallet' }, PROTECTED)).toBe(false);
    expect(draft({}, RULES)).toBe(false);
  });

  test.each(STATUSES.filter((status) => status !== 'approved'))('means nothing for %s', (status) => {
    const update = wire({ ...missing, status, pmt_method: 'card', issuer_decline_reason: 'no funds' }, PROTECTED);
    expect(sent(update)).toMatchObject({ status });
    expect(notes(update)).toEqual([]);
  });
});

describe('declined without a reason', () => {
  const never: UpdateRules = { ...RULES, declineReasonRequired: 'never' };
  const ofCards: UpdateRules = { ...RULES, declineReasonRequired: 'card', cardMethods: ['card'] };
  test.each<[string, UpdateRules, string | null, ScoringCall | null, 'refused' | 'sent']>([
    ['always needed: a wallet', RULES, 'wallet', null, 'refused'],
    ['never needed: a card', never, 'card', null, 'sent'],
    ['needed of cards: a card', ofCards, 'card', null, 'refused'],
    ['needed of cards: a wallet', ofCards, 'wallet', scoredBy('card'), 'sent'],
    ['needed of cards: a card by the score', ofCards, null, scoredBy('card'), 'refused'],
    ['needed of cards: a wallet by the score', ofCards, null, scoredBy('wallet'), 'sent'],
    ['needed of cards: unknown', ofCards, null, null, 'refused'],
    ['needed of cards, none listed: a wallet', { ...ofCards, cardMethods: [] }, 'wallet', null, 'refused'],
    ['needed of cards: unknown, which is to be sent', { ...ofCards, unknownMethod: 'send' }, null, null, 'sent'],
  ])('%s', (_, rules, method, scored, end) => {
    const update = wire({ status: 'declined', pmt_method: method }, rules, scored);
    expect(reason(update)).toBe(end === 'refused' ? 'decline_reason_missing' : null);
    expect(notes(update)).toEqual(end === 'refused' ? null : ['declined_without_reason']);
  });

  test('counts a reason that cannot be read as left out', () => {
    const update = wire({ status: 'declined', issuer_reason_code: {} }, never);
    expect([sent(update), dropped(update)]).toEqual([
      { status: 'declined', ts: TS, acq_ref_id: 'arn-1' },
      ['issuer_reason_code'],
    ]);
  });

  test('goes out with its reason where none is needed', () => {
    expect(sent(wire({ status: 'declined', issuer_reason_code: '05' }, never))).toMatchObject({
      issuer_reason_code: '05',
    });
  });
});

test.each<Partial<UpdateRules>>([
  { chargebackProtection: true },
  { declineReasonRequired: 'card' },
  { chargebackProtection: true, declineReasonRequired: 'card' },
])('an update is the same whatever this process remembers, where unknown methods are sent: %j', (change) => {
  const rules: UpdateRules = { ...RULES, cardMethods: ['card'], unknownMethod: 'send', ...change };
  for (const status of STATUSES)
    for (const method of [null, 'card', 'wallet']) {
      const fields = { status, pmt_method: method, acq_ref_id: undefined };
      const ends = [null, scoredBy('card'), scoredBy('wallet')].map((scored) => reason(wire(fields, rules, scored)));
      expect(new Set(ends).size, `${status} ${String(method)}`).toBe(1);
    }
});

describe('the reasons of the issuer', () => {
  const codes: UpdateRules = { ...RULES, reasonCodes: new Set(['51', '05']) };

  test.each<[string, Record<string, unknown>, UpdateRules, Record<string, unknown>, string[]]>([
    ['a code, no list', { issuer_reason_code: '99' }, RULES, { issuer_reason_code: '99' }, []],
    ['a code in the list', { issuer_reason_code: '51' }, codes, { issuer_reason_code: '51' }, []],
    ['a code that came as a number', { issuer_reason_code: 51 }, codes, { issuer_reason_code: '51' }, []],
    ['a text', { issuer_decline_reason: 'no funds' }, codes, { issuer_decline_reason: 'no funds' }, []],
    [
      'both, no list',
      { issuer_reason_code: '99', issuer_decline_reason: 'no funds' },
      RULES,
      { issuer_reason_code: '99' },
      ['issuer_decline_reason'],
    ],
    [
      'both, code in the list',
      { issuer_reason_code: '05', issuer_decline_reason: 'no funds' },
      codes,
      { issuer_reason_code: '05' },
      ['issuer_decline_reason'],
    ],
    [
      'both, code outside the list',
      { issuer_reason_code: '99', issuer_decline_reason: 'no funds' },
      codes,
      { issuer_decline_reason: 'no funds' },
      ['issuer_reason_code'],
    ],
    ['a code outside the list alone', { issuer_reason_code: '99' }, codes, { issuer_decline_reason: '99' }, []],
  ])('declined with %s', (_, fields, rules, expected, gone) => {
    const update = declined(fields, rules);
    const { status, ts, acq_ref_id: reference, ...reasons } = sent(update);
    expect({ status, ts, reference }).toEqual({ status: 'declined', ts: TS, reference: 'arn-1' });
    expect(reasons).toEqual(expected);
    expect(dropped(update)).toEqual(gone);
  });

  test('says when a code went out as text', () => {
    expect(notes(declined({ issuer_reason_code: '99' }, codes))).toEqual(['reason_code_as_text']);
  });

  test('keeps a listed code on approved, drops another and every text', () => {
    expect(sent(wire({ issuer_reason_code: '51' }, codes))).toHaveProperty('issuer_reason_code', '51');
    expect(sent(wire({ issuer_reason_code: '99' }, RULES))).toHaveProperty('issuer_reason_code', '99');
    const update = wire({ issuer_reason_code: '99', issuer_decline_reason: 'no funds' }, codes);
    expect(Object.keys(sent(update))).toEqual(['status', 'ts', 'acq_ref_id']);
    expect(dropped(update)).toEqual(['issuer_reason_code', 'issuer_decline_reason']);
  });

  test.each(STATUSES.filter((status) => status !== 'approved' && status !== 'declined'))(
    'drops both on %s',
    (status) => {
      const update = wire({ status, issuer_reason_code: '51', issuer_decline_reason: 'no funds' }, codes);
      expect(Object.keys(sent(update))).toEqual(['status', 'ts', 'acq_ref_id']);
      expect(dropped(update)).toEqual(['issuer_reason_code', 'issuer_decline_reason']);
    },
  );
});

describe('the optional fields', () => {
  const optional = { authentication_status: 'unable', exemption_type_raised: 'low_risk', issuer_decline_reason: 'x' };

  test.each(['approved', 'approved_recurring', 'declined'])('go out on %s', (status) => {
    expect(sent(wire({ ...optional, status }))).toMatchObject({
      authentication_status: 'unable',
      exemption_type_raised: 'low_risk',
    });
  });

  test.each(['declined_fraudscreening', 'error', 'frg_declined', 'payment_pending'])('are dropped on %s', (status) => {
    const update = wire({ ...optional, status });
    expect(Object.keys(sent(update))).toEqual(['status', 'ts', 'acq_ref_id']);
    expect(dropped(update)).toEqual(['issuer_decline_reason', 'authentication_status', 'exemption_type_raised']);
  });

  test.each([
    ['authentication_status', 'Unable'],
    ['authentication_status', 1],
    ['exemption_type_raised', 'other'],
    ['exemption_type_raised', { low_risk: true }],
    ['http_status_code', 99],
    ['http_status_code', 600],
    ['http_status_code', '200'],
    ['http_status_code', 200.5],
    ['latency', -1],
    ['latency', Number.NaN],
    ['latency', Infinity],
    ['latency', '12'],
    ['acq_ref_id', { id: 1 }],
    ['acq_ref_id', 1e21],
  ])('are dropped and counted where unreadable: %s %j', (name, value) => {
    const update = wire({ [name]: value });
    expect(sent(update)).not.toHaveProperty(name);
    expect(dropped(update)).toEqual([name]);
  });

  test.each([
    [['low_value', 'low_risk'], false, 'low_value', 1],
    [['low_value', 'low_risk'], true, ['low_value', 'low_risk'], 0],
    [['low_value'], true, 'low_value', 0],
    [['other', 'low_risk'], false, 'low_risk', 1],
    [['other', 'low_risk', 'low_value'], true, ['low_risk', 'low_value'], 1],
    [['low_risk', 'low_risk'], true, 'low_risk', 1],
    [[], true, undefined, 0],
  ])('several exemptions %j, as array %j', (given, exemptionAsArray, expected, counted) => {
    const update = wire({ exemption_type_raised: given }, { ...RULES, exemptionAsArray });
    expect(sent(update)['exemption_type_raised']).toEqual(expected);
    expect(dropped(update)).toHaveLength(counted);
  });

  test.each(STATUSES)('acq_ref_id goes out whenever given: %s', (status) => {
    expect(sent(wire({ status, issuer_decline_reason: 'x' }))).toHaveProperty('acq_ref_id', 'arn-1');
  });

  test('extra and what the spec does not list are dropped and told apart', () => {
    const update = wire({ extra: { a: 1 }, note: 'x', other: 0, empty: null, pmt_method: 'card' });
    expect(Object.keys(sent(update))).toEqual(['status', 'ts', 'acq_ref_id']);
    expect(dropped(update)).toEqual(['extra', 'unknown', 'unknown']);
  });

  test('inherited names are not fields', () => {
    const text = `{"__proto__":{"latency":1},"status":"error","ts":"${TS}"}`;
    const parsed = JSON.parse(text) as Record<string, unknown>;
    const update = toWireUpdate(parsed, { ...RULES, scored: null });
    expect(sent(update)).toEqual({ status: 'error', ts: TS });
    expect(dropped(update)).toEqual(['unknown']);
  });
});

describe('the time of the status', () => {
  test.each([
    ['2026-03-01T09:30:00.999Z', TS],
    ['2026-03-01T11:30:00+02:00', TS],
    ['2026-03-01T02:00:00.5-07:30', TS],
    ['2026-03-01T09:29:60Z', TS],
    ['2026-03-01T09:30:00.12345678901234567890Z', TS],
  ])('%s goes out to the second, in UTC', (ts, expected) => {
    expect(sent(wire({ ts }))).toHaveProperty('ts', expected);
  });
});

describe('the scoring call', () => {
  test('is told in whole numbers where it is known', () => {
    expect(sent(wire({}, RULES, SCORED))).toMatchObject({ http_status_code: 200, latency: 42 });
  });

  test('is left out where it is unknown', () => {
    expect(Object.keys(sent(wire({})))).toEqual(['status', 'ts', 'acq_ref_id']);
  });

  test('is told by the event where the event tells it', () => {
    expect(sent(wire({ http_status_code: 202, latency: 7.4 }, RULES, SCORED))).toMatchObject({
      http_status_code: 202,
      latency: 7,
    });
    expect(sent(wire({ http_status_code: 'x', latency: 7 }, RULES, SCORED))).toMatchObject({
      http_status_code: 200,
      latency: 7,
    });
  });

  test('leaves a draft as it is, so that it can be completed again', () => {
    const read = draftUpdate(event(), RULES);
    if (read.do !== 'draft') throw new Error('refused');
    completeUpdate(read, RULES, SCORED);
    expect(sent(completeUpdate(read, RULES, null))).not.toHaveProperty('latency');
  });
});
