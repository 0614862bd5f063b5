import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FAULT_NAMES, readFaults } from '../../../../src/sandbox/service/faults.ts';
import { readSettings, SETTING_NAMES } from '../../../../src/sandbox/service/settings.ts';

test.each([
  ['faults', readFaults, FAULT_NAMES],
  ['settings', readSettings, SETTING_NAMES],
] as const)('whatever comes, %s are read whole or refused by the name of a field', (_, read, names) => {
  const name = fc.oneof(fc.constantFrom(...names), fc.string());
  fc.assert(
    fc.property(fc.dictionary(name, fc.jsonValue(), { maxKeys: 3 }), (input) => {
      const answer = read(input);
      const given = Object.keys(input);
      if (typeof answer === 'string') {
        return given.some((each) => answer.startsWith(each) || answer.startsWith(JSON.stringify(each).slice(0, -1)));
      }
      return given.every((each) => Object.hasOwn(answer, each));
    }),
  );
  expect(read(null)).toBe('the body must be a JSON object');
});
