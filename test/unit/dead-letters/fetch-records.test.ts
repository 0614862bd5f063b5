import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fetchRecords, placeOf, type Wanted } from '../../../src/dead-letters/fetch-records.ts';
import { type SourceRecord } from '../../../src/engine/ports.ts';
import { InMemoryBroker } from '../../support/in-memory-broker.ts';
import { type InMemorySource } from '../../support/in-memory-source.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const TOPIC = 'payments';

interface Fetching {
  readonly wanted: Wanted;
  readonly mostBytes?: number;
  readonly isStopped?: () => boolean;
  /** Between two steps. */
  readonly meanwhile?: (step: number, source: InMemorySource) => void;
}

function brokerOf(records: number, partitions = 1): InMemoryBroker {
  const broker = new InMemoryBroker();
  broker.createTopic(TOPIC, partitions);
  for (let n = 0; n < records; n += 1)
    for (let partition = 0; partition < partitions; partition += 1)
      broker.append(TOPIC, partition, { value: `v${String(n)}` });
  return broker;
}

async function fetched(broker: InMemoryBroker, fetching: Fetching): Promise<ReadonlyMap<string, SourceRecord> | null> {
  const { wanted, mostBytes = 1e9, isStopped = () => false, meanwhile = () => undefined } = fetching;
  const clock = new ManualClock();
  const source = broker.source('group', [TOPIC]);
  let ended = false;
  const work = fetchRecords({ source, clock, isStopped, mostBytes }, wanted).finally(() => {
    ended = true;
  });
  // It is awaited at the end; until then nobody else listens.
  work.catch(() => undefined);
  for (let step = 0; step < 500; step += 1) {
    await settled();
    if (ended) break;
    meanwhile(step, source);
    await broker.step(7);
    clock.advance(100);
  }
  return await work;
}

test('what is not there is not among what is found: expired, compacted, to come, of no partition', async () => {
  const broker = brokerOf(5);
  broker.skipOffsets(TOPIC, 0, 2);
  broker.append(TOPIC, 0, { value: 'last' });
  broker.expire(TOPIC, 0, 2n);
  const found = await fetched(broker, {
    wanted: new Map([
      [0, [0n, 1n, 3n, 5n, 6n, 7n, 900n]],
      [4, [0n]],
    ]),
  });
  expect([...(found ?? [])].map(([place, { value }]) => [place, String(value)])).toEqual([
    ['0:3', 'v3'],
    ['0:7', 'last'],
  ]);
});

test('nothing wanted is found at once, without a look at Kafka', async () => {
  const source = brokerOf(1).source('group', [TOPIC]);
  const parts = { source, clock: new ManualClock(), isStopped: () => false, mostBytes: 1 };
  expect(await fetchRecords(parts, new Map())).toEqual(new Map());
  expect(source.phase).toBe('idle');
});

test('a stop ends it, and leaves the group', async () => {
  expect(await fetched(brokerOf(5), { wanted: new Map([[0, [3n]]]), isStopped: () => true })).toBeNull();
});

test('more than may be kept is refused', async () => {
  await expect(fetched(brokerOf(5), { wanted: new Map([[0, [1n, 2n, 3n]]]), mostBytes: 3 })).rejects.toMatchObject({
    code: 'INDEX_FULL',
  });
});

test('it goes on after a crash of its membership', async () => {
  const found = await fetched(brokerOf(40), {
    wanted: new Map([[0, [1n, 20n, 39n]]]),
    meanwhile: (step, source) => {
      if (step === 1) source.crash();
    },
  });
  expect([...(found ?? new Map()).keys()]).toEqual(['0:1', '0:20', '0:39']);
});

test('it goes on behind what expires while it reads', async () => {
  const broker = brokerOf(60);
  const found = await fetched(broker, {
    wanted: new Map([[0, [1n, 20n, 21n, 39n, 50n]]]),
    meanwhile: (step) => {
      if (step === 1) broker.expire(TOPIC, 0, 39n);
    },
  });
  expect([...(found ?? new Map()).keys()]).toEqual(['0:1', '0:39', '0:50']);
});

test('whatever is wanted of whatever is there is found, nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 60 })), { maxLength: 20 }),
      fc.nat({ max: 50 }),
      async (positions, records) => {
        const broker = brokerOf(records, 3);
        const wanted = new Map<number, bigint[]>();
        for (const [partition, offset] of positions)
          wanted.set(partition, [...(wanted.get(partition) ?? []), BigInt(offset)]);
        const found = await fetched(broker, { wanted });
        const expected = broker
          .records(TOPIC)
          .filter(({ partition, offset }) => wanted.get(partition)?.includes(offset))
          .map(placeOf);
        expect(new Set((found ?? new Map()).keys())).toEqual(new Set(expected));
      },
    ),
    { numRuns: 60 },
  );
});
