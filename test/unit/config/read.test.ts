import { describe, expect, test } from 'vitest';
import { readSecret, readValues } from '../../../src/config/read.ts';

/** The webhook secrets that an environment and its one file give. */
function secretsOf(env: Readonly<Record<string, string>>, file = ''): readonly string[] {
  return readValues({ env, readFile: () => file }).values.WEBHOOK_SECRETS;
}

describe('webhook secrets', () => {
  test('are split by line or comma in a variable', () => {
    expect(secretsOf({ WEBHOOK_SECRETS: 'one, two\n three ' })).toEqual(['one', 'two', 'three']);
  });

  test('are split by line alone in a file, because a secret may hold a comma', () => {
    expect(secretsOf({ WEBHOOK_SECRETS_FILE: '/keys' }, 'one,two\r\n\n three \n')).toEqual(['one,two', 'three']);
    expect(readSecret('WEBHOOK_SECRETS', 'one,two\nthree\n')).toEqual(['one,two', 'three']);
  });

  test('are one to three, of any length, without control characters', () => {
    expect(readSecret('WEBHOOK_SECRETS', 'k')).toEqual(['k']);
    for (const wrong of ['', ' \n', 'a\nb\nc\nd', 'a\u0007'])
      expect(readSecret('WEBHOOK_SECRETS', wrong)).toBeUndefined();
  });
});
