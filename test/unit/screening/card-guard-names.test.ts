import { expect, test } from 'vitest';
import { kindOfName, mayHoldKnownName } from '../../../src/screening/card-guard-names.ts';

const KNOWN = [
  ['cvv', 'verification_value'],
  ['CVV2', 'verification_value'],
  ['cvc', 'verification_value'],
  ['cvc_2', 'verification_value'],
  ['cid', 'verification_value'],
  ['csc', 'verification_value'],
  ['cav2', 'verification_value'],
  ['icvv', 'verification_value'],
  ['card-cvv', 'verification_value'],
  ['cc_cvc', 'verification_value'],
  ['cardVerificationValue', 'verification_value'],
  ['card_verification_code', 'verification_value'],
  ['security code', 'verification_value'],
  ['track1', 'track_data'],
  ['Track_2_Data', 'track_data'],
  ['track.data', 'track_data'],
  ['magstripe', 'track_data'],
  ['Magnetic-Stripe-Data', 'track_data'],
  ['card_track', 'track_data'],
] as const;

test.each(['', 'cc_bin', 'cc_last_4_dig', 'cc_num_hash', 'cust_id', 'cvv_result', 'tracking_number', 'x'.repeat(100)])(
  '%s is the name of nothing that must not be there',
  (name) => {
    expect(kindOfName(name)).toBeNull();
  },
);

test.each(KNOWN)('%s is the name of a %s, and the look at the bytes does not miss it', (name, kind) => {
  expect(kindOfName(name)).toBe(kind);
  expect(mayHoldKnownName(JSON.stringify({ a: 1, [name]: 1 }))).toBe(true);
});
