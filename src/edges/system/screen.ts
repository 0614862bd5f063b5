/** A whole terminal, drawn on as one picture; what was there before comes back when it is closed. */
export interface Screen {
  /** As it is now: people change it. */
  readonly size: { readonly columns: number; readonly rows: number };
  /** Shows these lines and nothing else. They hold no line breaks and are no wider than the screen. */
  draw(lines: readonly string[]): void;
  /** Gives the terminal back, the cursor too. A second call does nothing. */
  close(): void;
}

/** What a screen needs of the process: its terminal, and the last moment at which something can be written. */
export interface ScreenParts {
  readonly output: Pick<NodeJS.WriteStream, 'columns' | 'rows' | 'write'>;
  readonly input: Pick<NodeJS.ReadStream, 'isTTY' | 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>;
  /** Calls back when the process ends in whatever way, a throw included; the answer takes that back. */
  readonly onExit: (listener: () => void) => () => void;
  /** One key; a key that sends several characters (arrows) comes as all of them. */
  readonly onKey: (key: string) => void;
  /** Ctrl-C was pressed: with the keyboard in raw mode no signal comes of it. */
  readonly onInterrupt: () => void;
}

// The alternate screen, without a cursor, and lines that are cut instead of wrapped while somebody resizes it.
const ENTER = '\u001B[?1049h\u001B[?25l\u001B[?7l\u001B[2J';
const LEAVE = '\u001B[?7h\u001B[?25h\u001B[?1049l';
// Terminals that know it show what is between at once; the others ignore it.
const BEGIN = '\u001B[?2026h\u001B[H';
const END = '\u001B[J\u001B[?2026l';
// Before the line: after one that fills the last column it would erase that.
const CLEAR_LINE = '\u001B[2K';
const CTRL_C = '\u0003';
const DEFAULT_SIZE = { columns: 80, rows: 24 };

/** Takes the terminal over: the alternate screen, and the keyboard key by key where there is one. */
export function takeScreen({ output, input, onExit, onKey, onInterrupt }: ScreenParts): Screen {
  const listen = (bytes: Buffer | string): void => {
    const key = String(bytes);
    if (key.includes(CTRL_C)) onInterrupt();
    else onKey(key);
  };
  let isOpen = true;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    deaf();
    if (input.isTTY) {
      input.off('data', listen);
      input.setRawMode(false);
      input.pause();
    }
    output.write(LEAVE);
  };
  const deaf = onExit(close);
  output.write(ENTER);
  if (input.isTTY) {
    input.setRawMode(true);
    input.on('data', listen);
    input.resume();
  }
  return {
    get size() {
      // A terminal that does not know its size says 0.
      return { columns: output.columns || DEFAULT_SIZE.columns, rows: output.rows || DEFAULT_SIZE.rows };
    },
    draw: (lines) => {
      if (isOpen) output.write(BEGIN + lines.map((line) => CLEAR_LINE + line).join('\r\n') + END);
    },
    close,
  };
}

/** The screen of this process. Ctrl-C reaches it as the signal it would have been. */
export function openScreen(onKey: (key: string) => void): Screen {
  return takeScreen({
    output: process.stdout,
    input: process.stdin,
    onExit: (listener) => {
      process.on('exit', listener);
      return () => {
        process.off('exit', listener);
      };
    },
    onKey,
    onInterrupt: () => {
      process.kill(process.pid, 'SIGINT');
    },
  });
}

/** Whether a live picture may be drawn: standard output is a terminal that can, and not the log of a build. */
export function canDraw(env: Readonly<Record<string, string | undefined>>, isInteractive: boolean): boolean {
  const { TERM: terminal = '', CI: build = '' } = env;
  return isInteractive && terminal !== '' && terminal !== 'dumb' && (build === '' || build === 'false');
}

/** Whether colours are welcome: `NO_COLOR` is not set to anything (no-color.org). */
export function wantsColour(env: Readonly<Record<string, string | undefined>>): boolean {
  return (env['NO_COLOR'] ?? '') === '';
}
