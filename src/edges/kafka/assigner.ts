import kafkajs, { type Assigner, type Cluster, type GroupMember, type PartitionAssigner } from 'kafkajs';

const { AssignerProtocol, PartitionAssigners } = kafkajs;

/** What a member says it owned, and in which generation of the group. */
export interface Claim {
  readonly generation: number;
  readonly units: readonly number[];
}

/** Decides which partition numbers each member gets; the engine's assignment has the rule. */
export type AssignUnits = (
  unitCount: number,
  members: readonly { readonly id: string; readonly claim: Claim }[],
) => ReadonlyMap<string, readonly number[]>;

const NO_CLAIM: Claim = { generation: -1, units: [] };
const PROTOCOL = 'co-partitioned-sticky';
/** Of the subscription and the assignment: version 1 would promise a field that kafkajs does not write. */
const SUBSCRIPTION_VERSION = 0;
const CLAIM_VERSION = 1;

const { MemberMetadata, MemberAssignment } = AssignerProtocol;

/** What one consumer owns, as it tells the group when it joins. One for each consumer, never reused. */
export class Ownership {
  #claim: Claim = NO_CLAIM;

  get claim(): Claim {
    return this.#claim;
  }

  /** kafkajs does not tell the generation of a join; it is at least one later than the last known. */
  joined(assignment: Readonly<Record<string, readonly number[]>>): void {
    const units = [...new Set(Object.values(assignment).flat())].sort((a, b) => a - b);
    this.#claim = { generation: this.#claim.generation + 1, units };
  }

  /** Heartbeats tell the exact generation. */
  heartbeat(generation: number): void {
    if (generation > this.#claim.generation) this.#claim = { ...this.#claim, generation };
  }
}

export interface AssignerOptions {
  readonly ownership: Ownership;
  readonly assign: AssignUnits;
  /** The topics have different numbers of partitions: records of one key may meet in different processes. */
  readonly onMismatch?: (partitions: Readonly<Record<string, number>>) => void;
  /** Gives the consumer's own connection to the cluster, which kafkajs shows here alone. */
  readonly onCluster: (cluster: Cluster) => void;
}

/** The name under which members agree; it carries the topics, so that a group never mixes members of different ones. */
export function protocolName(topics: readonly string[]): string {
  return `${PROTOCOL}:${topics.toSorted().join(',')}`;
}

/**
 * How a group agrees on who reads what.
 *
 * - `co-partitioned-sticky`: the sticky assigner alone. A member with other topics, or without it, is refused by the
 *   broker (`INCONSISTENT_GROUP_PROTOCOL`).
 * - `round-robin`: the sticky one first, then kafkajs' own as the second choice, so that a group of members that know
 *   round robin alone can be changed one by one: it takes the first protocol that all of its members know. Meanwhile, and
 *   as long as one such member is there, partitions of one number meet by chance only, and other topics are not refused.
 */
export type Assignor = 'co-partitioned-sticky' | 'round-robin';

/** The assigners that a member offers, best first. */
export function assignersOf(
  assignor: Assignor,
  topics: readonly string[],
  options: AssignerOptions,
): PartitionAssigner[] {
  const sticky = stickyAssigner(topics, options);
  return assignor === 'round-robin' ? [sticky, PartitionAssigners.roundRobin] : [sticky];
}

/** An assigner for kafkajs: partition n of all topics to the same member, and members keep what they had. */
export function stickyAssigner(topics: readonly string[], options: AssignerOptions): PartitionAssigner {
  const name = protocolName(topics);
  return ({ cluster }): Assigner => {
    options.onCluster(cluster);
    return {
      name,
      version: SUBSCRIPTION_VERSION,
      protocol: ({ topics: subscribed }) => ({
        name,
        metadata: MemberMetadata.encode({
          version: SUBSCRIPTION_VERSION,
          topics: subscribed.toSorted(),
          userData: encodeClaim(options.ownership.claim),
        }),
      }),
      assign: async ({ members, topics: subscribed }) => {
        await Promise.resolve();
        return assignAll(cluster, members, { subscribed, options });
      },
    };
  };
}

function assignAll(
  cluster: Cluster,
  members: readonly GroupMember[],
  { subscribed, options }: { readonly subscribed: readonly string[]; readonly options: AssignerOptions },
): { memberId: string; memberAssignment: Buffer }[] {
  const partitions = new Map(
    subscribed.map((topic) => [topic, new Set(cluster.findTopicPartitionMetadata(topic).map((p) => p.partitionId))]),
  );
  const counts = [...partitions.values()].map(({ size }) => size);
  if (new Set(counts).size > 1)
    options.onMismatch?.(Object.fromEntries([...partitions].map(([topic, { size }]) => [topic, size])));
  const units = options.assign(Math.max(0, ...counts), members.map(toClaimant));
  return members.map(({ memberId }) => {
    const own = units.get(memberId) ?? [];
    const assignment = Object.fromEntries(
      [...partitions].map(([topic, known]) => [topic, own.filter((unit) => known.has(unit))]),
    );
    return {
      memberId,
      memberAssignment: MemberAssignment.encode({
        version: SUBSCRIPTION_VERSION,
        assignment,
        userData: Buffer.alloc(0),
      }),
    };
  });
}

export function encodeClaim({ generation, units }: Claim): Buffer {
  return Buffer.from(JSON.stringify({ v: CLAIM_VERSION, g: generation, u: units }));
}

/** Foreign or damaged data means that the member owned nothing. */
export function decodeClaim(raw: Buffer | null | undefined): Claim {
  try {
    const said: unknown = JSON.parse(String(raw));
    if (typeof said !== 'object' || said === null) return NO_CLAIM;
    const { v, g, u } = said as Readonly<Record<'v' | 'g' | 'u', unknown>>;
    if (v !== CLAIM_VERSION || !Number.isInteger(g) || !Array.isArray(u)) return NO_CLAIM;
    return { generation: g as number, units: u.filter((unit): unit is number => Number.isInteger(unit)) };
  } catch {
    return NO_CLAIM;
  }
}

function toClaimant({ memberId, memberMetadata }: GroupMember): { id: string; claim: Claim } {
  try {
    return { id: memberId, claim: decodeClaim(MemberMetadata.decode(memberMetadata)?.userData) };
  } catch {
    return { id: memberId, claim: NO_CLAIM };
  }
}
