/** What the doctor says of one thing. */
export interface Finding {
  /** Which check: a stable name. */
  readonly check: string;
  readonly state: 'ok' | 'wrong' | 'warning' | 'skipped';
  readonly text: string;
  /** The line to type, or what to do; null: nothing. */
  readonly mend: string | null;
}

export function ok(check: string, text: string): Finding {
  return { check, state: 'ok', text, mend: null };
}

export function wrong(check: string, text: string, mend: string): Finding {
  return { check, state: 'wrong', text, mend };
}

/** It works; but not as well, or not as safely, as it could. */
export function warn(check: string, text: string, mend: string): Finding {
  return { check, state: 'warning', text, mend };
}

/** Not looked at, and why. */
export function skipped(check: string, text: string): Finding {
  return { check, state: 'skipped', text: `skipped: ${text}`, mend: null };
}

const MARKS = { ok: '✓', wrong: '✗', warning: '!', skipped: '–' } as const;

/** As lines for a person: the mark and the text, and below it what to do; once for several in a row that are mended alike. */
export function linesOf(findings: readonly Finding[]): readonly string[] {
  return findings.flatMap(({ state, text, mend }, index) => {
    const isLast = mend !== null && findings[index + 1]?.mend !== mend;
    return isLast ? [`${MARKS[state]} ${text}`, `  → ${mend}`] : [`${MARKS[state]} ${text}`];
  });
}
