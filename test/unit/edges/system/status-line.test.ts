import { expect, test } from 'vitest';
import { createStatusLine } from '../../../../src/edges/system/status-line.ts';

const CLEAR = '\r\u001B[2K';

function terminal(columns = 100) {
  let written = '';
  const output = {
    columns,
    write: (text: string) => {
      written += text;
      return true;
    },
  } as unknown as NodeJS.WriteStream;
  return { line: createStatusLine(output), written: () => written };
}

test('writes over what was there, without a line break', () => {
  const { line, written } = terminal();
  line.show('one');
  line.show('two');
  expect(written()).toBe(`${CLEAR}one${CLEAR}two`);
});

test('is taken away once, and not where nothing is shown', () => {
  const { line, written } = terminal();
  line.hide();
  line.show('one');
  line.hide();
  line.hide();
  expect(written()).toBe(`${CLEAR}one${CLEAR}`);
});

test.each([
  [100, 99],
  [0, 79],
])('of %i columns leaves the last one free', (columns, width) => {
  expect(terminal(columns).line.width).toBe(width);
});
