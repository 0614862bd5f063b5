import { describe, expect, test } from 'vitest';
import { History } from '../../../../src/app/demo/history.ts';
import { emptyMoment } from './scenes.ts';

describe('the last minute', () => {
  test('has no rates before there are two points', () => {
    const history = new History();
    expect(history.rate('created')).toBe(0);
    history.add(emptyMoment({ created: 5 }), 0);
    expect(history.rate('created')).toBe(0);
    expect(history.series('created')).toEqual([]);
  });

  test('keeps one point a second and 60 rates', () => {
    const history = new History();
    for (let half = 0; half <= 200; half += 1) history.add(emptyMoment({ created: half * 5 }), half * 500);
    const series = history.series('created');
    expect(series).toHaveLength(60);
    expect(new Set(series)).toEqual(new Set([10]));
    expect(history.rate('created')).toBe(10);
  });

  test('shows the mean of the last three seconds, and nothing below zero when a reader starts over', () => {
    const history = new History();
    for (const [second, scores] of [0, 0, 0, 90, 0].entries()) history.add(emptyMoment({ scores }), second * 1000);
    expect(history.rate('scores')).toBe(0);
    expect(history.series('scores')).toEqual([0, 0, 90, 0]);
  });
});
