import { expect, test } from 'vitest';
import { readCompareArguments } from '../../bench/compare-arguments.ts';

const SIX = ['connector', 'bare-loop', 'parallel-consumer', 'each-message', 'each-batch', 'aiokafka'];

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

test('compares everybody by turns, three rounds at three latencies, then the connector at other work, pinned', () => {
  const found = readCompareArguments([]);
  if (typeof found === 'string') throw new Error(found);
  const { jobs, ...rest } = found;
  expect(rest).toEqual({
    isUsual: true,
    paced: SIX,
    seconds: 7,
    warmUpSeconds: 3,
    pace: 500,
    pin: true,
    json: null,
    picture: null,
    publishes: false,
  });
  const usual = { flow: 'scoring', keys: 'even', concurrency: 64, partitions: 12, valueBytes: 704, avro: false };
  expect(jobs.slice(0, 3)).toEqual(
    [50, 5, 0].map((latencyMs) => {
      return Object.assign({ name: `${String(latencyMs)} ms`, rivals: SIX, rounds: 3, latencyMs }, usual);
    }),
  );
  expect(jobs.slice(3).map(({ name }) => name)).toEqual([
    '5 ms',
    '0 ms',
    '200 ms',
    '50 ms, 256 at once',
    '50 ms, 1,024 at once',
    '5 ms, 300 partitions',
    '5 ms, 100 kB',
    '5 ms, Avro',
    'updates, 20 ms',
  ]);
  expect(jobs.slice(3).every(({ rounds }) => rounds === 1)).toBe(true);
});

test('is quick with one short round, and with the connector alone at other work', () => {
  expect(readCompareArguments(['--quick'])).toMatchObject({ seconds: 3, warmUpSeconds: 2, paced: SIX.slice(0, 2) });
  const found = readCompareArguments(['--quick', '--seconds', '9']);
  if (typeof found === 'string') throw new Error(found);
  expect(found.seconds).toBe(9);
  expect(found.jobs.find(({ name }) => name === '200 ms')).toMatchObject({ rivals: ['connector'], rounds: 1 });
});

test('does one thing alone where it is told which', () => {
  for (const args of [['--concurrency', '256'], ['--rivals', 'connector'], ['--no-others']])
    expect(readCompareArguments([...args, '--latency', '5'])).toMatchObject({ jobs: [{ name: '5 ms' }] });
  expect(readCompareArguments(['--concurrency', '256'])).toMatchObject({ isUsual: false });
});

test('has only the connector read Avro', () => {
  expect(readCompareArguments(['--avro', '--latency', '5'])).toMatchObject({
    jobs: [{ rivals: ['connector'], avro: true }],
  });
});
