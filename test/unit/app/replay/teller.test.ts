import { describe, expect, test } from 'vitest';
import { drawProgress, sayProgress } from '../../../../src/app/replay/teller.ts';
import { type Progress } from '../../../../src/replay/progress.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const PROGRESS: Progress = { phase: 'send', done: 0, total: 1000, before: 0, elapsedMs: 0, waitsFor: null };

function said(all: readonly (readonly [afterMs: number, change: Partial<Progress>])[]): readonly unknown[] {
  const clock = new ManualClock();
  const events: unknown[] = [];
  const tell = sayProgress('x', clock, (_event, fields) => {
    const { phase, done, perSecond, leftSeconds } = fields as Record<string, unknown>;
    events.push([phase, done, perSecond, leftSeconds]);
  });
  for (const [afterMs, change] of all) {
    clock.advance(afterMs);
    tell({ ...PROGRESS, elapsedMs: clock.monotonicMs(), ...change });
  }
  return events;
}

function drawn(colour: boolean): string {
  let shown = '';
  const line = {
    width: 100,
    show: (text: string) => {
      shown = text;
    },
    hide: () => undefined,
  };
  drawProgress(line, colour)({ ...PROGRESS, done: 500, elapsedMs: 1000 });
  return shown;
}

describe('progress as events', () => {
  test('are said when a phase begins, and then not before 5 s are over', () => {
    expect(
      said([
        [0, {}],
        [4900, { done: 490 }],
        [100, { done: 500 }],
        [100, { done: 510 }],
      ]),
    ).toEqual([
      ['send', 0, 0, -1],
      ['send', 500, 100, 5],
    ]);
  });

  test('are said once at the end of a phase, and when the next one begins', () => {
    expect(
      said([
        [0, { phase: 'index' }],
        [1000, { phase: 'index', done: 1000 }],
        [9000, { phase: 'index', done: 1000 }],
        [100, {}],
      ]),
    ).toEqual([
      ['index', 0, 0, -1],
      ['index', 1000, 1000, 0],
      ['send', 0, 0, -1],
    ]);
  });
});

describe('progress as a bar', () => {
  test('has colours only where they are welcome', () => {
    expect(drawn(false)).not.toContain('\u001B');
    expect(drawn(true)).toContain('\u001B[32m████████████\u001B[0m\u001B[2m░░░░░░░░░░░░\u001B[0m');
  });
});
