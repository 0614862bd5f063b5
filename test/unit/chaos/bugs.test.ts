import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Bug, BUG_NAMES, BUGS, withBug } from '../../chaos/bugs/bugs.ts';
import { isScenario } from '../../chaos/schedule.ts';

const ROOT = path.join(import.meta.dirname, '../../..');

describe.each(BUG_NAMES)('the bug %s', (name) => {
  const bug: Bug = BUGS[name];

  test('can be put into the connector as it is', () => {
    const source = readFileSync(path.join(ROOT, bug.file), 'utf8');
    expect(withBug(bug, source)).not.toBe(source);
  });

  test('has a campaign in which it must be found out', () => {
    expect(isScenario(bug.scenario)).toBe(true);
    expect(bug.foundAs.length).toBeGreaterThan(0);
  });
});

test('a bug that is not there exactly once is no bug', () => {
  const bug = BUGS.two_of_a_key;
  expect(() => withBug(bug, 'nothing of it')).toThrow(RangeError);
  expect(() => withBug(bug, bug.changes[0].from.repeat(2))).toThrow(RangeError);
});
