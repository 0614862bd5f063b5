import { describe, expect, test } from 'vitest';
import { behindFloodgates } from '../../../src/dead-letters/floodgated.ts';
import { type SourceRecord } from '../../../src/engine/ports.ts';
import { type LetterCode } from '../../../src/kernel/outcome.ts';

function record(topic = 'created'): SourceRecord {
  return { topic, partition: 0, offset: 0n, timestampMs: 0, key: null, value: null, headers: {} };
}

class Bench {
  asked = 0;
  verdict: 'letter' | 'hold' = 'letter';
  readonly written: string[] = [];
  readonly letters = behindFloodgates(
    {
      write: async (_record, { reason }) => {
        this.written.push(reason);
        return await Promise.resolve('written' as const);
      },
    },
    new Map([
      [
        'created',
        {
          letter: () => {
            this.asked += 1;
            return this.verdict;
          },
        },
      ],
    ]),
  );

  async write(reason: LetterCode, at: SourceRecord = record()): Promise<string> {
    return await this.letters.write(at, { reason, stage: 'read' }, 1);
  }
}

test('writes nothing while the floodgate holds, and says why', async () => {
  const bench = new Bench();
  bench.verdict = 'hold';
  expect(await bench.write('undecodable')).toBe('floodgate');
  expect(bench.written).toEqual([]);
});

test('counts a record once, however often its letter is tried', async () => {
  const bench = new Bench();
  const at = record();
  await bench.write('undecodable', at);
  bench.verdict = 'hold';
  expect(await bench.write('undecodable', at)).toBe('written');
  expect(bench.asked).toBe(1);
});

describe('does not ask about', () => {
  test.each<LetterCode>(['card_data', 'ambiguous_then_refused', 'parked_by_operator'])(
    '%s, which is no sign of a flood',
    async (reason) => {
      const bench = new Bench();
      bench.verdict = 'hold';
      expect(await bench.write(reason)).toBe('written');
      expect(bench.asked).toBe(0);
    },
  );

  test.each<LetterCode>(['status_400', 'status_422', 'status_500', 'error_msg', 'rejected_by_service'])(
    '%s, about which the flow has asked',
    async (reason) => {
      const bench = new Bench();
      expect(await bench.write(reason)).toBe('written');
      expect(bench.asked).toBe(0);
    },
  );

  test('a topic that has no floodgate', async () => {
    const bench = new Bench();
    bench.verdict = 'hold';
    expect(await bench.write('undecodable', record('other'))).toBe('written');
  });
});
