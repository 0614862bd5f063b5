import { expect, test } from 'vitest';
import { BucketCounts } from '../../../src/kernel/bucket-counts.ts';
import { expose } from '../../../src/telemetry/exposition.ts';

test('texts that hold quotes, backslashes and line ends break no line', () => {
  const text = expose({
    name: 'x',
    type: 'gauge',
    help: 'one\ntwo \\ three "four"',
    samples: [{ labels: { a: 'q"\\\n' }, value: 1 }],
  });
  expect(text).toBe('# HELP x one\\ntwo \\\\ three "four"\n# TYPE x gauge\nx{a="q\\"\\\\\\n"} 1\n');
});

test('numbers that are none are written as Prometheus reads them', () => {
  const values = [Infinity, -Infinity, Number.NaN, 0.5, 1e21];
  const text = expose({ name: 'x', type: 'gauge', help: '', samples: values.map((value) => ({ labels: {}, value })) });
  expect(text.split('\n').slice(2, -1)).toEqual(['x +Inf', 'x -Inf', 'x NaN', 'x 0.5', 'x 1e+21']);
});

test('a distribution is written as buckets that add up, with sum and count', () => {
  const counts = new BucketCounts([0.1, 1]);
  for (const value of [0.1, 0.5, 0.5, 7]) counts.add(value);
  const text = expose({
    name: 'x_seconds',
    type: 'histogram',
    help: 'Something.',
    samples: [{ labels: { flow: 'sync' }, value: counts }],
  });
  expect(text.split('\n').slice(1, -1)).toEqual([
    '# TYPE x_seconds histogram',
    'x_seconds_bucket{flow="sync",le="0.1"} 1',
    'x_seconds_bucket{flow="sync",le="1"} 3',
    'x_seconds_bucket{flow="sync",le="+Inf"} 4',
    'x_seconds_sum{flow="sync"} 8.1',
    'x_seconds_count{flow="sync"} 4',
  ]);
});

test('a metric without samples still says what it is', () => {
  expect(expose({ name: 'x', type: 'counter', help: 'H.', samples: [] })).toBe('# HELP x H.\n# TYPE x counter\n');
});
