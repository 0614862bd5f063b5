import { describe, expect, test } from 'vitest';
import { type Outgoing, PartitionQueue, type SendResult } from '../../../../src/edges/kafka/partition-queue.ts';
import { type WriteOutcome } from '../../../../src/engine/ports.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

/** A partition whose answers a test gives, one send after the other. */
class Scripted {
  readonly clock = new ManualClock();
  readonly sent: string[][] = [];
  readonly outcomes = new Map<string, WriteOutcome>();
  readonly #answers: ((result: SendResult) => void)[] = [];
  readonly #queue = new PartitionQueue({
    partition: 3,
    clock: this.clock,
    draw: () => 0.5,
    onRetry: () => {},
    join: (queue) => {
      queue.goAlone();
    },
    send: async (_partition, outgoing) => {
      this.sent.push(outgoing.map(({ record }) => String(record.value)));
      return await new Promise((resolve) => {
        this.#answers.push(resolve);
      });
    },
  });

  push(name: string, bytes = 10): Outgoing {
    const outgoing: Outgoing = {
      record: { topic: 't', key: null, value: Buffer.from(name), headers: {} },
      bytes,
      isSettled: () => this.outcomes.has(name),
      settle: (outcome) => {
        this.outcomes.set(name, outcome);
      },
    };
    this.#queue.push(outgoing);
    return outgoing;
  }

  async answer(result: SendResult): Promise<void> {
    this.#answers.shift()?.(result);
    await settled();
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await settled();
  }
}

const WRITTEN: SendResult = { do: 'written', baseOffset: 7n };
const FAILED: SendResult = { do: 'failed', error: 'x' };

describe('PartitionQueue', () => {
  test('sends one batch at a time, and what comes meanwhile as the next', async () => {
    const queue = new Scripted();
    for (const name of ['a', 'b', 'c']) queue.push(name);
    expect(queue.sent).toEqual([['a']]);
    await queue.answer(WRITTEN);
    expect(queue.sent).toEqual([['a'], ['b', 'c']]);
    await queue.answer(WRITTEN);
    expect(queue.outcomes.get('c')).toEqual({ do: 'written', partition: 3, offset: 8n });
  });

  test('repeats a failed batch before anything that came later', async () => {
    const queue = new Scripted();
    queue.push('a');
    await queue.answer(FAILED);
    queue.push('b');
    expect(queue.sent).toHaveLength(1);
    await queue.pass(100);
    expect(queue.sent[1]).toEqual(['a', 'b']);
  });

  test('repeats without what has run out of time', async () => {
    const queue = new Scripted();
    queue.push('a');
    await queue.answer(FAILED);
    const late = queue.push('late');
    queue.push('c');
    late.settle({ do: 'unavailable', error: 'x' });
    await queue.pass(100);
    expect(queue.sent[1]).toEqual(['a', 'c']);
  });

  test('halves a refused batch until the one that is meant is refused alone', async () => {
    const queue = new Scripted();
    for (const name of ['first', 'a', 'b', 'bad', 'c']) queue.push(name);
    await queue.answer(WRITTEN);
    for (let round = 0; round < 20 && queue.outcomes.size < 5; round += 1) {
      const bad = queue.sent.at(-1)?.includes('bad') === true;
      await queue.answer(bad ? { do: 'refused', why: 'too_large' } : WRITTEN);
    }
    expect([...queue.outcomes].filter(([, outcome]) => outcome.do === 'refused').map(([name]) => name)).toEqual([
      'bad',
    ]);
    expect(queue.outcomes.size).toBe(5);
  });

  test('bounds a batch by bytes, but never below one record', async () => {
    const queue = new Scripted();
    queue.push('first');
    queue.push('huge', 900_000);
    queue.push('next');
    await queue.answer(WRITTEN);
    expect(queue.sent[1]).toEqual(['huge']);
  });

  describe('a record that ends its connection', () => {
    const CUT: SendResult = { do: 'failed', error: 'x', isCut: true };
    const LARGE = 600 * 1024;

    test('is too large after three times in a row, and what is behind it goes on', async () => {
      const queue = new Scripted();
      queue.push('large', LARGE);
      queue.push('behind');
      for (let cut = 0; cut < 3; cut += 1) {
        expect(queue.outcomes.size).toBe(0);
        await queue.answer(CUT);
        await queue.pass(10_000);
      }
      expect(queue.outcomes.get('large')).toEqual({ do: 'refused', why: 'too_large' });
      await queue.answer(WRITTEN);
      expect(queue.sent).toEqual([['large'], ['large'], ['large'], ['behind']]);
      expect(queue.outcomes.get('behind')).toMatchObject({ do: 'written' });
    });

    test.each([
      ['is small', 10, [CUT, CUT, CUT, CUT]],
      ['fails in another way in between', LARGE, [CUT, CUT, FAILED, CUT, CUT]],
      ['ends it while nobody else is answered', LARGE, [FAILED, FAILED, FAILED, FAILED]],
    ])('is repeated where it %s', async (_where, bytes, answers) => {
      const queue = new Scripted();
      queue.push('it', bytes);
      for (const answer of answers) {
        await queue.answer(answer);
        await queue.pass(10_000);
      }
      expect(queue.outcomes.size).toBe(0);
      expect(queue.sent).toHaveLength(answers.length + 1);
    });
  });
});
