import { describe, expect, test } from 'vitest';
import { guarded } from '../../../src/dead-letters/guarded.ts';
import { type SourceRecord } from '../../../src/engine/ports.ts';
import { type LetterCode } from '../../../src/kernel/outcome.ts';

function record(topic = 'created'): SourceRecord {
  return { topic, partition: 0, offset: 0n, timestampMs: 0, key: null, value: null, headers: {} };
}

function ofBatch(batch: bigint | null): SourceRecord {
  return { ...record(), unread: { why: 'record_too_large', batch } };
}

class Bench {
  asked = 0;
  permits = true;
  readonly written: string[] = [];
  readonly letters = guarded(
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
          permitsDeadLetter: () => {
            this.asked += 1;
            return this.permits;
          },
        },
      ],
    ]),
  );

  async write(reason: LetterCode, at: SourceRecord = record()): Promise<string> {
    return await this.letters.write(at, { reason, stage: 'read' }, 1);
  }
}

test('writes nothing while the guard of the flow blocks, and says why', async () => {
  const bench = new Bench();
  bench.permits = false;
  expect(await bench.write('undecodable')).toBe('dead_letter_guard');
  expect(bench.written).toEqual([]);
});

test('spends once for a record, however often its dead letter is tried', async () => {
  const bench = new Bench();
  const at = record();
  await bench.write('undecodable', at);
  bench.permits = false;
  expect(await bench.write('undecodable', at)).toBe('written');
  expect(bench.asked).toBe(1);
});

test('spends once for all records of a batch that could not be read, and again for the next batch', async () => {
  const bench = new Bench();
  for (const batch of [7n, 7n, 7n, 90n, 90n]) await bench.write('record_too_large', ofBatch(batch));
  expect(bench.asked).toBe(2);
  for (let n = 0; n < 3; n += 1) await bench.write('record_too_large', ofBatch(null));
  expect(bench.asked).toBe(5);
});

describe('does not ask about', () => {
  test.each<LetterCode>(['card_data', 'ambiguous_then_refused', 'parked_by_operator'])(
    '%s, which is no sign of more to come',
    async (reason) => {
      const bench = new Bench();
      bench.permits = false;
      expect(await bench.write(reason)).toBe('written');
      expect(bench.asked).toBe(0);
    },
  );

  test.each<LetterCode>([
    'status_400',
    'status_403',
    'status_503',
    'error_msg',
    'unusable_answer',
    'timed_out',
    'connection_failed',
    'rejected_by_service',
  ])('%s, about which the flow has asked', async (reason) => {
    const bench = new Bench();
    bench.permits = false;
    expect(await bench.write(reason)).toBe('written');
    expect(bench.asked).toBe(0);
  });

  test('a topic that has no guard', async () => {
    const bench = new Bench();
    bench.permits = false;
    expect(await bench.write('undecodable', record('other'))).toBe('written');
  });
});
