import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { systemClock, systemDraw } from '../../src/edges/system/clock.ts';
import { Engine } from '../../src/engine/engine.ts';
import { type Flow } from '../../src/engine/ports.ts';
import { type EventFields } from '../../src/kernel/emit.ts';
import { DELIVERED } from '../../src/kernel/outcome.ts';
import { type KafkaWorld, kafkaWorld } from '../contract/worlds.ts';
import { eventually } from '../support/eventually.ts';
import { ScriptedFlow } from '../support/scripted-flow.ts';

let world: KafkaWorld;
beforeAll(async () => {
  world = await kafkaWorld(inject('kafka').brokers);
});
afterAll(async () => {
  await world.close();
});

interface Member {
  readonly engine: Engine;
  readonly flow: ScriptedFlow;
  readonly gaps: EventFields['offset_gap'][];
  readonly assigned: EventFields['partitions_assigned'][];
  /** Offsets of partition 0 that were delivered, in their order. */
  readonly delivered: () => number[];
}

/** An engine over a real group whose steps end when the test says so. */
async function member(groupId: string, topic: string): Promise<Member> {
  const flow = new ScriptedFlow();
  flow.limit = 10_000;
  const gaps: Member['gaps'] = [];
  const assigned: Member['assigned'] = [];
  const engine = new Engine({
    source: world.source(groupId, [topic]),
    flows: new Map<string, Flow<unknown, unknown>>([[topic, flow]]),
    deadLetters: { write: async () => await Promise.resolve('written') },
    schemas: { fetch: async () => await Promise.resolve({ do: 'ready' }) },
    clock: systemClock,
    draw: systemDraw,
    emit: (name, fields) => {
      if (name === 'offset_gap') gaps.push(fields as EventFields['offset_gap']);
      if (name === 'partitions_assigned') assigned.push(fields as EventFields['partitions_assigned']);
    },
    commitIntervalMs: 100,
    clusterHash: 'AAAAAA',
    nonce: 'test',
    parked: new Set(),
    onGap: 'earliest',
    barrierMs: 2000,
    pressure: { partitionRecords: 200, partitionSpan: 1e6, flowRecords: 10_000, flowBytes: 1e9 },
  });
  await engine.start();
  const delivered = (): number[] =>
    flow.started.filter(({ job }) => job.record.partition === 0).map(({ job }) => Number(job.record.offset));
  return { engine, flow, gaps, assigned, delivered };
}

const NONE = (_offset: number): boolean => false;
const ALL = (_offset: number): boolean => true;
const numbered = (count: number, from = 0): string[] => Array.from({ length: count }, (_, at) => String(from + at));
const numbers = (from: number, to: number): number[] => numbered(to - from, from).map(Number);

test('records in memory are delivered after their log has lost them, what nobody read is counted, and the other partition goes on', async () => {
  const [topic, groupId] = [await world.createTopic(2), randomUUID()];
  await world.append(topic, 0, numbered(1000));
  const { engine, flow, gaps, assigned } = await member(groupId, topic);
  flow.lane = (_item, record) => String(record.offset);
  const ended: number[] = [];
  /** Of partition 0: whether a record may end now. */
  let mayEnd = NONE;
  flow.answer = ({ record }) => {
    const isOther = record.partition === 1;
    if (!isOther && !mayEnd(Number(record.offset))) return { do: 'wait', forMs: 100, why: 'service_down' };
    ended.push(isOther ? -1 : Number(record.offset));
    return DELIVERED;
  };
  await world.until(() => engine.status().partitions.some(({ buffered }) => buffered >= 200));
  await world.linger();
  // The partition is paused: nobody reads these.
  await world.append(topic, 0, numbered(500, 1000));
  await world.expire(topic, 0, 1300n);
  mayEnd = (offset) => offset >= 200 || offset % 20 > 0;
  await world.until(() => gaps.length === 1);
  await world.append(topic, 1, numbered(50));
  await world.until(() => ended.filter((offset) => offset === -1).length === 50);
  mayEnd = ALL;
  await eventually(
    'all is committed',
    async () => (await world.committed(groupId, { topic, partition: 0 })).offset === 1500n,
  );
  const read = ended.filter((offset) => offset >= 0);
  expect(read.toSorted((a, b) => a - b)).toEqual([...numbers(0, 1000), ...numbers(1300, 1500)]);
  expect(gaps).toEqual([{ topic, partition: 0, why: 'expired', from: '1000', to: '1300', missing: '300' }]);
  // One membership and one assignment: nothing else was disturbed.
  expect(assigned).toHaveLength(1);
  expect((await world.committed(groupId, { topic, partition: 1 })).offset).toBe(50n);
  expect(await engine.stop(5000)).toBe(0);
});

test('what had ended behind a record that has expired is not repeated by the next start, and only that record is missing', async () => {
  const [topic, groupId] = [await world.createTopic(1), randomUUID()];
  await world.append(topic, 0, numbered(150));
  const first = await member(groupId, topic);
  first.flow.answer = ({ record }) =>
    record.offset === 3n ? { do: 'wait', forMs: 600_000, why: 'service_down' } : DELIVERED;
  // The lane of a record is its key, and all have the same.
  first.flow.lane = (_item, record) => String(record.offset);
  await world.until(() => first.delivered().length === 150);
  await first.engine.stop(5000);
  expect((await world.committed(groupId, { topic, partition: 0 })).offset).toBe(3n);
  await world.append(topic, 0, numbered(20, 150));
  await world.expire(topic, 0, 120n);
  const next = await member(groupId, topic);
  next.flow.answer = () => DELIVERED;
  await eventually(
    'all is committed',
    async () => (await world.committed(groupId, { topic, partition: 0 })).offset === 170n,
  );
  expect(next.delivered()).toEqual(numbers(150, 170));
  expect(next.gaps).toEqual([{ topic, partition: 0, why: 'expired', from: '3', to: '120', missing: '1' }]);
  await next.engine.stop(5000);
});
