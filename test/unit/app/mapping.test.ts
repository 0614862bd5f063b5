import { expect, test } from 'vitest';
import { DATAPOINTS, readMapping } from '../../../src/app/mapping.ts';
import { isFault } from '../../../src/kernel/fault.ts';
import { DATAPOINTS as SANDBOX_DATAPOINTS, ITEM_FIELDS } from '../../../src/sandbox/service/datapoints.ts';

test('refuses a file with one fault that has a line for each problem', () => {
  expect(() => readMapping({ mapping: 'scoring: {trans_id: id}\nsync: {status: /s}\n' })).toThrow(
    expect.toSatisfy(
      (error) =>
        isFault(error, 'CONFIG_INVALID') &&
        error.exit === 2 &&
        /^MAPPING_FILE has 3 problems.*\n {2}line 1, .*\n {2}line 2, .*\n {2}line 2, /.test(error.message),
    ),
  );
});

test('is no mapping where there is no file', () => {
  expect(readMapping({ mapping: null })).toEqual({ mapping: { scoring: null, sync: null }, warnings: [] });
});

test('knows the names of the service, those of items included', () => {
  expect(DATAPOINTS.scoring.get('items')?.has('item_amt')).toBe(true);
  expect([DATAPOINTS.scoring.has('trans_id'), DATAPOINTS.scoring.has('status'), DATAPOINTS.sync.has('status')]).toEqual(
    [true, false, true],
  );
  expect(readMapping({ mapping: 'scoring: {trans_id: /a, trans_amount: /b}' }).warnings).toHaveLength(1);
});

test('knows the same datapoints as the sandbox, so the schema of the input has every one of them', () => {
  const { scoring } = DATAPOINTS;
  expect([...scoring.keys()].toSorted()).toEqual([...SANDBOX_DATAPOINTS.keys()].toSorted());
  expect([...(scoring.get('items')?.keys() ?? [])].toSorted()).toEqual([...ITEM_FIELDS.keys()].toSorted());
});
