import { expect, test } from 'vitest';
import { pageNamed, tableIn } from '../support/page-parts.ts';
import { SCHEMA_CHANGES } from '../support/schema-changes.ts';

const rows = tableIn(pageNamed('schemas.md'), 'change');

test('docs/schemas.md tells of every change that is tested, and of no other', () => {
  const tested = new Set(SCHEMA_CHANGES.map(({ name }) => name));
  expect(rows.map(([name]) => name)).toEqual([...tested]);
});

test.each(SCHEMA_CHANGES.map((change) => [change.of, change.name, change] as const))(
  'docs/schemas.md tells what was seen: %s: %s',
  (_of, name, { isReadByOlder, readsOlder }) => {
    const [, older = '', newer = '', allowed = ''] = rows.find(([first]) => first === name) ?? [];
    expect([older[0], newer[0]]).toEqual([isReadByOlder ? '✓' : '✗', readsOlder ? '✓' : '✗']);
    expect(/^(yes|no)\b/.exec(allowed)?.[0]).toBe(isReadByOlder && readsOlder ? 'yes' : 'no');
  },
);
