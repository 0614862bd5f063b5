import { expect, test } from 'vitest';
import { rangeOfPlace } from '../../../../src/app/dead-letters/look-commands.ts';

test('a place that is written otherwise is refused', () => {
  for (const place of ['', '12', '0:', ':1', '0:1,1:2', '0:-1', '0:1 ', 'a:b'])
    expect(() => rangeOfPlace(place)).toThrow('is not partition:offset, for example 0:12.');
});

test('a place is the range from itself to the next offset', () => {
  expect(rangeOfPlace('3:41')).toEqual({ from: '3:41', to: '3:42' });
});
