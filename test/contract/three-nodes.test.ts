import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createKafkaWriter } from '../../src/edges/kafka/writer.ts';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { type KafkaAndRegistry, startKafka } from '../../src/sandbox/broker/start.ts';
import { isContiguous, Members, offsetsByPartition, range } from './members.ts';
import { Pulse } from './pulse.ts';
import { connect, type KafkaWorld, kafkaWorld, type Recorder } from './worlds.ts';

const PARTITIONS = 6;

/** One replica of each partition; another round, another node. */
const replicas = (round: number): { partition: number; replicas: number[] }[] =>
  range(PARTITIONS).map((partition) => ({ partition, replicas: [1 + ((partition + round) % 3)] }));

/** Java's hash of a string: so a group finds its partition of the offsets topic. */
const hashOf = (text: string): number => {
  let hash = 0;
  for (const unit of text) hash = (Math.imul(31, hash) + (unit.codePointAt(0) ?? 0)) | 0;
  return Math.abs(hash);
};

/** Each membership has begun with a barrier of its own, and nothing was handed over between a barrier's end and the assignment. */
const everyJoinHadItsBarrier = ({ log }: Recorder): boolean => {
  let passed = false;
  return log.every((said) => {
    if (said === 'barrier ends') passed = true;
    if (said === 'records') return !passed;
    if (said !== 'assigned') return true;
    const before = passed;
    passed = false;
    return before;
  });
};

/** Writes one record to every partition again and again, and knows which were acknowledged. */
class Load {
  readonly acknowledged = new Set<string>();
  readonly #world: KafkaWorld;
  readonly #topic: string;
  #ending = false;
  #done: Promise<unknown>;

  constructor(world: KafkaWorld, topic: string) {
    this.#world = world;
    this.#topic = topic;
    this.#done = Promise.all(range(PARTITIONS).map(async (partition) => await this.#write(partition)));
  }

  async stop(): Promise<void> {
    this.#ending = true;
    await this.#done;
  }

  async #write(partition: number): Promise<void> {
    for (let n = 0; !this.#ending; n += 1) {
      const value = `${String(partition)}:${String(n)}`;
      try {
        await this.#world.append(this.#topic, partition, [value]);
        this.acknowledged.add(value);
      } catch {
        // Not acknowledged: it may be there or not.
      }
      await this.#world.rest(40);
    }
  }
}

describe('a source kafkajs over three nodes', { timeout: 150_000 }, () => {
  let kafka: KafkaAndRegistry;
  let world: KafkaWorld;
  let load: Load | undefined;
  let pulses: Pulse[] = [];
  let topic: string;
  let groupId: string;
  const members = new Members(() => world);

  beforeAll(async () => {
    kafka = await startKafka({ nodes: 3, registry: false, env: process.env, say: () => {} });
  });
  beforeEach(async () => {
    // A producer of its own: one that knows a topic without a leader can write to none.
    world = await kafkaWorld(kafka.brokers, 3);
    groupId = randomUUID();
  });
  afterEach(async () => {
    await load?.stop();
    await Promise.all(
      pulses.map(async (pulse) => {
        await pulse.stop();
      }),
    );
    pulses = [];
    await members.stopAll();
    await world.close();
    // What a failed test has left dead.
    await Promise.all(
      kafka.nodes.map(async (node) => {
        await node.start();
      }),
    );
  });
  afterAll(async () => {
    await kafka.stop();
  });

  /** Two members under load, with everything read so far. */
  const begin = async () => {
    const group = [await members.keeper(groupId, [topic]), await members.keeper(groupId, [topic])];
    const recorders = group.map(({ recorder }) => recorder);
    await world.until(() => recorders.every(({ owned }) => owned.length === PARTITIONS / 2));
    load = new Load(world, topic);
    await world.until(() => recorders.every(({ values }) => values.length > 10));
    return recorders;
  };
  /** Waits until what is acknowledged from now on arrives, from every partition. */
  const goesOn = async (recorders: readonly Recorder[]): Promise<void> => {
    const highest = (partition: number): number =>
      Math.max(
        -1,
        ...recorders.flatMap(({ received }) =>
          received.flatMap((r) => (r.partition === partition ? [Number(r.offset)] : [])),
        ),
      );
    const before = range(PARTITIONS).map(highest);
    await world.until(() => range(PARTITIONS).every((partition) => highest(partition) > (before[partition] ?? 0) + 5));
  };
  /** Ends the load, waits for what was acknowledged, and says what is wrong with what was handed over. */
  const faultsOf = async (recorders: readonly Recorder[]): Promise<string[]> => {
    await load?.stop();
    const missing = (): string[] => {
      const received = new Set(recorders.flatMap(({ values }) => values));
      return [...(load?.acknowledged ?? [])].filter((value) => !received.has(value));
    };
    await world.until(() => missing().length === 0);
    const faults: string[] = [];
    if (!recorders.every(isContiguous)) faults.push('a gap between batches');
    if (!recorders.every(everyJoinHadItsBarrier)) faults.push('a join without a barrier of its own');
    for (const [name, offsets] of offsetsByPartition(recorders)) {
      const distinct = new Set(offsets);
      if (distinct.size !== Math.max(...offsets) + 1) faults.push(`${name}: not every offset`);
    }
    return faults;
  };

  test('loses and skips nothing while leaders move, and passes a barrier before each join', async () => {
    topic = `moving-${randomUUID()}`;
    await world.raw.createTopics({
      topics: [
        {
          topic,
          replicaAssignment: replicas(0),
          configEntries: [{ name: 'min.insync.replicas', value: '1' }],
        },
      ],
    });
    const recorders = await begin();
    const before = recorders.map(({ assignments }) => assignments.length);
    for (const round of [1, 2, 3]) {
      // All leaders at once: the fetchers of several brokers notice at the same time.
      await world.raw.alterPartitionReassignments({
        topics: [{ topic, partitionAssignment: replicas(round) }],
      });
      await goesOn(recorders);
    }
    expect(await faultsOf(recorders)).toEqual([]);
    expect(recorders.some(({ assignments }, index) => assignments.length > (before[index] ?? 0))).toBe(true);
  });

  /** Two members with a pulse, under load. */
  const beginWithPulse = async () => {
    const parts = { world, members };
    pulses = [await Pulse.of(parts, groupId, [topic]), await Pulse.of(parts, groupId, [topic])];
    const recorders = pulses.map(({ reader: { recorder } }) => recorder);
    await world.until(() => recorders.every(({ owned }) => owned.length === PARTITIONS / 2));
    load = new Load(world, topic);
    await world.until(() => pulses.every(({ commits }) => commits > 4));
    for (const pulse of pulses) pulse.reset();
    return recorders;
  };
  const coordinatorOf = async () => {
    const { topics } = await world.raw.fetchTopicMetadata({ topics: ['__consumer_offsets'] });
    const offsets = topics[0]?.partitions ?? [];
    const leader = offsets.find(({ partitionId }) => partitionId === hashOf(groupId) % offsets.length)?.leader;
    const coordinator = kafka.nodes.find(({ id }) => id === leader);
    if (coordinator === undefined) throw new Error('nobody coordinates');
    return coordinator;
  };
  /** Until each member has found that it may not write, and may again, and its commits are taken. */
  const heals = async (): Promise<void> => {
    await world.until(() => pulses.every(({ mayWrite }) => !mayWrite));
    const before = pulses.map(({ commits }) => commits);
    await world.until(() => pulses.every(({ mayWrite, commits }, index) => mayWrite && commits > (before[index] ?? 0)));
  };
  /** Twice what it takes on a quiet machine, most of which the brokers take to see that one of them is gone. */
  const STALL_MS = 15_000;
  const longestStallMs = (): number => Math.max(...pulses.flatMap(({ stalls }) => [stalls.commitMs, stalls.fenceMs]));

  test('goes on when the node that coordinates its group is killed', async () => {
    topic = await world.createTopic(PARTITIONS);
    const recorders = await beginWithPulse();
    const coordinator = await coordinatorOf();
    await coordinator.kill('SIGKILL');
    await heals();
    expect(recorders.map(({ losses }) => losses)).toEqual([0, 0]);
    expect(longestStallMs()).toBeLessThan(STALL_MS);
    await goesOn(recorders);
    await coordinator.start();
    expect(await faultsOf(recorders)).toEqual([]);
  });

  test('goes on when the node that coordinates its group answers nothing', async () => {
    topic = await world.createTopic(PARTITIONS);
    const recorders = await beginWithPulse();
    const coordinator = await coordinatorOf();
    await coordinator.kill('SIGSTOP');
    try {
      await heals();
    } finally {
      await coordinator.kill('SIGCONT');
    }
    expect(recorders.map(({ losses }) => losses)).toEqual([0, 0]);
    expect(longestStallMs()).toBeLessThan(STALL_MS);
    await goesOn(recorders);
    expect(await faultsOf(recorders)).toEqual([]);
  });

  test('goes on by itself after all brokers were away', async () => {
    topic = await world.createTopic(PARTITIONS);
    const recorders = await begin();
    await Promise.all(
      kafka.nodes.map(async (node) => {
        await node.kill('SIGKILL');
      }),
    );
    await Promise.all(
      kafka.nodes.map(async (node) => {
        await node.start();
      }),
    );
    await goesOn(recorders);
    expect(await faultsOf(recorders)).toEqual([]);
  });

  test('writes what it acknowledges, once at its place and in order, while leaders move', async () => {
    topic = `written-${randomUUID()}`;
    await world.raw.createTopics({
      topics: [{ topic, replicaAssignment: replicas(0), configEntries: [{ name: 'min.insync.replicas', value: '1' }] }],
    });
    const { client, emit } = connect(kafka.brokers);
    const writer = createKafkaWriter({ client, emit, clock: systemClock, draw: systemDraw });
    const places = new Map<string, string>();
    const ending = new AbortController();
    // Several at once for each key, so that a request holds many partitions and a partition many records.
    const writers = range(4 * PARTITIONS).map(async (key) => {
      for (let n = 0; !ending.signal.aborted; n += 1) {
        const value = `${String(key)}:${String(n)}`;
        const record = { topic, key: Buffer.from(String(key)), value: Buffer.from(value), headers: { a: '1' } };
        const outcome = await writer.write(record, 30_000);
        if (outcome.do === 'written') places.set(value, `${String(outcome.partition)}:${String(outcome.offset)}`);
      }
    });
    for (const round of [1, 2, 3]) {
      const before = places.size;
      await world.raw.alterPartitionReassignments({ topics: [{ topic, partitionAssignment: replicas(round) }] });
      await world.until(() => places.size > before + 2000);
    }
    ending.abort();
    await Promise.all(writers);
    await writer.close();

    const member = await members.keeper(groupId, [topic]);
    await Promise.all(range(PARTITIONS).map(async (partition) => await world.append(topic, partition, ['the end'])));
    // By partition: what is written while its leader moves may be there twice.
    const ended = (): Set<number> =>
      new Set(member.recorder.received.flatMap((read) => (String(read.value) === 'the end' ? [read.partition] : [])));
    await world.until(() => ended().size === PARTITIONS);
    const found = member.recorder.received.map((read) => ({
      value: String(read.value),
      place: `${String(read.partition)}:${String(read.offset)}`,
    }));
    const byPlace = new Map(found.map(({ place, value }) => [place, value]));
    const elsewhere = [...places].flatMap(([value, place]) => {
      const there = byPlace.get(place);
      return there === value ? [] : [{ value, place, there }];
    });
    expect(elsewhere).toEqual([]);
    // A repeat may follow its first; nothing older follows anything newer. By place: a join may have had some read twice.
    const newest = new Map<string, number>();
    const inPlace = [...byPlace].map(([place, value]) => ({ value, offset: Number(place.split(':')[1]) }));
    inPlace.sort((one, other) => one.offset - other.offset);
    const overtaken = inPlace.filter(({ value }) => {
      const [key = '', n = ''] = value.split(':');
      const last = newest.get(key) ?? -1;
      newest.set(key, Math.max(last, Number(n)));
      return Number(n) < last;
    });
    expect(overtaken).toEqual([]);
  });
});
