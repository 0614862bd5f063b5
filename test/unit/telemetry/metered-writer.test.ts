import { expect, test } from 'vitest';
import { type WriteOutcome } from '../../../src/engine/ports.ts';
import { MeteredWriter } from '../../../src/telemetry/metered-writer.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const record = (topic: string) => ({ topic, key: Buffer.from('k'), value: null, headers: {} });

test('hands records on unchanged and counts them by topic and end', async () => {
  const clock = new ManualClock(0);
  const outcomes: WriteOutcome[] = [
    { do: 'written', partition: 1, offset: 5n },
    { do: 'refused', why: 'too_large' },
    { do: 'unavailable', error: 'NOT_ENOUGH_REPLICAS' },
    { do: 'written', partition: 0, offset: 6n },
  ];
  const asked: unknown[] = [];
  let turn = 0;
  const writer = new MeteredWriter(
    {
      write: async (given, deadlineMs) => {
        asked.push([given, deadlineMs]);
        clock.advance(250);
        return await Promise.resolve(outcomes[turn++] as WriteOutcome);
      },
    },
    clock,
  );
  const topics = ['scores', 'scores', 'scores', 'reviews'];
  for (const [index, topic] of topics.entries())
    expect(await writer.write(record(topic), 100 + index)).toBe(outcomes[index]);
  expect(asked).toEqual(topics.map((topic, index) => [record(topic), 100 + index]));
  const found = writer.report().map(({ topic, ends }) => [topic, [...ends].map(([end, { sum }]) => [end, sum])]);
  expect(found).toEqual([
    [
      'scores',
      [
        ['', 0.25],
        ['too_large', 0.25],
        ['unavailable', 0.25],
      ],
    ],
    ['reviews', [['', 0.25]]],
  ]);
});
