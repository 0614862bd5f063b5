import { AssignerProtocol, type Cluster, type Logger } from 'kafkajs';
import { describe, expect, test } from 'vitest';
import {
  assignersOf,
  decodeClaim,
  encodeClaim,
  Ownership,
  protocolName,
  stickyAssigner,
} from '../../../../src/edges/kafka/assigner.ts';
import { assignUnits } from '../../../../src/engine/assignment.ts';

const cluster = (counts: Readonly<Record<string, number>>): Cluster =>
  ({
    findTopicPartitionMetadata: (topic: string) =>
      Array.from({ length: counts[topic] ?? 0 }, (_, partitionId) => ({ partitionId })),
  }) as unknown as Cluster;

const assigner = (counts: Readonly<Record<string, number>>, mismatches: unknown[] = []) => {
  const topics = Object.keys(counts);
  const ownership = new Ownership();
  const make = stickyAssigner(topics, {
    ownership,
    assign: assignUnits,
    onMismatch: (found) => mismatches.push(found),
    onCluster: () => {},
  });
  return { ownership, topics, own: make({ cluster: cluster(counts), groupId: 'g', logger: {} as Logger }) };
};

describe('the assigner', () => {
  test.each([null, '', 'no json', '{"v":2,"g":1,"u":[1]}', '{"v":1,"g":"1","u":[1]}', 'null'])(
    'takes a claim of %s for none',
    (raw) => {
      expect(decodeClaim(raw === null ? null : Buffer.from(raw))).toEqual({ generation: -1, units: [] });
    },
  );

  test('reads back the claim it wrote', () => {
    const claim = { generation: 4, units: [0, 7] };
    expect(decodeClaim(encodeClaim(claim))).toEqual(claim);
  });

  test('has a protocol name of its topics, in whatever order they are given', () => {
    expect(protocolName(['b', 'a'])).toBe('co-partitioned-sticky:a,b');
  });

  test('tells in the subscription, as version 0, what it owned', () => {
    const { own, ownership, topics } = assigner({ a: 4, b: 4 });
    ownership.joined({ a: [1, 3], b: [1, 3] });
    ownership.heartbeat(9);
    const { name, metadata } = own.protocol({ topics });
    const decoded = AssignerProtocol.MemberMetadata.decode(metadata);
    expect(name).toBe('co-partitioned-sticky:a,b');
    expect(decoded?.version).toBe(0);
    expect(decodeClaim(decoded?.userData)).toEqual({ generation: 9, units: [1, 3] });
  });

  test('gives a partition number of all topics to one member, and says where counts differ', async () => {
    const mismatches: unknown[] = [];
    const { own, topics } = assigner({ a: 4, b: 2 }, mismatches);
    const members = ['m1', 'm2'].map((memberId) => ({ memberId, memberMetadata: own.protocol({ topics }).metadata }));
    const assigned = await own.assign({
      members: [...members, { memberId: 'm3', memberMetadata: Buffer.from('?') }],
      topics,
    });
    const decoded = assigned.map(({ memberAssignment }) => AssignerProtocol.MemberAssignment.decode(memberAssignment));
    expect(decoded.flatMap((of) => of?.assignment['a'] ?? []).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3]);
    for (const of of decoded)
      expect(of?.assignment['b']).toEqual((of?.assignment['a'] ?? []).filter((partition) => partition < 2));
    expect(mismatches).toEqual([{ a: 4, b: 2 }]);
  });
});

const namesOffered = (assignor: 'co-partitioned-sticky' | 'round-robin'): string[] => {
  const options = { ownership: new Ownership(), assign: assignUnits, onCluster: () => {} };
  return assignersOf(assignor, ['a', 'b'], options).map(
    (make) => make({ cluster: cluster({}), groupId: 'g', logger: {} as Logger }).name,
  );
};

describe('the assigners that a member offers', () => {
  test('are the sticky one alone, so that members of other topics are refused', () => {
    expect(namesOffered('co-partitioned-sticky')).toEqual(['co-partitioned-sticky:a,b']);
  });

  test('are the sticky one before round robin, for a group that is changed one by one', () => {
    expect(namesOffered('round-robin')).toEqual(['co-partitioned-sticky:a,b', 'RoundRobinAssigner']);
  });
});
