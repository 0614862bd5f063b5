import { expect, test } from 'vitest';
import { counted, escaped, grouped, momentOf, sized, spell } from '../../../../src/edges/http-server/page-words.ts';

test.each([
  [null, '–'],
  [0, '0 ms'],
  [999.4, '999 ms'],
  [1000, '1.0 s'],
  [119_000, '119.0 s'],
  [120_000, '2 min'],
  [7_200_000, '2.0 h'],
  [172_800_000, '2.0 d'],
])('spells %s ms as %s', (ms, text) => {
  expect(spell(ms)).toBe(text);
});

test.each([
  [0, '0 B'],
  [999, '999 B'],
  [1000, '1.0 kB'],
  [2_400_000, '2.4 MB'],
])('sizes %i bytes as %s', (bytes, text) => {
  expect(sized(bytes)).toBe(text);
});

test('groups digits, counts things and tells a moment in UTC', () => {
  expect([grouped(1_234_567), grouped(2n ** 60n)]).toEqual(['1,234,567', '1,152,921,504,606,846,976']);
  expect([counted(1, 'record'), counted(2000, 'record')]).toEqual(['1 record', '2,000 records']);
  expect(momentOf(Date.UTC(2026, 2, 1, 23, 5, 9))).toBe('2026-03-01 23:05:09 UTC');
});

test('escapes every character that could be markup', () => {
  expect(escaped(`<a href="x">&'</a>`)).toBe('&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;');
});
