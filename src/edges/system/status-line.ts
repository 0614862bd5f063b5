/** The last line of a terminal, written over again and again. What else is written meanwhile hides it first. */
export interface StatusLine {
  /** Columns that a text may fill. */
  readonly width: number;
  /** Shows this text in place of the one before. It holds no line breaks. */
  show(text: string): void;
  /** Takes it away. */
  hide(): void;
}

const CLEAR = '\r\u001B[2K';
const DEFAULT_COLUMNS = 80;

/** A status line of this terminal. */
export function createStatusLine(output: Pick<NodeJS.WriteStream, 'columns' | 'write'>): StatusLine {
  let isShown = false;
  return {
    get width() {
      // A terminal that does not know its size says 0. In the last column some would begin another line.
      return (output.columns || DEFAULT_COLUMNS) - 1;
    },
    show: (text) => {
      isShown = true;
      output.write(CLEAR + text);
    },
    hide: () => {
      if (isShown) output.write(CLEAR);
      isShown = false;
    },
  };
}
