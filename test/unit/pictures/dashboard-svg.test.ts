import { expect, test } from 'vitest';
import { drawDashboard } from '../../pictures/dashboard-svg.ts';
import { panelsOf, type Recorded, type Recording } from '../../pictures/record.ts';

const LINE = { name: 'scoring', labels: {}, points: [0, 3, 6, 9].map((each) => [1000 + each, each] as const) };

function recordingOf(change: Partial<Recording> = {}): Recording {
  const panels = panelsOf().map((panel) => ({ panel, lines: panel.type === 'row' ? [] : [LINE] }));
  return {
    title: 'A trial',
    range: { fromSeconds: 1000, toSeconds: 1009, stepSeconds: 3 },
    ill: null,
    panels,
    ...change,
  };
}

function graphWith(lines: Recorded['lines'], isStacked = false): Recording {
  const panel = panelsOf().find(({ type, fieldConfig }) => {
    const { custom, mappings = [] } = fieldConfig?.defaults ?? {};
    const isAsWanted = custom?.stacking.mode === (isStacked ? 'normal' : 'none');
    return type === 'timeseries' && mappings.length === 0 && isAsWanted;
  });
  if (panel === undefined) throw new Error('the dashboard has no such panel');
  return recordingOf({ panels: [{ panel, lines }] });
}

const linesIn = (drawn: string): readonly string[] => drawn.match(/<path d="M[^"]*" fill="none" stroke="#/g) ?? [];

test('shows every panel of the dashboard by its title', () => {
  const drawn = drawDashboard(recordingOf());
  expect(panelsOf().filter(({ title }) => !drawn.includes(`>${title}</text>`))).toEqual([]);
});

test('shades the illness of the service, and nothing where there was none', () => {
  expect(drawDashboard(recordingOf())).not.toContain('#ffebe9');
  const drawn = drawDashboard(recordingOf({ ill: { fromSeconds: 1003, toSeconds: 1006 } }));
  expect(drawn).toContain('#ffebe9');
  expect(drawn).toContain('Shaded: the service is ill.');
});

test('says so where a panel has no line', () => {
  expect(drawDashboard(graphWith([]))).toContain('>none</text>');
});

test('breaks a line where points are missing', () => {
  const points = [0, 3, 12, 15].map((each) => [1000 + each, 1] as const);
  expect(linesIn(drawDashboard(graphWith([LINE])))).toHaveLength(1);
  expect(linesIn(drawDashboard(graphWith([{ ...LINE, points }])))).toHaveLength(2);
});

test('leaves out what is no number', () => {
  const points = [[1000, Number.NaN] as const, ...LINE.points.slice(1)];
  expect(drawDashboard(graphWith([{ ...LINE, points }]))).not.toContain('NaN');
});

test('stands one line on the other where they are stacked', () => {
  const twice = [LINE, { ...LINE, name: 'sync' }];
  const top = /font-size="9" fill="#57606a">(\d+)/g;
  const highest = (drawn: string): number => Math.max(...[...drawn.matchAll(top)].map(([, value]) => Number(value)));
  expect(highest(drawDashboard(graphWith(twice, true)))).toBe(2 * highest(drawDashboard(graphWith(twice))));
});

test('takes names as words, whatever is in them', () => {
  const drawn = drawDashboard(graphWith([{ ...LINE, name: '<a> & "b"' }]));
  expect(drawn).toContain('&lt;a&gt; &amp; &quot;b&quot;');
});
