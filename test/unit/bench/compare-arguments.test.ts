import { expect, test } from 'vitest';
import { readCompareArguments } from '../../bench/compare-arguments.ts';
import { RIVALS } from '../../bench/rivals/roster.ts';

test.each([
  [['--latency', '5,x'], '--latency must be whole'],
  [['--latency', '-1'], '--latency'],
  [['--rivals', 'connector,spark'], '--rivals must be of connector'],
  [['--keys', 'odd'], '--keys must be even or zipf'],
  [['--value-bytes', '100'], '--value-bytes must be whole and from 704'],
  [['--partitions', '0'], '--partitions'],
  [['--rounds', '1.5'], '--rounds'],
  [['--fast'], "Unknown option '--fast'"],
])('refuses %j and says how it is used', (args, problem) => {
  const found = readCompareArguments(args);
  expect(found).toContain(problem);
  expect(found).toContain('npm run bench -- compare');
});

test('compares everybody by turns, three rounds, pinned, unless told otherwise', () => {
  expect(readCompareArguments([])).toEqual({
    rivals: RIVALS.filter((rival) => rival !== 'connector-scores'),
    keys: 'even',
    latencies: [50, 5, 0],
    concurrency: 64,
    partitions: 12,
    valueBytes: 704,
    avro: false,
    rounds: 3,
    seconds: 10,
    warmUpSeconds: 4,
    pace: 500,
    pin: true,
    json: null,
    picture: null,
  });
});

test('is quick with one short round', () => {
  expect(readCompareArguments(['--quick'])).toMatchObject({ rounds: 1, seconds: 4, warmUpSeconds: 2 });
  expect(readCompareArguments(['--quick', '--seconds', '9'])).toMatchObject({ rounds: 1, seconds: 9 });
});

test('has only the connector read Avro', () => {
  expect(readCompareArguments(['--avro'])).toMatchObject({ rivals: ['connector'], avro: true });
});
