import { describe, expect, test } from 'vitest';
import { recordsIn, runExplain } from '../../../src/app/explain-command.ts';
import { readMapping } from '../../../src/app/mapping.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { isFault } from '../../../src/kernel/fault.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const texts = (input: string): string[] => recordsIn(Buffer.from(input)).map(String);

describe('the input', () => {
  test.each([
    ['', []],
    [' \n\n', []],
    ['{"a":1}\n', ['{"a":1}\n']],
    ['{\n"a":1\n}', ['{\n"a":1\n}']],
    ['{"a":1}\r\n\r\n{"a":2}\n', ['{"a":1}', '{"a":2}']],
    ['{"a":1}\n{', ['{"a":1}', '{']],
    ['{\n"a"', ['{\n"a"']],
  ])('%j holds %j', (input, expected) => {
    expect(texts(input)).toEqual(expected);
  });
});

async function run(input: string, json: boolean): Promise<{ readonly exit: number; readonly lines: string[] }> {
  const { config } = loadConfig({ env: {}, readFile: () => '', requires: 'MAPPING_' });
  const lines: string[] = [];
  const exit = await runExplain(Buffer.from(input), {
    config,
    mapping: readMapping(config).mapping,
    flow: 'scoring',
    version: '1.2.3',
    clock: new ManualClock(),
    draw: () => 0,
    terminal: { say: (line) => void lines.push(line) },
    json,
  });
  return { exit, lines };
}

test('nothing on standard input is wrong usage', async () => {
  await expect(run('\n', false)).rejects.toSatisfy((error) => isFault(error, 'USAGE'));
});

test('answers 1 if one record of several would not be sent, and tells of each', async () => {
  const { exit, lines } = await run('{"trans_id":"a"}\n{}\n', true);
  expect(exit).toBe(1);
  expect(lines.map((line) => (JSON.parse(line) as { outcome: string }).outcome)).toEqual(['send', 'dead_letter']);
});

test('shows people the datapoints, the findings and the request', async () => {
  const { exit, lines } = await run('{"trans_id":"a","ip":"::1"}', false);
  expect(exit).toBe(0);
  const shown = lines.join('\n');
  expect(shown).toContain('record 1: ✓ would be sent');
  expect(shown).toMatch(/ip +"::1" +as it came/);
  expect(shown).toContain('! ip: Reserved IP');
  expect(shown).toContain('POST {SERVICE_BASE_URL}/api/v2/transaction');
  expect(shown).toContain('    {"trans_id":"a","ip":"::1"}');
});

test('shows people what to do about a letter', async () => {
  const { exit, lines } = await run('[]', false);
  expect(exit).toBe(1);
  expect(lines.join('\n')).toMatch(
    /would become a dead letter\n +code +not_an_object\n +means .*\n +mend +Send one object/,
  );
});
