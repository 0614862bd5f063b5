import { describe, expect, test } from 'vitest';
import { type Batch, Bundles } from '../../../../src/edges/kafka/bundles.ts';
import { PartitionQueue, type SendResult } from '../../../../src/edges/kafka/partition-queue.ts';
import { ManualClock, settled } from '../../../support/manual-clock.ts';

const written = (baseOffset = 0n): SendResult => ({ do: 'written', baseOffset });
const FAILED: SendResult = { do: 'failed', error: 'NOT_LEADER_FOR_PARTITION' };

/** A topic whose requests a test answers; even partitions are led by node 0, odd ones by node 1, until it says otherwise. */
class Topic {
  readonly clock = new ManualClock();
  /** `partition:record record` of each request, those of a partition alone with a `!`. */
  readonly sent: string[][] = [];
  readonly settled: string[] = [];
  readonly retries: string[] = [];
  leaderOf = (partition: number): number => partition % 2;
  readonly #answers: ((results: readonly SendResult[]) => void)[] = [];
  readonly #bundles = new Bundles({
    clock: this.clock,
    leaderOf: (partition) => this.leaderOf(partition),
    send: async (batches) => {
      this.sent.push(batches.map(({ partition, outgoing }) => named(partition, outgoing)));
      return await this.#answered();
    },
  });
  readonly #queues = new Map<number, PartitionQueue>();

  push(partition: number, name: string, bytes = 10): void {
    let isSettled = false;
    this.#queue(partition).push({
      record: { topic: 't', key: null, value: Buffer.from(name), headers: {} },
      bytes,
      isSettled: () => isSettled,
      settle: (outcome) => {
        isSettled = true;
        this.settled.push(`${name} ${outcome.do}`);
      },
    });
  }

  /** Answers the oldest open request. */
  async answer(...results: readonly SendResult[]): Promise<void> {
    this.#answers.shift()?.(results);
    await settled();
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await settled();
  }

  async #answered(): Promise<readonly SendResult[]> {
    return await new Promise((resolve) => {
      this.#answers.push(resolve);
    });
  }

  #queue(partition: number): PartitionQueue {
    const known = this.#queues.get(partition);
    if (known !== undefined) return known;
    const queue = new PartitionQueue({
      partition,
      clock: this.clock,
      draw: () => 1,
      onRetry: (error) => this.retries.push(`${String(partition)} ${error}`),
      join: (joining) => {
        this.#bundles.join(joining);
      },
      send: async (to, outgoing) => {
        this.sent.push([`!${named(to, outgoing)}`]);
        const [result] = await this.#answered();
        return result ?? FAILED;
      },
    });
    this.#queues.set(partition, queue);
    return queue;
  }
}

function named(partition: number, outgoing: Batch['outgoing']): string {
  return `${String(partition)}:${outgoing.map(({ record }) => String(record.value)).join(' ')}`;
}

describe('a bundle', () => {
  test('holds what came in one turn for the partitions of one leader', async () => {
    const topic = new Topic();
    for (const [partition, name] of [
      [0, 'a'],
      [2, 'b'],
      [1, 'c'],
      [0, 'd'],
    ] as const)
      topic.push(partition, name);
    expect(topic.sent).toEqual([]);
    await settled();
    expect(topic.sent).toEqual([['0:a d', '2:b'], ['1:c']]);
  });

  test('is the only one of its leader, and what comes meanwhile is the next', async () => {
    const topic = new Topic();
    topic.push(0, 'a');
    await settled();
    topic.push(0, 'b');
    topic.push(2, 'c');
    await settled();
    expect(topic.sent).toEqual([['0:a']]);
    await topic.answer(written());
    expect(topic.sent).toEqual([['0:a'], ['2:c', '0:b']]);
  });

  test('settles each partition by its own answer', async () => {
    const topic = new Topic();
    topic.push(0, 'a');
    topic.push(2, 'b');
    topic.push(4, 'c');
    await settled();
    await topic.answer(written(), FAILED, { do: 'refused', why: 'too_large' });
    expect(topic.settled).toEqual(['a written', 'c refused']);
    expect(topic.retries).toEqual(['2 NOT_LEADER_FOR_PARTITION']);
  });

  test('counts a partition without an answer as not written', async () => {
    const topic = new Topic();
    topic.push(0, 'a');
    topic.push(2, 'b');
    await settled();
    await topic.answer(written());
    expect(topic.settled).toEqual(['a written']);
    expect(topic.retries).toEqual(['2 UNACKNOWLEDGED']);
  });

  test('leaves a partition out that failed: it repeats alone, in order, until it is acknowledged', async () => {
    const topic = new Topic();
    topic.push(0, 'a');
    await settled();
    await topic.answer(FAILED);
    topic.push(0, 'b');
    topic.push(2, 'c');
    await topic.pass(100);
    expect(topic.sent.slice(1)).toEqual([['2:c'], ['!0:a b']]);
    await topic.answer(written());
    await topic.answer(written());
    topic.push(0, 'd');
    topic.push(2, 'e');
    await settled();
    expect(topic.sent.at(-1)).toEqual(['0:d', '2:e']);
    expect(topic.settled).toEqual(['c written', 'a written', 'b written']);
  });

  test('that fails frees who waits for the same leader: each tries alone', async () => {
    const topic = new Topic();
    topic.push(0, 'a');
    await settled();
    topic.push(2, 'b');
    topic.push(4, 'c');
    await topic.answer(FAILED);
    expect(topic.sent.slice(1)).toEqual([['!2:b'], ['!4:c']]);
  });

  test('that is not answered within a second keeps nobody waiting', async () => {
    const topic = new Topic();
    topic.push(0, 'a');
    await settled();
    topic.push(2, 'b');
    await topic.pass(999);
    expect(topic.sent).toEqual([['0:a']]);
    await topic.pass(1);
    expect(topic.sent).toEqual([['0:a'], ['!2:b']]);
    topic.push(4, 'c');
    await settled();
    expect(topic.sent.at(-1)).toEqual(['!4:c']);
    await topic.answer(written());
    topic.push(6, 'd');
    await settled();
    expect(topic.sent.at(-1)).toEqual(['6:d']);
  });

  test('goes to the leader of now', async () => {
    const topic = new Topic();
    topic.push(0, 'a');
    await settled();
    topic.push(2, 'b');
    topic.leaderOf = (partition) => (partition === 2 ? 7 : 0);
    await topic.answer(written());
    expect(topic.sent).toEqual([['0:a'], ['2:b']]);
  });

  test('is bounded in bytes, but never below one partition', async () => {
    const topic = new Topic();
    topic.push(0, 'a', 3_000_000);
    topic.push(2, 'b', 3_000_000);
    topic.push(4, 'c');
    await settled();
    expect(topic.sent).toEqual([['0:a']]);
    await topic.answer(written());
    expect(topic.sent[1]).toEqual(['2:b']);
    await topic.answer(written());
    expect(topic.sent[2]).toEqual(['4:c']);
  });
});
