import { expect, test } from 'vitest';
import {
  DEFAULT_SETTINGS,
  readSettings,
  SETTING_NAMES,
  SettingsStore,
} from '../../../../src/sandbox/service/settings.ts';

test.each([
  [null, /JSON object/u],
  [{ optIn: true }, /"optIn" is not a setting; known are tokenLifetimeMs/u],
  [{ tokenLifetimeMs: 86_400_001 }, /^tokenLifetimeMs must/u],
  [{ reviewShare: -0.1 }, /^reviewShare must/u],
  [{ ruleHits: 'yes' }, /^ruleHits must/u],
  [{ issuerReasonCodes: [5] }, /^issuerReasonCodes\[0\] must be a text, or null/u],
  [{ datapoints: { cust_since: 'day' } }, /^datapoints\.cust_since must be one of string, number/u],
  [{ datapoints: ['cust_since'] }, /^datapoints must be an object/u],
])('refuses %j and names the field', (input, message) => {
  expect(readSettings(input)).toMatch(message);
});

test('takes its own defaults, and has a check for each', () => {
  expect(readSettings(DEFAULT_SETTINGS)).toEqual(DEFAULT_SETTINGS);
  expect(SETTING_NAMES).toEqual(Object.keys(DEFAULT_SETTINGS));
});

test('changes what is given, and the rest stays', () => {
  const store = new SettingsStore({ ruleHits: true });
  store.set({ reviewAfterMs: 5, issuerReasonCodes: ['05'], datapoints: { cust_since: 'date' } });
  expect(store.get()).toMatchObject({ ruleHits: true, reviewAfterMs: 5, tokenLifetimeMs: 86_400_000 });
  expect(store.reasonCodes?.has('05')).toBe(true);
  expect(store.datapoints.get('cust_since')).toBe('date');
});
