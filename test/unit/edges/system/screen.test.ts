import { describe, expect, test } from 'vitest';
import { canDraw, type ScreenParts, takeScreen, wantsColour } from '../../../../src/edges/system/screen.ts';

const SHOW_CURSOR = '\u001B[?25h';
const LEAVE = '\u001B[?1049l';

function fakeTerminal({ isTTY = true, columns = 100 } = {}) {
  let written = '';
  const raw: boolean[] = [];
  const listeners = { data: new Set<(bytes: Buffer) => void>(), exit: new Set<() => void>() };
  const told = { keys: [] as string[], interrupts: 0 };
  const parts = {
    output: {
      columns,
      rows: 30,
      write: (text: string) => {
        written += text;
        return true;
      },
    },
    input: {
      isTTY,
      setRawMode: (mode: boolean) => {
        raw.push(mode);
      },
      on: (_event: string, listener: (bytes: Buffer) => void) => listeners.data.add(listener),
      off: (_event: string, listener: (bytes: Buffer) => void) => listeners.data.delete(listener),
      resume: () => undefined,
      pause: () => undefined,
    },
    onExit: (listener: () => void) => {
      listeners.exit.add(listener);
      return () => listeners.exit.delete(listener);
    },
    onKey: (key: string) => {
      told.keys.push(key);
    },
    onInterrupt: () => {
      told.interrupts += 1;
    },
  };
  const type = (text: string): void => {
    for (const listener of listeners.data) listener(Buffer.from(text));
  };
  return { parts: parts as unknown as ScreenParts, raw, listeners, told, type, written: () => written };
}

describe('a screen', () => {
  test('gives the cursor, the keyboard and the old picture back when the process ends by a throw', () => {
    const terminal = fakeTerminal();
    takeScreen(terminal.parts);
    for (const listener of terminal.listeners.exit) listener();
    expect(terminal.written()).toContain(SHOW_CURSOR);
    expect(terminal.written().endsWith(LEAVE)).toBe(true);
    expect(terminal.raw).toEqual([true, false]);
  });

  test('is closed once, leaves nothing that listens, and draws nothing afterwards', () => {
    const terminal = fakeTerminal();
    const screen = takeScreen(terminal.parts);
    screen.close();
    screen.close();
    screen.draw(['late']);
    expect(terminal.written().split(LEAVE)).toHaveLength(2);
    expect(terminal.written()).not.toContain('late');
    expect(terminal.listeners.exit.size + terminal.listeners.data.size).toBe(0);
  });

  test('Ctrl-C interrupts, also between other keys', () => {
    const terminal = fakeTerminal();
    takeScreen(terminal.parts);
    terminal.type('k');
    terminal.type('\u0003');
    terminal.type('q\u0003');
    expect(terminal.told).toEqual({ keys: ['k'], interrupts: 2 });
  });

  test('leaves a keyboard that is none alone', () => {
    const terminal = fakeTerminal({ isTTY: false });
    takeScreen(terminal.parts).close();
    expect(terminal.raw).toEqual([]);
  });

  test('clears each line before it is written, so that a full line keeps its last column', () => {
    const terminal = fakeTerminal();
    takeScreen(terminal.parts).draw(['one', 'two']);
    expect(terminal.written()).toContain('\u001B[2Kone\r\n\u001B[2Ktwo');
  });

  test('is 80 columns wide where the terminal does not know', () => {
    expect(takeScreen(fakeTerminal({ columns: 0 }).parts).size).toEqual({ columns: 80, rows: 30 });
  });
});

test.each([
  [{ TERM: 'xterm' }, false, false],
  [{ TERM: 'dumb' }, true, false],
  [{}, true, false],
  [{ TERM: 'xterm', CI: 'true' }, true, false],
  [{ TERM: 'xterm', CI: 'false' }, true, true],
  [{ TERM: 'xterm' }, true, true],
])('with %j on a terminal (%j) a live picture may be drawn: %j', (env, isInteractive, can) => {
  expect(canDraw(env, isInteractive)).toBe(can);
});

test('NO_COLOR with any value means no colours; empty it means nothing', () => {
  expect([wantsColour({ NO_COLOR: '1' }), wantsColour({ NO_COLOR: '' }), wantsColour({})]).toEqual([false, true, true]);
});
