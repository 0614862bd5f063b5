import { createRequire } from 'node:module';
import { AssignerProtocol } from 'kafkajs';
import { describe, expect, test, vi } from 'vitest';
import { repairKafkajs } from '../../../../src/edges/kafka/repairs.ts';
import { settled } from '../../../support/manual-clock.ts';

/** The part of kafkajs' own group member that is used here. */
interface ConsumerGroup {
  readonly generationId: number | null;
  joinAndSync(): Promise<void>;
  recoverFromFetch(error: unknown): Promise<void>;
}
type ConsumerGroupClass = new (options: object) => ConsumerGroup;

const load = createRequire(import.meta.url);
const Group = load('kafkajs/src/consumer/consumerGroup') as ConsumerGroupClass;
const { MemberAssignment } = AssignerProtocol;

const moved = (): Error => Object.assign(new Error('moved'), { type: 'NOT_LEADER_FOR_PARTITION' });

/** kafkajs' group member, with a cluster that answers a JoinGroup when told. */
const member = (retries = 0) => {
  const joins: { answer: () => void; fail: (error: Error) => void }[] = [];
  const events: string[] = [];
  const coordinator = {
    joinGroup: async () => {
      const answer = Promise.withResolvers<void>();
      joins.push({ answer: answer.resolve, fail: answer.reject });
      await answer.promise;
      return { generationId: joins.length, leaderId: 'l', memberId: 'm', members: [], groupProtocol: 'p' };
    },
    syncGroup: async () => {
      await Promise.resolve();
      const assignment = { t: [0] };
      return { memberAssignment: MemberAssignment.encode({ version: 0, assignment, userData: Buffer.alloc(0) }) };
    },
  };
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const group = new Group({
    retry: { retries, initialRetryTime: 1 },
    cluster: {
      findGroupCoordinator: async () => await Promise.resolve(coordinator),
      refreshMetadata: async () => {
        await Promise.resolve();
      },
      committedOffsets: () => ({}),
      findTopicPartitionMetadata: () => [{ partitionId: 0 }],
    },
    groupId: 'g',
    topics: ['t'],
    topicConfigurations: {},
    logger: { namespace: () => silent },
    instrumentationEmitter: { emit: (name: string) => events.push(name) },
    assigners: [{ name: 'p', protocol: () => ({}) }],
  });
  return { group, joins, events };
};

describe('what is repaired in kafkajs', () => {
  test('is in force for the version that is installed, however often it is asked for', () => {
    expect(repairKafkajs()).toBe(true);
    expect(repairKafkajs()).toBe(true);
  });

  test("joins once when two brokers' fetchers find their leaders moved at the same time", async () => {
    repairKafkajs();
    const { group, joins, events } = member();
    const recoveries = [group.recoverFromFetch(moved()), group.recoverFromFetch(moved())];
    await settled();
    expect(joins).toHaveLength(1);
    joins[0]?.answer();
    await Promise.all(recoveries);
    expect(events).toEqual(['consumer.group_join']);
    expect(group.generationId).toBe(1);
  });

  test('joins again for a fetcher that finds its leader moved after the join', async () => {
    repairKafkajs();
    const { group, joins } = member();
    const first = group.recoverFromFetch(moved());
    await settled();
    joins[0]?.answer();
    await first;
    const second = group.recoverFromFetch(moved());
    await settled();
    joins[1]?.answer();
    await second;
    expect(group.generationId).toBe(2);
  });

  test('tells all who wait for a join that it failed, and joins anew afterwards', async () => {
    repairKafkajs();
    const { group, joins } = member();
    const recoveries = [group.recoverFromFetch(moved()), group.recoverFromFetch(moved())];
    await settled();
    joins[0]?.fail(Object.assign(new Error('x'), { type: 'COORDINATOR_LOAD_IN_PROGRESS' }));
    expect((await Promise.allSettled(recoveries)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    const again = group.recoverFromFetch(moved());
    await settled();
    joins[1]?.answer();
    await again;
    expect(group.generationId).toBe(2);
  });

  test('joins again where the coordinator has not read the group yet, and does not end the consumer', async () => {
    repairKafkajs();
    const { group, joins } = member(1);
    const join = group.joinAndSync();
    await settled();
    joins[0]?.fail(Object.assign(new Error('x'), { type: 'GROUP_LOAD_IN_PROGRESS' }));
    await vi.waitFor(() => {
      expect(joins).toHaveLength(2);
    });
    joins[1]?.answer();
    await join;
    expect(group.generationId).toBe(2);
  });
});
